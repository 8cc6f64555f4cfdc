"""What the database holds: eight tables of one scale, loaded in parts at the same time, and a note of the load in the database itself.

Model: rows go from the generator straight into sessions, several at a time. The note is written when all is there, so a load that was cut
off has none and is made anew; tables of ours without a note are dropped first. Where there are expected answers for the scale, the 22
queries are asked with the qualification values right after the load, since the refresh functions change the data later; what was wrong
stays in the note. Loading is timed from the first table to the end of statistics and checkpoint, without that check.
Limits: nobody else may write to our tables.

    note = loaded(database, 1.0, Hearing(on_progress, control))
    note.load_s, note.wrong
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, field, replace
from math import ceil

from plimsoll.apps.databases.database import Database, Session
from plimsoll.apps.decision.refresh import NOTE, Sets
from plimsoll.decision import data, validation
from plimsoll.decision.queries import QUERIES, qualification, text
from plimsoll.engine.protocol import Control
from plimsoll.errors import Interrupted
from plimsoll.records import dataclass

#: About so many bytes of text are a scale of 1.
TEXT_BYTES = 1_060_000_000
#: And so much of that are the same rows as Parquet files.
_PARQUET_SHARE = 0.26
#: So many sessions load at the same time.
_LOADERS_MAX = 4
#: Parts of a table per scale of 1, so that no part is much more than a few hundred megabytes.
_PARTS_PER_SCALE = 4
#: From this scale on the large tables are loaded in parts.
_PARTED_FROM = 0.1
_LARGE = ("lineitem", "orders", "partsupp", "customer", "part")


@dataclass(frozen=True)
class Note:
    """What was loaded; ``text_bytes`` were handed over, as text or as Parquet files. ``checked`` are the queries whose answers were
    compared, ``wrong`` the numbers of those that were not right, and ``differences`` say how."""

    scale: float
    rows: int
    text_bytes: int
    data_bytes: int | None
    load_s: float
    bytes_written: int | None = None
    checked: tuple[int, ...] = ()
    wrong: tuple[int, ...] = ()
    differences: tuple[str, ...] = ()

    def with_written(self, bytes_written: int | None) -> Note:
        """The same, with what the load wrote to the target."""
        return replace(self, bytes_written=bytes_written)

    def validated(self, number: int) -> bool | None:
        """Whether the answer of a query was right; None where nobody compared it."""
        return number not in self.wrong if number in self.checked else None


@dataclass
class Hearing:
    """Who hears how many bytes are there, and who can say that it is enough; any thread may tell."""

    on_progress: Callable[[int, int], None]
    control: Control
    done: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def more(self, size_bytes: int, total_bytes: int) -> None:
        """So many bytes more; raises `Interrupted` once it is to end."""
        if self.control.stopped:
            raise Interrupted("stopped while the database was loaded")
        with self.lock:
            self.done += size_bytes
            self.on_progress(min(self.done, total_bytes), total_bytes)


def note_of(database: Database) -> Note | None:
    """The note in an open database; None where the load was never finished."""
    if NOTE not in database.tables():
        return None
    with database.session() as session:
        rows = session.run(["SELECT note FROM plimsoll_load"])
    if not rows:
        return None
    found = json.loads(str(rows[0][0]))
    listed = {name: tuple(found[name]) for name in ("checked", "wrong", "differences")}
    return Note(**{**found, **listed})


def serves(note: Note | None, database: Database, scale: float, pairs: int) -> bool:
    """Whether what is there can be measured: the scale that was asked for, with refresh sets for ``pairs`` more."""
    if note is None or note.scale != scale:
        return False
    with database.session() as session:
        return Sets.of(session).left >= pairs


def load(database: Database, scale: float, hearing: Hearing) -> Note:
    """Load the tables anew into an open database, and say in it what was loaded."""
    # What rows are drawn from takes about a second to make at any scale; that is no work of the database's, and not timed.
    with data.kept():
        begun = time.monotonic()
        _make(database)
        rows = sum(_fill(database, _tasks(scale), scale, hearing))
        with _beating(hearing):
            _build_keys(database)
            database.settle()
        return Note(scale, rows, hearing.done, database.size_bytes(), time.monotonic() - begun)


@contextmanager
def _beating(hearing: Hearing) -> Iterator[None]:
    """Says once a second that work goes on, which has no bytes to tell."""
    over = threading.Event()

    def beat() -> None:
        while not over.wait(1.0):
            hearing.on_progress(hearing.done, hearing.done)

    thread = threading.Thread(target=beat, name="plimsoll-beat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def checked(database: Database, note: Note, hearing: Hearing, queries: Iterable[int] = QUERIES) -> Note:
    """The note with what the answers at its scale say; unchanged where none are expected."""
    if note.scale not in validation.SCALES:
        return note
    values, found = qualification(note.scale), {}
    with database.session() as session, _beating(hearing):
        for number in queries:
            if hearing.control.stopped:
                raise Interrupted("stopped while the answers were compared")
            rows = session.run([text(number, values[number], database.dialect)])
            found[number] = validation.differences(number, rows, note.scale)
    wrong = tuple(number for number, said in found.items() if said)
    return replace(note, checked=tuple(found), wrong=wrong, differences=tuple(said for each in found.values() for said in each))


def write(database: Database, note: Note) -> None:
    """Put the note into the database: from now on its load is complete."""
    kept = json.dumps(asdict(note)).replace("'", "''")
    with database.session() as session:
        session.run(
            [
                "CREATE TABLE plimsoll_load (note VARCHAR(100000), inserted INTEGER, deleted INTEGER)",
                f"INSERT INTO plimsoll_load VALUES ('{kept}', 0, 0)",  # noqa: S608  # text of our own, quoted
            ]
        )


def _make(database: Database) -> None:
    """The tables, empty; those of a load that was cut off go first."""
    known = {*data.TABLES, NOTE}
    with database.session() as session:
        session.run([f"DROP TABLE {name}" for name in _children_first() if name in database.tables() & known])
        session.run([_create(table, database.text_suffix) for table in data.TABLES.values()])


def _children_first() -> Sequence[str]:
    return (NOTE, *reversed(data.TABLES))


def _create(table: data.Table, text_suffix: str) -> str:
    columns = (f"{column.name} {column.type}{text_suffix if 'CHAR' in column.type.upper() else ''} NOT NULL" for column in table.columns)
    return f"CREATE TABLE {table.name} ({', '.join(columns)})"


def _build_keys(database: Database) -> None:
    if not database.builds_keys:
        return
    with database.session() as session:
        session.run([f"ALTER TABLE {table.name} ADD PRIMARY KEY ({', '.join(table.primary_key)})" for table in data.TABLES.values()])


@dataclass(frozen=True)
class _Task:
    """A part of a table."""

    table: str
    part: int
    parts: int


def _tasks(scale: float) -> list[_Task]:
    """The large tables first, so that no loader is left with one of them at the end."""
    parts = 1 if scale < _PARTED_FROM else max(_LOADERS_MAX, ceil(scale * _PARTS_PER_SCALE))
    large = [_Task(name, part, parts) for name in _LARGE for part in range(1, parts + 1)]
    return large + [_Task(name, 1, 1) for name in data.TABLES if name not in _LARGE]


def _fill(database: Database, tasks: Sequence[_Task], scale: float, hearing: Hearing) -> Iterator[int]:
    """The rows of each task, loaded by several sessions; the first that fails ends all."""
    loaders = min(_LOADERS_MAX, os.cpu_count() or 1, len(tasks)) if database.concurrent_writers else 1
    failed = threading.Event()
    total_bytes = round(TEXT_BYTES * scale * (_PARQUET_SHARE if database.takes_parquet else 1.0))

    def heard(text: Iterable[bytes]) -> Iterator[bytes]:
        for chunk in text:
            if failed.is_set():
                raise Interrupted("another part could not be loaded")
            yield chunk
            hearing.more(len(chunk), total_bytes)

    def loaded(task: _Task) -> int:
        try:
            if failed.is_set():
                return 0
            with database.session() as session:
                return _copied(session, task, scale, database.takes_parquet, heard)
        except BaseException:
            failed.set()
            raise

    with ThreadPoolExecutor(loaders, thread_name_prefix="plimsoll-loader") as pool:
        futures = [pool.submit(loaded, task) for task in tasks]
    # The one that failed first says why; the others only say that another did.
    problems = [problem for future in futures if (problem := future.exception()) is not None]
    told = next((problem for problem in problems if "another part" not in str(problem)), None)
    if told is not None:
        raise told
    return (future.result() for future in futures)


def _copied(session: Session, task: _Task, scale: float, as_parquet: bool, heard: Callable[[Iterable[bytes]], Iterator[bytes]]) -> int:
    if as_parquet:
        return session.copy_parquet(task.table, heard(data.parquet(task.table, scale, part=task.part, parts=task.parts)))
    return session.copy(task.table, heard(data.ahead(data.copy_text(task.table, scale, part=task.part, parts=task.parts))))
