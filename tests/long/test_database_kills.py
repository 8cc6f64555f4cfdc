"""Ten kills of PostgreSQL and of DuckDB while they commit, and servers whose settings let commits be lost."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from plimsoll.analysis.point.durability import broken
from plimsoll.apps.course import Course, Timing
from plimsoll.apps.databases.database import Settings
from plimsoll.apps.databases.postgresql import private
from plimsoll.apps.decision import dataset
from plimsoll.apps.decision.dataset import Hearing
from plimsoll.apps.durability.holder import ServerHolder
from plimsoll.apps.durability.trial import Plan, Trial
from plimsoll.cli import main
from plimsoll.decision import data
from plimsoll.engine.block import native
from plimsoll.engine.claims import holding
from plimsoll.engine.files import native_files
from support.private_server import missing_server, reached_directory

SCALE = 0.01
KILLS = 3
PATIENT = Timing(warmup_ns=0, duration_ns=600_000_000_000, interval_ns=60_000_000_000)


@pytest.fixture
def place() -> Iterator[Path]:
    """An empty directory that the server's user reaches."""
    with reached_directory() as made:
        yield made


@pytest.mark.parametrize("target", ["duckdb:db", "postgresql:new:db"])
def test_nothing_acknowledged_is_lost_over_ten_kills(
    target: str, place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if target.startswith("postgresql") and (reason := missing_server()):
        pytest.skip(reason)
    monkeypatch.chdir(place)
    assert main(["suite", "database-durability", "-t", target, "--json"]) == 0
    (point,) = json.loads(capsys.readouterr().out)["durability"]
    assert point["kept"] is True
    assert len(point["kills"]) == 10
    # At least one of ten moments meets a refresh that is under way.
    assert any(one["under_way"] for one in point["kills"])
    assert not (place / "db").exists()


def tried(place: Path, options: dict[str, str]) -> dict[str, Any]:
    """The section of a trial on a server with settings of its own."""
    home = native_files().own(str(place / "pg"), None, "postgresql")
    database = private(home, str(place / "pg"), Settings(options={"shared_buffers": "32MB", **options}))
    database.open()
    dataset.write(database, dataset.load(database, SCALE, Hearing(lambda _done, _total: None, native().control())))
    holder = ServerHolder(database, SCALE)
    load = Trial(Plan(KILLS, 0.2, SCALE, 1), holder)
    try:
        Course(PATIENT, lambda _kind, _event: None, native().control(), tells_silence=False).run(load)
    finally:
        holder.end()
    return load.section()


@pytest.mark.skipif(missing_server() is not None, reason=f"skipped: {missing_server()}")
@pytest.mark.parametrize(
    ("options", "is_lost", "said"),
    [
        # What is acknowledged lies in memory of the server; nothing writes it for ten seconds.
        ({"synchronous_commit": "off", "wal_writer_delay": "10s"}, True, "synchronous_commit is off"),
        # The kernel lives on and has it all: only the setting tells.
        ({"fsync": "off"}, False, "fsync is off, so a commit is acknowledged before the storage has it"),
    ],
)
def test_a_server_that_acknowledges_before_the_storage_has_it_is_found_out(
    place: Path, options: dict[str, str], is_lost: bool, said: str
) -> None:
    with holding(), data.kept():
        section = tried(place, options)
    # One kill may come just after the ten seconds.
    assert any(one["lost"] for one in section["rounds"]) is is_lost
    assert said in (broken({"durability": section}) or "")
