"""What became of mail: every letter that a server took is looked for, and each kind of fault is seen."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from plimsoll.analysis.point.verification import letters_astray
from plimsoll.apps.mail.accounting import accounted, marks_on_disk
from plimsoll.engine.mail import native_mail
from plimsoll.errors import InputError

RUN = "r1"


def letter(number: int, body: str = "QUJD\nREVG\n", run: str = RUN) -> str:
    mark = f"{native_mail().mark}: {run} {number} 0 {native_mail().hash(body.encode())}"
    return f"From: u0@d\nSubject: tide\n{mark}\n\n{body}"


@pytest.fixture
def mailboxes(tmp_path: Path) -> Path:
    for user in range(3):
        for folder in ("", ".Sent", ".Trash", ".Folder0"):
            for part in ("cur", "new"):
                (tmp_path / "mailboxes" / f"u{user}" / folder / part).mkdir(parents=True)
    return tmp_path / "mailboxes"


def account(mailboxes: Path, ledger: str, since_ns: int = 0, again: dict[int, int] | None = None) -> dict[str, Any]:
    path = mailboxes.parent / "ledger"
    path.write_text(ledger)
    found = accounted(str(path), marks_on_disk(str(mailboxes), RUN, since_ns), again).to_json()
    return {name: value for name, value in found.items() if value}


def test_letters_are_found_wherever_their_readers_have_put_them(mailboxes: Path) -> None:
    (mailboxes / "u1/new/a").write_text(letter(7))
    (mailboxes / "u2/.Trash/cur/b:2,S").write_text(letter(7))
    (mailboxes / "u1/.Folder0/cur/c:2,S").write_bytes(letter(8).replace("\n", "\r\n").encode())
    assert account(mailboxes, "T 7 0 1,2\nT 8 0 1\n") == {"taken": 3, "found": 3}


def test_copies_of_senders_and_letters_of_other_runs_are_no_deliveries(mailboxes: Path) -> None:
    (mailboxes / "u0/.Sent/cur/a").write_text(letter(7))
    (mailboxes / "u1/new/b").write_text(letter(7))
    (mailboxes / "u1/new/c").write_text(letter(7, run="r0"))
    (mailboxes / "u1/new/d").write_text("From: somebody\n\nhello\n")
    assert account(mailboxes, "T 7 0 1\n") == {"taken": 1, "found": 1}


def test_what_was_there_before_is_not_looked_at(mailboxes: Path) -> None:
    (mailboxes / "u1/new/a").write_text(letter(7))
    assert account(mailboxes, "", time.time_ns() + 3_600_000_000_000) == {}


def test_each_fault_is_seen_and_named(mailboxes: Path) -> None:
    (mailboxes / "u1/new/a").write_text(letter(8))
    (mailboxes / "u1/new/b").write_text(letter(8))
    (mailboxes / "u2/new/c").write_text(letter(9).replace("QUJD", "QUJE"))
    (mailboxes / "u0/new/d").write_text(letter(9))
    found = account(mailboxes, "T 7 0 1\nT 8 0 1\nT 9 0 2\n")
    assert {kind: found[kind] for kind in ("lost", "doubled", "damaged", "misdelivered")} == {
        "lost": 1,
        "doubled": 1,
        "damaged": 1,
        "misdelivered": 1,
    }
    assert "letter 7 to user 1 was accepted and is not in the mailbox" in found["examples"]
    assert "letter 9 in the mailbox of user 2 is not what was sent" in found["examples"]


def test_a_letter_whose_answer_never_came_may_be_there_or_not(mailboxes: Path) -> None:
    (mailboxes / "u1/new/a").write_text(letter(7))
    assert account(mailboxes, "U 7 0 1,2\n") == {"found": 1, "uncertain": 2}


def test_a_letter_that_lay_in_the_queue_at_a_kill_may_come_once_more_and_never_be_missing(mailboxes: Path) -> None:
    for name in ("a", "b", "c"):
        (mailboxes / "u1/new" / name).write_text(letter(7))
    assert account(mailboxes, "T 7 0 1\n", again={7: 2}) == {"taken": 1, "found": 3, "repeated": 2}
    found = account(mailboxes, "T 7 0 1,2\n", again={7: 1})
    assert (found["repeated"], found["doubled"], found["lost"]) == (1, 1, 1), "one kill explains one copy, and none explains a loss"
    assert account(mailboxes, "T 7 0 1\n", again={8: 9})["doubled"] == 1, "another letter's kill explains nothing"


def test_a_move_that_was_cut_off_explains_one_copy_of_one_user(mailboxes: Path) -> None:
    for user in (1, 2):
        (mailboxes / f"u{user}/new/a").write_text(letter(7))
        (mailboxes / f"u{user}/.Trash/cur/b").write_text(letter(7))
    found = account(mailboxes, "T 7 0 1,2\nM 1\n")
    assert (found["copied"], found["doubled"]) == (1, 1)
    assert "letter 7 is 2 times in the mailbox of user 2" in found["examples"]


def test_a_letter_without_an_answer_is_not_there_twice_either(mailboxes: Path) -> None:
    (mailboxes / "u1/new/a").write_text(letter(7))
    (mailboxes / "u1/new/b").write_text(letter(7))
    assert account(mailboxes, "U 7 0 1\n")["doubled"] == 1


def test_mail_that_is_lost_fails_the_point_in_a_sentence() -> None:
    lost = {"taken": 40, "lost": 1, "examples": ["letter 7 to user 1 was accepted and is not in the mailbox"]}
    assert letters_astray({"mail": {"account": lost}}) == (
        "mail is not where it belongs: 1 lost of 40 deliveries; letter 7 to user 1 was accepted and is not in the mailbox."
    )
    assert letters_astray({"mail": {"account": {"taken": 40, "lost": 0, "examples": []}}}) is None
    assert letters_astray({}) is None


def test_options_of_users_are_refused_in_a_sentence() -> None:
    def check(**stream: Any) -> str:
        with pytest.raises(InputError) as refused:
            native_mail().check({"driver": "mail", "stream": [{"tasks": {"read": 1}, **stream}]}, "office.toml")
        return str(refused.value)

    assert "did you mean 'reply-all'" in check(tasks={"reply-al": 1})
    assert "above 0" in check(tasks={"read": 0})
    assert "set folders" in check(tasks={"move": 1}, folders=0)
    assert "did you mean 'users'" in check(user=3)


def test_what_a_lost_host_sent_is_no_fault_and_what_its_ledger_says_is_still_looked_for(mailboxes: Path) -> None:
    second = (1 << 40) + 3
    (mailboxes / "u1/new/a").write_text(letter(7))
    (mailboxes / "u2/new/b").write_text(letter(second))
    path = mailboxes.parent / "ledger"
    path.write_text(f"T 7 0 1\nT {second + 2} 0 2\n")
    marks = [*marks_on_disk(str(mailboxes), RUN, 0)]
    assert sorted(mark.host(2) for mark in marks) == [0, 1], "threads are numbered in turn"
    found = accounted(str(path), marks, unsure=lambda mark: mark.host(2) == 1)
    assert (found.taken, found.found, found.lost, found.misdelivered) == (2, 1, 1, 0)
    sure = accounted(str(path), marks, unsure=lambda mark: mark.host(2) == 0)
    assert sure.misdelivered == 1, "letters of a host that was not lost are in its ledger"
