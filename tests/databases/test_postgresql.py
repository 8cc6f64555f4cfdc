"""PostgreSQL answers the verbs of a database, and says in one sentence what went wrong; nothing of the user's is touched, no password shown."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from plimsoll.apps.databases.address import parse
from plimsoll.apps.databases.database import DatabaseError, Settings
from plimsoll.apps.databases.postgresql import PostgreSql, own_server, private
from plimsoll.apps.databases.schema import drop
from plimsoll.engine import native_files
from plimsoll.errors import SafetyRefusal, TargetError
from support.patience import wait_until

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
    return f"postgresql://{user}@/{name}?host={database._how()['host']}"


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
            session.run(["CREATE TABLE a (n int PRIMARY KEY)", "CREATE TABLE b (n int REFERENCES a)", "CREATE VIEW c AS SELECT * FROM b"])
            session.run(["CREATE FUNCTION d() RETURNS int LANGUAGE sql AS 'SELECT 1'"])
        theirs.execute("CREATE VIEW precious.seen AS SELECT * FROM plimsoll.a")
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
