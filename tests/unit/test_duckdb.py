"""DuckDB behind the protocol of databases: rows in, answers out, and what it says when something is wrong."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from plimsoll.apps.databases import duckdb as engine
from plimsoll.apps.databases.database import Database, DatabaseError, Settings
from plimsoll.apps.databases.duckdb import DuckDb
from plimsoll.decision import data

pytest.importorskip("duckdb", reason="skipped: DuckDB is not installed")


@pytest.fixture(scope="module", autouse=True)
def _source() -> Iterator[None]:
    """What rows are drawn from, made once."""
    with data.kept():
        yield


@pytest.fixture
def database(tmp_path: Path) -> Iterator[DuckDb]:
    opened = DuckDb(str(tmp_path), Settings(memory_bytes=128 << 20, threads=2))
    opened.open()
    yield opened
    opened.close()


def test_duckdb_is_a_database(database: DuckDb) -> None:
    taken: Database = database
    assert taken.engine == "duckdb"


def test_rows_arrive_whole_however_the_text_is_cut(database: DuckDb, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "_PART_BYTES", 10)
    text = b"".join(b"%d\trow %d\n" % (row, row) for row in range(50)) + b"50\t\\N\n"
    with database.session() as session:
        session.run(["CREATE TABLE t (number BIGINT, word VARCHAR)"])
        assert session.copy("t", (text[at : at + 7] for at in range(0, len(text), 7))) == 51
        assert session.run(["SELECT count(*), sum(number), count(word), max(word) FROM t"]) == [(51, 1275, 50, "row 9")]
    assert database.tables() == {"t"}


def test_rows_of_a_parquet_file_in_pieces_are_those_of_the_text(database: DuckDb) -> None:
    columns = ", ".join(f"{column.name} {column.type} NOT NULL" for column in data.TABLES["orders"].columns)
    with database.session() as session, data.kept():
        session.run([f"CREATE TABLE of_text ({columns})", f"CREATE TABLE of_parquet ({columns})"])
        texts = session.copy("of_text", data.copy_text("orders", 0.01))
        assert session.copy_parquet("of_parquet", data.parquet("orders", 0.01)) == texts == 15_000
        assert session.run(["SELECT * FROM of_text EXCEPT SELECT * FROM of_parquet"]) == []


def test_a_parquet_file_that_is_cut_off_loads_nothing(database: DuckDb) -> None:
    with database.session() as session:
        session.run(["CREATE TABLE t (r_regionkey BIGINT, r_name VARCHAR, r_comment VARCHAR)"])
        with pytest.raises(DatabaseError):
            session.copy_parquet("t", list(data.parquet("region", 0.01))[:-1])
        assert session.run(["SELECT count(*) FROM t"]) == [(0,)]


def test_what_was_loaded_is_there_after_a_restart(database: DuckDb) -> None:
    with database.session() as session:
        session.run(["CREATE TABLE t AS SELECT * FROM range(1000)"])
    database.settle()
    database.restart()
    with database.session() as session:
        assert session.run(["SELECT count(*) FROM t"]) == [(1000,)]


def test_a_transaction_that_is_undone_leaves_nothing(database: DuckDb) -> None:
    with database.session() as session:
        session.run(["CREATE TABLE t (number BIGINT)"])
        session.begin()
        session.copy("t", [b"1\n2\n"])
        session.rollback()
        assert session.run(["SELECT count(*) FROM t"]) == [(0,)]


def test_a_statement_ends_when_another_thread_cancels_it(database: DuckDb) -> None:
    with database.session() as session:
        stop = threading.Event()

        def cancel() -> None:
            while not stop.wait(0.01):
                session.cancel()

        helper = threading.Thread(target=cancel)
        helper.start()
        try:
            with pytest.raises(DatabaseError, match="was cancelled") as problem:
                session.run(["SELECT count(*) FROM range(10000000) a, range(10000000) b WHERE a.range + b.range = 7"])
        finally:
            stop.set()
            helper.join()
        assert problem.value.trouble == "cancelled"
        assert session.run(["SELECT 1"]) == [(1,)]


#: Opens the database at a path, says so, and holds it until its input ends.
_HOLDER = "import duckdb, sys; held = duckdb.connect(sys.argv[1]); print('held', flush=True); sys.stdin.read()"


def test_a_database_that_another_process_has_open_is_said_to_be_locked(tmp_path: Path) -> None:
    database = DuckDb(str(tmp_path), Settings())
    with subprocess.Popen([sys.executable, "-c", _HOLDER, database.path], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        with pytest.raises(DatabaseError, match="another process has this database open") as problem:
            database.open()
        other.communicate(b"")
    assert problem.value.trouble == "locked"


def test_a_wrong_statement_is_one_sentence(database: DuckDb) -> None:
    with database.session() as session, pytest.raises(DatabaseError) as problem:
        session.run(["SELECT * FROM nothing_here"])
    assert problem.value.trouble == "statement"
    assert "\n" not in str(problem.value)
    assert "nothing_here" in str(problem.value)
