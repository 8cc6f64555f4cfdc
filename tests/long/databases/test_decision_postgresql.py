"""Decision support on PostgreSQL at a hundredth of scale 1, through the command: a private server, and one of the user's."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from plimsoll.apps.databases import postgresql_processes
from plimsoll.apps.databases.address import parse
from plimsoll.apps.databases.database import Settings
from plimsoll.apps.databases.own_schemas import LeftSchemas, remove
from plimsoll.apps.databases.postgresql import private
from plimsoll.apps.databases.postgresql_processes import first_process
from plimsoll.apps.databases.schema import KEPT, MARKER
from plimsoll.apps.databases.server import PrivateServer, running
from plimsoll.cli import main
from plimsoll.engine.claims import holding
from plimsoll.engine.files import native_files
from plimsoll.monitor.sampler import Sampler
from plimsoll.passwords import withheld
from plimsoll.target import Target
from support.observed_queries import check_observed
from support.private_server import missing_server, private_server, server_url

pytestmark = pytest.mark.usefixtures("postgresql", "held")
CANARY = "canary-7b1f"
SMALL = ("--scale", "0.01", "--queries", "1,6", "--json")


@pytest.fixture(autouse=True)
def here(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)


@pytest.fixture(scope="module")
def their_server() -> Iterator[PrivateServer]:
    """A server of the user's, which asks for passwords."""
    if reason := missing_server():
        pytest.skip(reason)
    place = Path(tempfile.mkdtemp(prefix="plimsoll-test-", dir="/tmp"))
    place.chmod(0o755)
    with holding():
        server = private_server(place / "theirs")
        server.start()
        with psycopg.connect(**server.connection, autocommit=True) as connection:
            connection.execute(f"CREATE ROLE me LOGIN PASSWORD '{CANARY}'")
            connection.execute("CREATE ROLE other LOGIN")
            hba = Path(server.data) / "pg_hba.conf"
            hba.write_text("local all me scram-sha-256\n" + hba.read_text())
            connection.execute("SELECT pg_reload_conf()")
        yield server
        server.stop(discarding=True)
    shutil.rmtree(place, ignore_errors=True)


@pytest.fixture
def theirs(their_server: PrivateServer) -> Iterator[str]:
    """The URL of a database of the user's."""
    with psycopg.connect(**their_server.connection, autocommit=True) as connection:
        connection.execute("CREATE DATABASE shop OWNER me")
        yield server_url(their_server.connection, "me", "shop", CANARY)
        connection.execute("DROP DATABASE shop WITH (FORCE)")


def carried_out(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, Any], str]:
    """Exit code, the document on stdout, what was said on stderr."""
    code = main(list(words))
    said = capsys.readouterr()
    return code, json.loads(said.out) if said.out.startswith("{") else {}, said.err


def schema_comment(url: str) -> str | None:
    """The comment on our schema, which has one; None where there is no schema."""
    with psycopg.connect(url) as connection:
        found = connection.execute("SELECT obj_description(oid, 'pg_namespace') FROM pg_namespace WHERE nspname = 'plimsoll'").fetchone()
    return None if found is None else str(found[0])


def make_schema(url: str, comment: str, table: str = "region") -> None:
    with psycopg.connect(url) as connection:
        connection.execute("CREATE SCHEMA plimsoll")
        connection.execute(f"CREATE TABLE plimsoll.{table} (number int)")
        connection.execute(f"COMMENT ON SCHEMA plimsoll IS '{comment}'")


