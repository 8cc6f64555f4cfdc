"""Servers that are killed while users work: which, how often, what lay in the queue, and what is said of it in the end."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from plimsoll.analysis.point.observation import Observation
from plimsoll.analysis.point.verification import verified
from plimsoll.analysis.validity import Evidence, flags_of
from plimsoll.apps.mail.kills import Killing, queued_letters
from plimsoll.apps.mail.queue import deliveries, put_off
from plimsoll.engine.mail import native_mail
from plimsoll.errors import PlimsollError, TargetError
from plimsoll.points.outcome import Outcome
from plimsoll.reports.answer import answer
from support.made_results import Load, made
from support.patience import HANGS_S

RUN = "18c9"
SENT = (
    "Nov 23 14:11:2{second} host postfix/lmtp[7]: 4F{number}: to=<u1@d>, relay=host[/lmtp], delay={delay}, delays=0.1/0.2/0.3/0.4, "
    "dsn=2.0.0, status={status} (250 2.0.0 <u1@d> Saved)\n"
)


class Scripted:
    """Servers that note what becomes of them; after so many kills they tell."""

    def __init__(self, queue: Path, names: list[str], enough: int) -> None:
        self.queue, self.names, self._enough = str(queue), names, enough
        self.done: list[str] = []
        self.killed_enough = threading.Event()

    def kill(self, name: str) -> None:
        self.done.append(f"kill {name}")

    def revive(self, name: str) -> None:
        self.done.append(f"revive {name}")
        if len(self.done) == 2 * self._enough:
            self.killed_enough.set()


def queued(queue: Path, number: int, run: str = RUN) -> None:
    (queue / "active").mkdir(parents=True, exist_ok=True)
    (queue / "active" / f"4F{number}").write_bytes(b"\0C N\x0eX\n" + f"{native_mail().mark}: {run} {number} 3 00ff\n".encode())


def killed(server: Scripted, which: str) -> Killing:
    killing = Killing(server, which, 0.001, RUN)
    killing.begin()
    assert server.killed_enough.wait(HANGS_S)
    killing.end()
    return killing


def test_both_servers_are_killed_in_turn_and_each_is_started_again_at_once(tmp_path: Path) -> None:
    server = Scripted(tmp_path, ["dovecot", "postfix"], 3)
    found = killed(server, "both")
    assert server.done[:6] == ["kill dovecot", "revive dovecot", "kill postfix", "revive postfix", "kill dovecot", "revive dovecot"]
    assert [kill["server"] for kill in found.kills[:3]] == ["dovecot", "postfix", "dovecot"]
    assert len(server.done) == 2 * len(found.kills), "no server is left dead"


def test_where_there_is_no_postfix_dovecot_is_killed_in_its_place(tmp_path: Path) -> None:
    server = Scripted(tmp_path, ["dovecot"], 2)
    killed(server, "postfix")
    assert set(server.done) == {"kill dovecot", "revive dovecot"}


def test_what_lies_in_the_queue_at_a_kill_is_noted_for_each_kill(tmp_path: Path) -> None:
    queued(tmp_path, 17)
    queued(tmp_path, 18, run="another")
    assert queued_letters(str(tmp_path), RUN) == {17}
    found = killed(Scripted(tmp_path, ["postfix"], 2), "postfix")
    assert found.again == {17: len(found.kills)} and all(kill["queued"] == 1 for kill in found.kills)


def test_a_server_that_does_not_come_back_ends_the_run_with_its_sentence(tmp_path: Path) -> None:
    class Gone(Scripted):
        def revive(self, name: str) -> None:
            self.killed_enough.set()
            raise TargetError("/mnt/array/mail: Dovecot did not start: no space left on device.")

    server = Gone(tmp_path, ["dovecot"], 1)
    killing = Killing(server, "dovecot", 0.001, RUN)
    killing.begin()
    assert server.killed_enough.wait(HANGS_S)
    with pytest.raises(PlimsollError, match="did not start: no space left"):
        killing.end()


def test_postfix_says_how_long_letters_were_on_their_way(tmp_path: Path) -> None:
    log = tmp_path / "maillog"
    before = SENT.format(second=0, number=0, delay="99", status="sent")
    lines = [SENT.format(second=1, number=number, delay=f"0.{number:02}", status="sent") for number in range(1, 21)]
    log.write_text(before + "".join(lines) + SENT.format(second=2, number=21, delay="7", status="deferred"))
    found = deliveries(str(log), len(before)).to_json(10.0)
    assert found["count"] == 20 and found["per_s"] == 2.0 and (found["deferred"], found["bounced"]) == (1, 0)
    assert found["delay_ms"]["max"] == pytest.approx(200) and found["delay_ms"]["p95"] == pytest.approx(200)
    assert found["delay_ms"]["mean"] == pytest.approx(105)
    assert found["mean_ms"] == pytest.approx({"taking": 100, "queued": 200, "connecting": 300, "storing": 400})
    assert deliveries(str(tmp_path / "none")).to_json(1.0)["count"] == 0
    assert put_off(str(log)) == "250 2.0.0 <u1@d> Saved" and put_off(str(tmp_path / "none")) is None


def durable(kills: list[str], **account: Any) -> Any:
    engine = {"mail": {"kills": [{"server": name} for name in kills], "account": {"taken": 40, **account}}}
    return replace(made(Load(10.0, 1e6)), engine=engine)


def test_tasks_that_a_kill_cut_off_are_told_and_fail_no_run() -> None:
    result = durable(["dovecot", "dovecot"])
    totals = {"read": replace(result.totals["read"], errors=9)}
    result = replace(result, totals=totals, errors={"read": {"ECONNREFUSED": 9}})
    assert Outcome(results=[result]).exit_code == 0
    assert Outcome(results=[replace(result, engine={})]).exit_code == 4
    (flag,) = [flag for flag in flags_of(Evidence(result, Observation())) if flag.name == "io_errors"]
    assert flag.severity == "note" and "while servers were killed 2 times on purpose" in flag.message
    lost = replace(result, engine=durable(["dovecot"], lost=1).engine)
    assert verified(lost).status == "failed"


def test_the_answer_says_whether_mail_was_kept() -> None:
    said = answer([durable(["dovecot", "postfix", "dovecot"], repeated=3), durable(["postfix"], copied=1)]).sentence
    assert said == (
        "All 80 deliveries that were accepted on /dev/sdb are there and whole after 2 kills of Dovecot and 2 kills of Postfix "
        "(3 delivered once more, 1 in two folders because a move was cut off)."
    )
    said = answer(
        [durable(["dovecot"]), durable(["dovecot"], lost=2, examples=["letter 7 to user 1 was accepted and is nowhere"])]
    ).sentence
    assert said.startswith("Mail was not kept on /dev/sdb after 2 kills of Dovecot: mail is not where it belongs: 2 lost of 40 deliveries")
