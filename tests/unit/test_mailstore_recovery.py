"""Recoveries of mail stores on files: what was acknowledged is found again, what is missing is named and fails the run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from plimsoll.analysis.point.recovery import broken_word, said
from support.said import Plimsoll, in_this_process

STORE = """
driver = "mailstore"
generation = "2003"
threads = 4
cache_size = "2MiB"
checkpoint_depth = "1MiB"
log_file_size = "256KiB"
mailboxes = 100
lazy_commit_percent = 50
direct = false
write_through = false
acknowledged = "commits"
"""
#: Where the ring of the log begins: behind the room for the checkpoint, at the start of the target.
RING = 65_536


@pytest.fixture
def plimsoll(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Plimsoll:
    """Commands on the real engine, in a folder with a store that has run until some commits were acknowledged."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "store.toml").write_text(STORE)
    with (tmp_path / "store").open("wb") as file:
        file.truncate(48 << 20)
    plimsoll = in_this_process(capsys)
    for _ in range(50):
        ran = plimsoll("run", "store.toml", "-t", "store", "--destroy-data", "-d", "300ms", "-w", "0", "--out", "before")
        assert ran.code == 0, ran.err
        if int.from_bytes((tmp_path / "commits").read_bytes()[32:40], "little") > 0:
            return plimsoll
    raise AssertionError("no commit was acknowledged in fifty runs")


def recover(plimsoll: Plimsoll, *more: str) -> Any:
    return plimsoll("run", "store.toml", "-t", "store", "--destroy-data", "--set", "test=recovery", "--json", *more)


def test_a_recovery_finds_what_was_acknowledged_and_a_second_one_has_nothing_to_do(plimsoll: Plimsoll) -> None:
    ran = recover(plimsoll)
    assert ran.code == 0, ran.out
    (found,) = ran.json["stores"][0]["recovered"]
    assert found["commits_found"] >= found["commits_acknowledged"] > 0
    assert found["commits_lost"] == found["pages_lost"] == found["pages_ahead"] == found["pages_damaged"] == found["gaps"] == 0
    assert "acknowledged commits are there" in ran.json["answer"] and "not Jetstress" in ran.json["answer"]
    (again,) = recover(plimsoll).json["stores"][0]["recovered"]
    assert again["pages_redone"] == again["records"] == 0 and again["commits_found"] == found["commits_found"]


def test_a_log_that_is_gone_is_named_and_fails_the_run(plimsoll: Plimsoll, tmp_path: Path) -> None:
    with (tmp_path / "store").open("r+b") as file:
        file.seek(RING)
        file.write(bytes(4 << 20))
    ran = recover(plimsoll)
    assert ran.code == 6
    (found,) = ran.json["stores"][0]["recovered"]
    assert found["commits_lost"] == found["commits_acknowledged"] > 0
    assert "acknowledged commits lost" in ran.json["results"][0]["error"]
    assert any(flag["name"] == "wrong_data" for flag in ran.json["results"][0]["flags"])


def test_a_target_without_a_store_is_told(plimsoll: Plimsoll, tmp_path: Path) -> None:
    with (tmp_path / "store").open("r+b") as file:
        file.write(bytes(RING))
    ran = recover(plimsoll)
    assert ran.code == 4
    assert "no mail store was run here, or its checkpoint is gone" in ran.json["results"][0]["error"]


@pytest.mark.parametrize("setting", ["test=recovery", "acknowledged=commits"])
def test_a_target_that_keeps_no_data_is_refused(plimsoll: Plimsoll, setting: str) -> None:
    ran = plimsoll("run", "mailstore-2003", "-t", "queue:?servers=4&service=const:1ms&size=1GiB", "--set", setting, "-d", "1s")
    assert ran.code != 0
    assert "needs a target that keeps data; give a device or a file" in ran.err + ran.text


def test_a_file_that_says_something_else_is_left_alone(plimsoll: Plimsoll, tmp_path: Path) -> None:
    (tmp_path / "letter").write_text("Dear Sir or Madam")
    ran = plimsoll("run", "store.toml", "-t", "store", "--destroy-data", "-d", "100ms", "-w", "0", "--set", "acknowledged=letter")
    assert ran.code != 0
    assert "is there already and is something else; name another file" in ran.err + ran.text
    assert (tmp_path / "letter").read_text() == "Dear Sir or Madam"


FOUND: dict[str, Any] = {
    "commits_acknowledged": 1234,
    "commits_found": 1230,
    "commits_lost": 4,
    "pages_lost": 2,
    "pages_ahead": 0,
    "pages_damaged": 0,
    "gaps": 0,
    "example": "page 7 at byte 28672 has change 1 where 3 was saved",
    "seconds": 2.5,
    "log_files": 3.25,
    "records": 4321,
    "pages_redone": 10,
    "pages_read": 100,
}


def test_what_is_missing_is_one_sentence() -> None:
    engine: Any = {"mailstore": {"databases": [{"database": "database-1", "recovery": FOUND}]}}
    assert broken_word(engine) == (
        "what the mail store had saved is not there: database-1 has 4 of 1,234 acknowledged commits lost, "
        "2 pages older than what was saved of them (page 7 at byte 28672 has change 1 where 3 was saved)."
    )
    well = {**FOUND, "commits_lost": 0, "pages_lost": 0, "example": None}
    assert broken_word({"mailstore": {"databases": [{"database": "database-1", "recovery": well}]}}) is None
    assert said("database-1", well).endswith("All 1,234 acknowledged commits are there.")
    assert said("database-1", {**well, "commits_acknowledged": None}).endswith("how many were acknowledged nobody remembers.")
