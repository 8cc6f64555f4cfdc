"""DuckDB in this process: the embedded database, a file in a directory on the target.

Model: one connection holds the file, each session is a cursor of it, and statements of several sessions run at the same time in this
process. Rows are loaded out of memory (memfd), as Parquet files or, of refresh sets, as CSV, a part at a time, so that the target sees what
the database writes and nothing else. What does not fit in the memory that it may use goes to ``spill`` beside the file, on the target as
well.
Limits: one process at a time has the file open. What queries read and spill is counted for each session, by DuckDB itself.

    database = DuckDb("/mnt/array/dss", Settings(memory_bytes=256 << 20))
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Self

from plimsoll.apps.databases.database import Counters, DatabaseError, Moved, Row, Settings, Trouble
from plimsoll.errors import InputError

if TYPE_CHECKING:
    import duckdb

FILE = "plimsoll.duckdb"
SPILL = "spill"
#: Rows are handed over in parts of about so many bytes.
_PART_BYTES = 64 << 20
_MISSING = "DuckDB is not installed here; install it with: pip install 'plimsoll[duckdb]'."
_COPY = "COPY {table}{columns} FROM '/proc/self/fd/{file}' (FORMAT csv, DELIMITER '\t', HEADER false, QUOTE '', ESCAPE '', NULLSTR '\\N')"
_COPY_PARQUET = "INSERT INTO {table} SELECT * FROM read_parquet('/proc/self/fd/{file}')"
#: What DuckDB says, and which kind of trouble that is; the first that fits.
_TROUBLES: tuple[tuple[str, Trouble], ...] = (
    (r"could not set lock|conflicting lock", "locked"),
    (r"no space left|disk is full|could not (write|truncate|fsync)|max_temp_directory_size", "full"),
    (r"out of memory|failed to (allocate|pin)", "memory"),
    (r"interrupted", "cancelled"),
    (r"conflict", "conflict"),
)


def engine_module() -> Any:
    """The package ``duckdb``, imported where a run needs it. Raises `InputError` with what to install."""
    try:
        import duckdb
    except ImportError:
        raise InputError(_MISSING) from None
    return duckdb


class DuckDb:
    """`plimsoll.apps.databases.database.Database` in a directory, which has to exist."""

    engine = "duckdb"
    dialect = "duckdb"
    concurrent_writers = True
    runs_here = True
    builds_keys = False
    takes_parquet = True
    text_suffix = ""

    def __init__(self, directory: str, settings: Settings) -> None:
        self._directory = directory
        self._settings = settings
        self._connection: duckdb.DuckDBPyConnection | None = None

    @property
    def path(self) -> str:
        """The file of the database."""
        return os.path.join(self._directory, FILE)

    def open(self) -> None:
        module = engine_module()
        if self._connection is None:
            with _told(self.path):
                self._connection = module.connect(self.path, config=self._configuration())

    def _configuration(self) -> dict[str, Any]:
        """Nothing is fetched from the network, and what spills goes to the target."""
        made: dict[str, Any] = {
            "temp_directory": os.path.join(self._directory, SPILL),
            "autoinstall_known_extensions": False,
            "preserve_insertion_order": False,
            **self._settings.options,
        }
        if self._settings.memory_bytes is not None:
            made["memory_limit"] = f"{self._settings.memory_bytes}B"
        if self._settings.threads is not None:
            made["threads"] = self._settings.threads
        return made

    def close(self) -> None:
        if self._connection is not None:
            connection, self._connection = self._connection, None
            with _told(self.path):
                connection.close()

    def session(self) -> DuckDbSession:
        if self._connection is None:
            raise DatabaseError(f"{self.path}: the database is not open.", "lost")
        cursor = self._connection.cursor()
        with _told(self.path):
            # Each statement's bytes are counted, and nothing is printed. What that costs comes with profiling itself: a shorter list of
            # metrics, or an empty one, is no cheaper (`dev/bench.py --only harness`).
            cursor.execute("PRAGMA enable_profiling='no_output'")
            cursor.execute("SET tracked_metrics = ['io.*']")
        return DuckDbSession(cursor, self.path)

    def restart(self) -> None:
        self.close()
        _drop_from_page_cache(self.path)
        self.open()

    def cold_how(self) -> str:
        return "the database was closed, its file dropped from the page cache, and opened again; caches of the storage stay warm"

    def tables(self) -> frozenset[str]:
        return frozenset(str(name) for (name,) in self._rows("SELECT table_name FROM duckdb_tables() WHERE NOT internal"))

    def settle(self) -> None:
        self._rows("CHECKPOINT")
        self._rows("ANALYZE")

    def size_bytes(self) -> int | None:
        ((used,),) = self._rows("SELECT used_blocks * block_size FROM pragma_database_size() WHERE database_name = current_database()")
        return int(used)

    def counters(self) -> Counters:
        return Counters()

    def waits(self) -> None:
        """Nothing waits for locks: a transaction that meets another one is undone."""

    def processes(self) -> Sequence[int]:
        return (os.getpid(),)

    def facts(self) -> Mapping[str, str]:
        asked = ("memory_limit", "threads", "temp_directory", "checkpoint_threshold")
        return {"version": str(engine_module().__version__)} | {
            name: str(self._rows(f"SELECT current_setting('{name}')")[0][0]) for name in asked
        }

    def _rows(self, statement: str) -> list[Row]:
        with self.session() as session:
            return session.run([statement])


class DuckDbSession:
    """`plimsoll.apps.databases.database.Session`: a cursor."""

    def __init__(self, cursor: duckdb.DuckDBPyConnection, path: str) -> None:
        self._cursor = cursor
        self._path = path
        self._refused: tuple[type[Exception], ...] = (engine_module().Error, ValueError)

    def run(self, statements: Sequence[str], parameters: Sequence[object] = ()) -> list[Row]:
        rows: list[Row] = []
        with _told(self._path):
            for statement in statements:
                self._cursor.execute(statement, parameters or None)
                rows = self._cursor.fetchall() if self._cursor.description else []
        return rows

    def begin(self) -> None:
        self.run(["BEGIN TRANSACTION"])

    def commit(self) -> None:
        self.run(["COMMIT"])

    def rollback(self) -> None:
        self.run(["ROLLBACK"])

    def copy_parquet(self, table: str, pieces: Iterable[bytes]) -> int:
        """Load the rows of a Parquet file into ``table``; how many. ``pieces`` are the file from its first byte to its last, and are
        in memory until it is read. Quicker than text, which has to be parsed."""
        with _in_memory(pieces) as file:
            ((rows,),) = self.run([_COPY_PARQUET.format(table=table, file=file)])
        return int(rows)

    def copy(self, table: str, text: Iterable[bytes], columns: Sequence[str] = ()) -> int:
        named = f" ({', '.join(columns)})" if columns else ""
        loaded = 0
        for file in _parts(text):
            ((rows,),) = self.run([_COPY.format(table=table, columns=named, file=file)])
            loaded += int(rows)
        return loaded

    def moved(self) -> Moved:
        """A query writes nothing but what it spills; of other statements DuckDB counts nothing."""
        try:
            counted = json.loads(self._cursor.get_profiling_information("json") or "{}").get("io") or {}
        except self._refused:
            return Moved()
        return Moved(counted.get("total_bytes_read"), counted.get("total_bytes_written"))

    def cancel(self) -> None:
        with suppress(engine_module().Error):
            self._cursor.interrupt()

    def close(self) -> None:
        with suppress(engine_module().Error):
            self._cursor.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _parts(text: Iterable[bytes]) -> Iterator[int]:
    """Files in memory with whole lines of the text, one after the other."""
    rest = b""
    part: list[bytes] = []
    length = 0
    for chunk in text:
        part.append(chunk)
        length += len(chunk)
        if length >= _PART_BYTES:
            whole, _, rest = b"".join([rest, *part]).rpartition(b"\n")
            part, length = [], 0
            if whole:
                with _in_memory([whole, b"\n"]) as file:
                    yield file
    if last := b"".join([rest, *part]):
        with _in_memory([last]) as file:
            yield file


@contextmanager
def _in_memory(pieces: Iterable[bytes]) -> Iterator[int]:
    file = os.memfd_create("plimsoll-copy", os.MFD_CLOEXEC)
    try:
        for piece in pieces:
            view = memoryview(piece)
            while view:
                view = view[os.write(file, view) :]
        yield file
    finally:
        os.close(file)


def _drop_from_page_cache(path: str) -> None:
    """Write back what is dirty, and let the page cache forget the file."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as problem:
        raise DatabaseError(f"{path}: cannot be dropped from the page cache ({str(problem.strerror).lower()}).") from None
    try:
        os.fsync(file)
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(file)


@contextmanager
def _told(path: str) -> Iterator[None]:
    """What DuckDB says, in one sentence with the kind of trouble."""
    module = engine_module()
    try:
        yield
    except module.Error as problem:
        raise _trouble(path, str(problem)) from None


def _trouble(path: str, said: str) -> DatabaseError:
    kind: Trouble = next((kind for words, kind in _TROUBLES if re.search(words, said, re.IGNORECASE)), "statement")
    first = " ".join(said.split())[:300].rstrip(".")
    told = {
        "locked": f"{path}: another process has this database open; end it, or name another directory.",
        "full": f"{path}: there is no space left for the database or its temporary files ({first}); make room, or name another directory.",
        "memory": f"{path}: DuckDB may not use as much memory as this needs ({first}); raise memory.",
        "cancelled": f"{path}: the statement was cancelled.",
    }
    return DatabaseError(told.get(kind, f"{path}: DuckDB says: {first}."), kind)