def test_a_private_server_starts_cold_answers_22_queries_rightly_and_leaves_nothing(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("--scale", "0.01", "--set", "test=both", "--cache", "cold", "--json")
    code, document, said = carried_out(capsys, "run", "decision-support", "-t", f"postgresql:new:{place}/pg", *words)
    assert code == 0, said
    decision = document["results"][0]["engine"]["decision"]
    assert decision["metrics"]["composite"] > 0
    assert all(phase["flushes"] > 0 and phase["flush_mean_ms"] > 0 and phase["log_bytes"] > 0 for phase in decision["phases"])
    queries = decision["queries"]
    assert len(queries) == 66
    check_observed(decision["phases"], queries)
    assert all(one["validated"] is True for one in queries)
    alone = [one for one in queries if one["phase"] == "power"]
    # Q14, the first, reads the largest table, which a server that has just been started has not got.
    assert alone[0]["engine_read_bytes"] > 5_000_000
    assert all(one["engine_read_bytes"] is not None and one["spill_bytes"] is not None for one in alone)
    assert all(one["engine_read_bytes"] is None for one in queries if one["phase"] == "throughput")
    assert not (place / "pg").exists()


def test_a_statement_has_what_it_spilled_itself_and_what_it_read_when_it_ran_alone(place: Path) -> None:
    home = native_files().own(str(place / "pg"), None, "postgresql")
    database = private(home, str(place / "pg"), Settings(memory_bytes=32 << 20, options={"work_mem": "64kB"}))
    database.open()
    with database.session() as one, database.session() as other:
        one.run(["CREATE TABLE wide AS SELECT n, repeat('x', 100) AS text FROM generate_series(1, 20000) n"])
        one.run(["VACUUM wide"])
        database.restart()
    sorting = "SELECT count(*) FROM (SELECT n FROM generate_series(1, 100000) n ORDER BY n DESC OFFSET 1) x"
    with database.session() as one, database.session() as other:
        database.counters()
        assert one.run(["SELECT count(*) FROM wide"]) == [(20000,)]
        # 20,000 rows of some 130 bytes.
        assert 2_000_000 < (one.moved().read_bytes or 0) < 4_000_000
        assert one.moved().spill_bytes == 0
        one.run([sorting])
        assert (one.moved().spill_bytes or 0) > 500_000
        database.counters()
        other.run(["SELECT 1"])
        one.run(["SELECT count(*) FROM wide"])
        assert one.moved().read_bytes is None, "the other session ran since the last reading"
        assert other.moved().spill_bytes == 0
    database.close()


def test_streams_on_a_server_of_the_users_are_levels_and_no_password_is_stored(
    theirs: str, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, document, said = carried_out(capsys, "run", "decision-support", "--over", "streams=1..2", "-t", theirs, *SMALL)
    assert code == 0, said
    assert [result["totals"]["q6"]["count"] for result in document["results"]] == [1, 2]
    found = document["results"][0]["engine"]["decision"]
    assert found["memory_bytes"] is None, "its memory is its own"
    assert CANARY not in json.dumps(document) + said
    assert schema_comment(theirs) is None, "what was made for the run is gone"
    stored = [path for path in (place / "results").rglob("*") if path.is_file()]
    assert stored
    assert not [path for path in stored if CANARY.encode() in path.read_bytes()]


def test_a_server_of_the_users_on_this_host_works_for_the_load(
    theirs: str, their_server: PrivateServer, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[list[int]] = []
    include = Sampler.include
    monkeypatch.setattr(Sampler, "include", lambda self, pids: (told.append(list(pids)), include(self, pids))[1])
    code, document, said = carried_out(capsys, "run", "decision-support", "-t", theirs, *SMALL)
    assert code == 0, said
    assert [pids[0] for pids in told] == [their_server.pid], "its time is not that of other programs"
    (phase,) = document["results"][0]["engine"]["decision"]["phases"]
    assert phase["engine_cpu_s"] > 0
    assert "waits" in phase


def test_processes_of_a_server_are_found_by_the_one_that_serves_us(their_server: PrivateServer, monkeypatch: pytest.MonkeyPatch) -> None:
    with psycopg.connect(**their_server.connection, autocommit=True) as connection:
        assert first_process(connection) == their_server.pid
        monkeypatch.setattr(postgresql_processes, "_WHO", "SELECT pg_backend_pid(), extract(epoch FROM now())::float8 - 3600")
        assert first_process(connection) is None, "another process that has the same number on another host"
        monkeypatch.setattr(postgresql_processes, "_WHO", f"SELECT {os.getpid()}, extract(epoch FROM now())::float8")
        assert first_process(connection) is None, "no process of PostgreSQL"


def test_all_processes_of_a_private_server_are_known(place: Path) -> None:
    database = private(native_files().own(str(place / "pg"), None, "postgresql"), str(place / "pg"), Settings())
    database.open()
    with database.session() as session:
        found = database.processes()
        server = running(os.path.join(str(place / "pg"), "postgresql", "data"))
        assert found[0] == server
        assert session.process in found
    database.close()


@pytest.mark.parametrize(
    ("user", "words", "code", "expected"),
    [
        ("me", ("--memory", "2GiB"), 2, "a server of yours keeps the memory that it has (shared_buffers); leave --memory away"),
        ("me", ("--cache", "cold"), 2, "a server of yours is not restarted; say --cache warm, or measure on postgresql:new:DIR"),
        ("other", (), 4, "user 'other' may not make a schema here; allow it (GRANT CREATE ON DATABASE shop TO other)"),
    ],
)
def test_what_a_server_of_the_users_does_not_do_is_said_before_anything_is_written(
    theirs: str, capsys: pytest.CaptureFixture[str], user: str, words: tuple[str, ...], code: int, expected: str
) -> None:
    url = theirs if user == "me" else theirs.replace(f"me:{CANARY}", "other")
    ended, document, said = carried_out(capsys, "run", "decision-support", "-t", url, *SMALL, *words)
    errors = " ".join(str(result["error"]) for result in document.get("results", []))
    assert expected in said + errors
    assert ended == code
    assert schema_comment(theirs) is None


def test_a_missing_translator_of_queries_is_said_before_anything_is_written(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "sqlglot", None)
    target = place / "target"
    assert main(["run", "decision-support", "-t", f"postgresql:new:{target}", "--scale=0.01", f"--out={place}/results"]) == 2
    (said,) = capsys.readouterr().err.splitlines()
    assert "need the package sqlglot, which is not installed here; install it (pip install 'plimsoll[postgresql]')" in said
    assert not target.exists()


def test_a_schema_that_another_user_made_is_told_with_whom_to_ask(theirs: str, capsys: pytest.CaptureFixture[str]) -> None:
    make_schema(theirs, MARKER)
    code, _, said = carried_out(capsys, "run", "decision-support", "-t", theirs.replace(f"me:{CANARY}", "other"), *SMALL)
    assert code == 4
    assert "Plimsoll made schema 'plimsoll' as user 'me', and 'other' may not use it; connect as 'me'" in said


def test_a_schema_that_is_kept_serves_the_next_run_and_stays(theirs: str, capsys: pytest.CaptureFixture[str]) -> None:
    loads = set()
    for words in (("--keep",), ("--fresh",)):
        code, document, said = carried_out(capsys, "run", "decision-support", "-t", theirs, *SMALL, *words)
        assert code == 0, said
        loads |= {result["engine"]["decision"]["load"]["load_s"] for result in document["results"]}
        assert schema_comment(theirs) == KEPT
    assert len(loads) == 1


def test_what_a_killed_run_left_is_removed_at_the_end_of_the_next(theirs: str, capsys: pytest.CaptureFixture[str]) -> None:
    make_schema(theirs, MARKER)
    code, _, said = carried_out(capsys, "run", "decision-support", "-t", theirs, *SMALL)
    assert code == 0, said
    assert schema_comment(theirs) is None


def test_a_run_with_nothing_left_to_measure_removes_what_is_left_and_neither_what_is_kept_nor_what_another_run_uses(theirs: str) -> None:
    target = Target(withheld(theirs))
    make_schema(theirs, KEPT)
    assert not LeftSchemas().inspect_target(target)["left_behind"]
    with psycopg.connect(theirs, autocommit=True) as other:
        other.execute(f"COMMENT ON SCHEMA plimsoll IS '{MARKER}'")
        # As a run does for as long as it lasts.
        other.execute("SELECT pg_advisory_lock(%s)", (int.from_bytes(b"plimsoll", "big"),))
        assert LeftSchemas().remove_target(target) == []
        assert remove(parse(target.text), ["plimsoll"]) == []
        assert schema_comment(theirs) == MARKER
    assert remove(parse(target.text), ["plimsoll"]) == ["plimsoll"]
    assert schema_comment(theirs) is None


def test_two_runs_do_not_use_one_database_and_the_second_takes_nothing_from_the_first(
    theirs: str, capsys: pytest.CaptureFixture[str]
) -> None:
    make_schema(theirs, MARKER)
    with psycopg.connect(theirs, autocommit=True) as other:
        other.execute("SELECT pg_advisory_lock(%s)", (int.from_bytes(b"plimsoll", "big"),))
        code, document, _ = carried_out(capsys, "run", "decision-support", "-t", theirs, *SMALL)
        assert code == 4
        assert "another run of Plimsoll uses this database" in document["results"][0]["error"]
        assert schema_comment(theirs) == MARKER


def test_a_schema_of_the_users_is_refused_by_the_command_and_left_alone(theirs: str, capsys: pytest.CaptureFixture[str]) -> None:
    make_schema(theirs, "orders of the shop", "precious")
    with psycopg.connect(theirs) as connection:
        connection.execute("CREATE SCHEMA plimsoll_orders")
    for load in ("decision-support", "order-entry"):
        code, _, said = carried_out(capsys, "run", load, "-t", theirs, "--json")
        assert code == 3
        assert "that Plimsoll did not make, and it is left alone" in said
    with psycopg.connect(theirs) as connection:
        assert connection.execute("SELECT count(*) FROM plimsoll.precious").fetchone() == (0,)
