"""Servers that are killed while they commit: what they acknowledged is there, and one that acknowledges too early is found out."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from plimsoll.analysis.point.durability import broken
from plimsoll.apps.course import Course, Timing
from plimsoll.apps.databases.database import Settings
from plimsoll.apps.databases.duckdb import DuckDb
from plimsoll.apps.databases.postgresql import PostgreSqlSession, private
from plimsoll.apps.decision import dataset
from plimsoll.apps.decision.dataset import Hearing
from plimsoll.apps.durability.holder import Holder, ProcessHolder, ServerHolder
from plimsoll.apps.durability.trial import Plan, Trial
from plimsoll.cli import main
from plimsoll.decision import data
from plimsoll.engine.block import native
from plimsoll.engine.files import native_files
from plimsoll.monitor.processes import process
from support.early_keeper import acknowledging_early
from support.patience import wait_until
from support.private_server import is_alive

pytestmark = pytest.mark.usefixtures("held")
SCALE = 0.01
PATIENT = Timing(warmup_ns=0, duration_ns=600_000_000_000, interval_ns=60_000_000_000)


#: A run whose database is held, until it is killed.
_HOLDING = """
import sys, time
from plimsoll.apps.databases.database import Settings
from plimsoll.apps.databases.duckdb import DuckDb
from plimsoll.apps.durability.holder import ProcessHolder
holder = ProcessHolder(lambda: DuckDb(sys.argv[1], Settings()), sys.argv[1], float(sys.argv[2]))
holder.begin()
print(holder._child.pid, flush=True)
time.sleep(600)
"""


@pytest.fixture(scope="module", autouse=True)
def drawn() -> Iterator[None]:
    """What rows are drawn from is made once."""
    with data.kept():
        yield


def tried(holder: Holder, kills: int) -> dict[str, Any]:
    load = Trial(Plan(kills, 0.2, SCALE, 1), holder)
    try:
        ended = Course(PATIENT, lambda _kind, _event: None, native().control(), tells_silence=False).run(load)
    finally:
        holder.end()
    assert ended.first_error is None
    return load.section()


@pytest.fixture
def on_server(place: Path, postgresql: None) -> Callable[..., ServerHolder]:
    """A private server with data in it, with settings of its own."""

    def made(options: dict[str, str] | None = None) -> ServerHolder:
        home = native_files().own(str(place / "pg"), None, "postgresql")
        database = private(home, str(place / "pg"), Settings(options={"shared_buffers": "32MB", **(options or {})}))
        database.open()
        _load(database)
        return ServerHolder(database, SCALE)

    return made


def _load(database: Any) -> None:
    dataset.write(database, dataset.load(database, SCALE, Hearing(lambda _done, _total: None, native().control())))
    database.close()


def test_a_server_keeps_what_it_acknowledged_and_one_that_acknowledges_early_is_found_out(on_server: Callable[..., ServerHolder]) -> None:
    holder = on_server()
    section = tried(holder, kills=1)
    assert section["acknowledged"] > 0
    assert broken({"durability": section}) is None
    assert section["settings"]["fsync"] == "on"
    assert section["rounds"][0]["recovery_s"] > 0
    begin, commit = acknowledging_early(PostgreSqlSession.begin)
    with pytest.MonkeyPatch.context() as planted:
        planted.setattr(PostgreSqlSession, "begin", begin)
        planted.setattr(PostgreSqlSession, "commit", commit)
        section = tried(holder, kills=1)
    assert len(section["rounds"][0]["lost"]) == section["acknowledged"] > 0


@pytest.fixture
def home(place: Path) -> str:
    pytest.importorskip("duckdb", reason="skipped: DuckDB is not installed")
    made = native_files().own(str(place / "db"), None, "duckdb")
    database = DuckDb(made, Settings())
    database.open()
    _load(database)
    return made


def test_the_process_that_holds_the_database_ends_with_a_run_that_is_killed(home: str) -> None:
    with subprocess.Popen([sys.executable, "-c", _HOLDING, home, repr(SCALE)], stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        keeper = int(run.stdout.readline())
        assert process(keeper) is not None
        run.kill()
    wait_until(lambda: not is_alive(keeper), "no process has the database open")


def test_duckdb_keeps_what_it_acknowledged_and_one_that_acknowledges_early_is_found_out(home: str, monkeypatch: pytest.MonkeyPatch) -> None:
    section = tried(ProcessHolder(lambda: DuckDb(home, Settings()), home, SCALE), kills=1)
    assert section["acknowledged"] > 0
    assert broken({"durability": section}) is None
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(path for path in sys.path if path))
    section = tried(ProcessHolder(lambda: DuckDb(home, Settings()), home, SCALE, keeper="support.early_keeper"), kills=1)
    assert len(section["rounds"][0]["lost"]) == section["acknowledged"] > 0


def test_the_suite_says_how_many_commits_were_kept_and_leaves_nothing(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("duckdb", reason="skipped: DuckDB is not installed")
    monkeypatch.chdir(place)
    assert main(["suite", "database-durability", "--quick", "-t", "duckdb:db", "--set", "kills=1", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    (point,) = document["durability"]
    assert point["kept"] is True
    assert f"kept all {point['acknowledged']} commits that it had acknowledged over 1 kill" in document["answer"]
    assert document["results"][0]["totals"]["rf1"]["errors"] == 0
    assert not (place / "db").exists()


def test_a_server_of_the_users_is_not_killed(place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(place)
    assert main(["suite", "database-durability", "-t", "postgresql://me@db1/test"]) == 2
    assert "a server of yours is not killed; write duckdb:DIR or postgresql:new:DIR" in capsys.readouterr().err
