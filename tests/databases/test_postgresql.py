"""PostgreSQL answers the verbs of a database, and says in one sentence what went wrong; nothing of the user's is touched, no password shown."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from plimsoll.apps.databases.address import parse
from plimsoll.apps.databases.database import DatabaseError, Settings
from plimsoll.apps.databases.postgresql import PostgreSql, own_server, private
from plimsoll.apps.databases.postgresql_troubles import told_of
from plimsoll.apps.databases.schema import drop
from plimsoll.apps.databases.server import PrivateServer
from plimsoll.engine.files import native_files
from plimsoll.errors import SafetyRefusal, TargetError
from support.patience import HANGS_S, wait_until
from support.private_server import server_url

pytestmark = pytest.mark.usefixtures("postgresql", "held")
CANARY = "canary-7b1f"
MEMORY = Settings(memory_bytes=32 << 20, options={"max_connections": "12"})


def _private(place: Path, settings: Settings = MEMORY) -> PostgreSql:
    return private(native_files().own(str(place / "pg"), None, "postgresql"), str(place / "pg"), settings)


@pytest.fixture
def database(place: Path) -> Iterator[PostgreSql]:
    made = _private(place)
    made.open()
    yield made
    made.close()


def _pid(database: PostgreSql) -> int:
    return database.processes()[0]


def _url(database: PostgreSql, user: str = "plimsoll", name: str = "postgres") -> str:
    return server_url(database._how(), user, name)


def test_rows_are_loaded_from_memory_and_kept_over_a_cold_restart(database: PostgreSql) -> None:
    with database.session() as session:
        session.run(["CREATE TABLE kept (number bigint, name text)"])
        assert session.copy("kept", (b"%d\tname %d\n" % (n, n) for n in range(5000))) == 5000
        assert session.copy("kept", [b"50", b"00\t\\N", b"\n"], ["number", "name"]) == 1
    database.settle()
    assert database.tables() == {"kept"}
    assert (database.size_bytes() or 0) > 5000 * 20
    before = _pid(database)
    database.restart()
    assert _pid(database) != before
    assert "dropped from the page cache" in database.cold_how()
    with database.session() as session:
        assert session.run(["SELECT count(*), max(number), count(name) FROM kept"]) == [(5001, 5000, 5000)]


def test_a_session_that_waits_for_the_lock_of_another_is_seen_to_wait(database: PostgreSql) -> None:
    assert database.waits() == {}
    with database.session() as one, database.session() as other:
        one.run(["CREATE TABLE met (number int)", "INSERT INTO met VALUES (1)"])
        one.begin()
        one.run(["UPDATE met SET number = 2"])
        thread = threading.Thread(target=lambda: other.run(["UPDATE met SET number = 3"]))
        thread.start()
        waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
        wait_until(lambda: database._rows(waiting) == [(1,)], "the other waits for the one that does nothing")
        seen = database.waits()
        one.commit()
        thread.join()
    assert seen == {"locks": 1}
    assert database.waits() == {}


def test_a_transaction_is_kept_when_it_is_committed_and_gone_when_it_is_not(database: PostgreSql) -> None:
    with database.session() as session:
        session.run(["CREATE TABLE kept (number int)"])
        session.begin()
        session.run(["INSERT INTO kept VALUES (%s)"], [1])
        session.commit()
        session.begin()
        session.run(["INSERT INTO kept VALUES (2)"])
        session.rollback()
        session.begin()
        session.run(["INSERT INTO kept VALUES (3)"])
    with database.session() as session:
        assert session.run(["SELECT number FROM kept"]) == [(1,)]


def test_what_is_written_to_temporary_files_and_to_the_log_is_counted(database: PostgreSql) -> None:
    before = database.counters()
    with database.session() as session:
        session.run(
            ["SET work_mem = '64kB'", "SELECT count(*) FROM (SELECT n FROM generate_series(1, 300000) n ORDER BY n DESC OFFSET 1) x"]
        )
        session.run(["CREATE TABLE kept AS SELECT n FROM generate_series(1, 100000) n"])

    def spilled() -> int:
        return (database.counters().spill_bytes or 0) - (before.spill_bytes or 0)

    wait_until(lambda: spilled() > 1 << 20, "the spill is counted")
    after = database.counters()
    assert after.others["pg_stat_wal.wal_bytes"] - before.others["pg_stat_wal.wal_bytes"] > 100_000
    assert "pg_stat_database.datid" not in after.others
    assert (after.log_bytes or 0) - (before.log_bytes or 0) > 100_000


def test_each_commit_waits_for_a_flush_whose_time_is_counted(database: PostgreSql) -> None:
    with database.session() as session:
        session.run(["CREATE TABLE kept (number int)"])
        before = database.counters()
        for number in range(5):
            session.run(["INSERT INTO kept VALUES (%s)"], [number])
        wait_until(lambda: (database.counters().flushes or 0) - (before.flushes or 0) >= 5, "five flushes are counted")
    assert (database.counters().flush_s or 0.0) > (before.flush_s or 0.0)


def test_memory_and_settings_are_what_was_asked_and_are_recorded(database: PostgreSql) -> None:
    facts = database.facts()
    assert facts["shared_buffers"] == "24MB"
    assert facts["work_mem"] == "2MB"
    assert {"fsync": "on", "autovacuum": "on", "max_connections": "12"}.items() <= facts.items()
    assert facts["checkpoint_timeout"] and facts["version"]


def test_connections_that_run_out_are_said_with_what_to_change(database: PostgreSql) -> None:
    with pytest.raises(
        DatabaseError, match=r"takes no further connection .*; use fewer streams or terminals, or raise max_connections"
    ) as problem:
        for _ in range(20):
            database.session()
    assert problem.value.trouble == "refused"


def test_what_is_wrong_with_a_statement_is_told_in_one_line(database: PostgreSql) -> None:
    with (
        database.session() as session,
        pytest.raises(DatabaseError, match=r"PostgreSQL says: relation \"nothing\" does not exist\.$") as problem,
    ):
        session.run(["SELECT *\nFROM nothing"])
    assert problem.value.trouble == "statement"


def test_a_wrong_password_is_said_and_no_password_is_in_anything(
    database: PostgreSql, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with database.session() as session:
        session.run([f"CREATE ROLE me LOGIN PASSWORD '{CANARY}'", "GRANT CREATE ON DATABASE postgres TO me"])
        hba = place / "pg/postgresql/data/pg_hba.conf"
        hba.write_text("local all me scram-sha-256\n" + hba.read_text())
        session.run(["SELECT pg_reload_conf()"])
    where = _url(database, "me").partition("@")[2]
    wait_until(lambda: not _lets_in(f"postgresql://me@{where}"), "the server asks for a password")
    for url in (f"postgresql://me:{CANARY}-wrong@{where}", f"postgresql://me@{where}"):
        with pytest.raises(DatabaseError, match=r"the server refuses the password .*PGPASSFILE") as problem:
            own_server(parse(url), Settings()).open()
        assert problem.value.trouble == "refused"
        assert CANARY not in str(problem.value)
    kept = own_server(parse(f"postgresql://me:{CANARY}@{where}"), Settings())
    database.close()
    database.open()
    where = _url(database, "me").partition("@")[2]
    kept = own_server(parse(f"postgresql://me:{CANARY}@{where}&application_name=x"), Settings())
    with pytest.raises(TargetError, match="another run of Plimsoll uses this database"):
        kept.open()
    assert CANARY not in repr(vars(kept) | {"how": ""}) + kept.cold_how()
    # The other places that libpq looks at.
    monkeypatch.setenv("PGPASSWORD", CANARY)
    with pytest.raises(TargetError, match="another run of Plimsoll"):
        own_server(parse(f"postgresql://me@{where}&connect_timeout=9"), Settings()).open()
    monkeypatch.delenv("PGPASSWORD")
    passes = place / "passes"
    passes.write_text(f"*:*:*:me:{CANARY}\n")
    passes.chmod(0o600)
    monkeypatch.setenv("PGPASSFILE", str(passes))
    with pytest.raises(TargetError, match="another run of Plimsoll"):
        own_server(parse(f"postgresql://me@{where}&connect_timeout=8"), Settings()).open()


def _lets_in(url: str) -> bool:
    try:
        psycopg.connect(url).close()
    except psycopg.Error:
        return False
    return True


def test_a_schema_of_the_users_is_refused_and_one_of_ours_is_dropped_without_what_depends_on_it(database: PostgreSql) -> None:
    with database.session() as session:
        session.run(["CREATE DATABASE theirs"])
    url = _url(database, name="theirs")
    with psycopg.connect(url, autocommit=True) as theirs:
        theirs.execute("CREATE SCHEMA plimsoll")
        theirs.execute("CREATE TABLE plimsoll.precious AS SELECT 1 AS number")
        server = own_server(parse(url), Settings())
        with pytest.raises(SafetyRefusal, match="a schema 'plimsoll' that Plimsoll did not make, and it is left alone"):
            server.open()
        with pytest.raises(SafetyRefusal):
            server.remove()
        assert theirs.execute("SELECT number FROM plimsoll.precious").fetchone() == (1,)
        theirs.execute("ALTER SCHEMA plimsoll RENAME TO precious")
        server.open()
        with server.session() as session:
            session.run(["CREATE TABLE region (n int PRIMARY KEY)", "CREATE TABLE nation (n int REFERENCES region)"])
            session.run(["CREATE FUNCTION d() RETURNS int LANGUAGE sql AS 'SELECT 1'", "CREATE TYPE mood AS ENUM ('well')"])
        with pytest.raises(TargetError, match=r"stays as it is, since Plimsoll did not make 'd\(\)' in it; move that elsewhere"):
            server.remove()
        theirs.execute("DROP FUNCTION plimsoll.d()")
        with pytest.raises(
            TargetError, match=r"schema 'plimsoll' stays, since something of yours depends on it \(type mood depends on schema"
        ):
            server.remove()
        theirs.execute("DROP TYPE plimsoll.mood")
        theirs.execute("CREATE VIEW precious.seen AS SELECT * FROM plimsoll.region")
        with pytest.raises(TargetError, match=r"schema 'plimsoll' stays, since something of yours depends on it \(view precious.seen"):
            server.remove()
        assert theirs.execute("SELECT count(*) FROM precious.seen").fetchone() == (0,)
        theirs.execute("DROP VIEW precious.seen")
        server.close()
        assert server.remove()
        assert not server.remove()
        assert theirs.execute("SELECT number FROM precious.precious").fetchone() == (1,)
        assert not drop(theirs, "plimsoll", url)


def test_a_server_of_the_users_is_not_restarted(database: PostgreSql) -> None:
    server = own_server(parse(_url(database)), Settings())
    with pytest.raises(DatabaseError, match="a server of yours is not restarted, so its caches stay as they are"):
        server.restart()
    assert server.processes() == ()


def test_a_process_of_the_server_that_is_killed_is_named_and_the_server_is_not_waited_for(
    database: PostgreSql, monkeypatch: pytest.MonkeyPatch
) -> None:
    discarded: list[bool] = []
    stop = PrivateServer.stop

    def heard(server: PrivateServer, *, discarding: bool = False) -> None:
        discarded.append(discarding)
        stop(server, discarding=discarding)

    monkeypatch.setattr(PrivateServer, "stop", heard)
    # The server ends its other processes one by one: for a moment the connection of the claim answers still.
    monkeypatch.setattr("plimsoll.apps.databases.postgresql._answers", lambda _connection: True)
    # It writes why when it gets a processor, which on a busy machine is later than a run would wait for words.
    monkeypatch.setattr("plimsoll.apps.databases.postgresql._WORDS_S", HANGS_S)
    session = database.session()
    os.kill(session.process, signal.SIGKILL)
    with pytest.raises(
        DatabaseError, match=r"the server died or was stopped \(server process \(PID \d+\) was terminated by signal 9"
    ) as problem:
        session.run(["SELECT 1"])
    assert problem.value.trouble == "lost"
    # A server that recovers from a crash may not hear of a clean end; its next start recovers as well.
    database.close()
    database.open()
    database.close()
    assert discarded == [True, False]


def test_a_statement_that_somebody_cancels_is_told_as_such(database: PostgreSql) -> None:
    with database.session() as session, pytest.raises(DatabaseError, match="the statement was cancelled") as problem:
        session.run(["SET statement_timeout = '10ms'", "SELECT pg_sleep(600)"])
    assert problem.value.trouble == "cancelled"


@pytest.mark.parametrize(
    ("state", "said", "ended", "trouble", "sentence"),
    [
        ("53100", "could not extend file", "", "full", "no space left for the database (could not extend file); make room"),
        (
            "",
            "server closed the connection unexpectedly",
            'could not write to file "pg_wal/x": No space left on device',
            "full",
            "pg_wal/x",
        ),
        (
            "",
            "consuming input failed: server closed the connection",
            "process was terminated by signal 9",
            "lost",
            "stopped (process was term",
        ),
        ("", "failed to resolve host 'h': [Errno -2] Name or service not known", "", "lost", "host 'h': Name or service not known)"),
        ("53200", "out of memory", "", "memory", "the server has no memory left for this (out of memory)"),
        ("58030", "could not read block 7", "", "lost", "could not read or write its files (could not read block 7)"),
        ("40P01", "deadlock detected", "", "conflict", "the transaction met another one"),
    ],
)
def test_one_table_tells_what_every_driver_says_of_a_server(state: str, said: str, ended: str, trouble: str, sentence: str) -> None:
    problem = told_of(said, state, alive=False, ended=ended)
    assert problem.trouble == trouble
    assert sentence in str(problem)
