"""Order entry on SQLite: a thread and a connection for each terminal, in this process.

Model: SQLite has one writer at a time. Transactions that write wait for their turn here, first come, first served, since SQLite itself
would have them try again after sleeps; those that only read go on beside them. The database keeps a write-ahead log and is
synchronous=FULL: a commit returns once its log is on the disk. What a commit takes (writing the log and fsync) is counted apart, and how
much log was written is read from the index of the log that SQLite shares between processes (sqlite.org/walformat.html).
Limits: the processor time that statements take in SQLite is told from that of Plimsoll on one transaction of `_SAMPLED`. Another process
that holds the database makes a transaction wait, and fail after `BUSY_S`.

    with closing(SqliteSessions(path, terminals=8)) as sessions:
        sessions.submit(0, request)
        sessions.wait(1.0)                  # [Ending(0, "committed")]
"""

from __future__ import annotations

import mmap
import sqlite3
import struct
import threading
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from queue import Empty, SimpleQueue
from typing import Any, BinaryIO

from plimsoll.apps.databases.database import DatabaseError, Trouble
from plimsoll.apps.order_entry.terminals import Ending, Verdict
from plimsoll.histogram import Histogram
from plimsoll.orders.requests import Request
from plimsoll.orders.statements import Missing, Unused, reads_only, transaction

#: How long a transaction waits for another process that holds the database, in seconds.
BUSY_S = 5.0
#: The least version: statements say what they changed (RETURNING).
VERSION_MIN = (3, 35, 0)
#: Every so many-th transaction tells how much of its processor time was SQLite's.
_SAMPLED = 16
#: Where the index of the log holds the number of its last frame and what tells one log from the next (SQLite file format, 4.3), and what a
#: frame takes besides its page.
_LAST_FRAME_AT, _SALT_AT, _FRAME_HEADER = 16, 32, 24
#: The codes of SQLite that have a kind of their own, by the name without what follows.
_TROUBLES: dict[str, Trouble] = {
    "SQLITE_BUSY": "locked",
    "SQLITE_LOCKED": "locked",
    "SQLITE_FULL": "full",
    "SQLITE_IOERR": "lost",
    "SQLITE_CORRUPT": "lost",
    "SQLITE_NOTADB": "lost",
    "SQLITE_CANTOPEN": "refused",
    "SQLITE_READONLY": "refused",
    "SQLITE_PERM": "refused",
    "SQLITE_NOMEM": "memory",
    "SQLITE_INTERRUPT": "cancelled",
}
_SAID: dict[Trouble, str] = {
    "locked": "another process holds the database (SQLITE_BUSY); let only Plimsoll use it while it is measured",
    "full": "its disk is full; make room, or ask for fewer warehouses",
    "lost": "the disk failed, or the database is damaged",
    "refused": "it may not be opened or written",
}


def connected(path: str, cache_bytes: int | None = None) -> sqlite3.Connection:
    """A connection that begins and ends transactions only as it is told, and whose commits are durable."""
    connection = sqlite3.connect(path, timeout=BUSY_S, isolation_level=None, check_same_thread=False, cached_statements=128)
    connection.execute("PRAGMA synchronous = FULL")
    if cache_bytes is not None:
        connection.execute(f"PRAGMA cache_size = -{cache_bytes >> 10}")
    return connection


def told(problem: sqlite3.Error, path: str) -> DatabaseError:
    """What SQLite says, as a sentence."""
    name = str(getattr(problem, "sqlite_errorname", "") or "")
    trouble: Trouble = next((kind for begin, kind in _TROUBLES.items() if name.startswith(begin)), "statement")
    said = _SAID.get(trouble)
    return DatabaseError(f"{path}: {said} ({problem})." if said else f"{path}: SQLite says: {problem}.", trouble)


class LogFrames:
    """How many frames were written to the log, and how often it began anew; asked by whoever has just committed, while nobody else can.

    The index stays open for as long as connections of this process are: closing any file descriptor of it takes away the locks that SQLite
    has on it (fcntl(2), "Record locks"), and another process would take the database for unused and cut the index off beneath it.
    """

    def __init__(self, path: str) -> None:
        self.frames = 0
        self.restarts = 0
        self._last, self._salt = 0, 0
        self._file: BinaryIO | None = None
        self._index: mmap.mmap | None = None
        with suppress(OSError, ValueError):
            self._file = open(f"{path}-shm", "rb")  # noqa: SIM115  # closed by close, after SQLite's connections
            self._index = mmap.mmap(self._file.fileno(), mmap.PAGESIZE, prot=mmap.PROT_READ)
            self._last, self._salt = self._now()

    @property
    def known(self) -> bool:
        """Whether the index can be read."""
        return self._index is not None

    def close(self) -> None:
        """Once every connection of this process is closed."""
        for each in (self._index, self._file):
            if each is not None:
                each.close()
        self._index = self._file = None

    def committed(self) -> None:
        """A transaction has been committed; the log begins anew after a checkpoint."""
        if self._index is not None:
            last, salt = self._now()
            self.frames += last - self._last if salt == self._salt else last
            self.restarts += salt != self._salt and self._last > 0
            self._last, self._salt = last, salt

    def _now(self) -> tuple[int, int]:
        """The number of the last frame, and a number that is another one in each log."""
        assert self._index is not None
        (last,), (salt,) = (struct.unpack_from("=I", self._index, at) for at in (_LAST_FRAME_AT, _SALT_AT))
        return int(last), int(salt)


class SqliteSessions:
    """`plimsoll.apps.order_entry.terminals.Sessions` on a database file."""

    def __init__(self, path: str, terminals: int, cache_bytes: int | None = None) -> None:
        self._path = path
        self._ended: SimpleQueue[Ending] = SimpleQueue()
        self._writer = _Turns()
        self._connections = [connected(path, cache_bytes) for _ in range(terminals)]
        self._asked: list[SimpleQueue[Request | None]] = [SimpleQueue() for _ in range(terminals)]
        for connection in self._connections:
            # Also maps the index of the log, which is there from the first reader on.
            connection.execute("SELECT count(*) FROM warehouse").fetchall()
        self.log = LogFrames(path)
        self.commits = Histogram()
        #: Of each terminal, since each has a thread of its own.
        self._times: list[Counter[str]] = [Counter() for _ in range(terminals)]
        self._threads = [
            threading.Thread(target=self._serve, args=(number,), name=f"plimsoll-terminal-{number}", daemon=True)
            for number in range(terminals)
        ]
        for thread in self._threads:
            thread.start()

    @property
    def cache_size(self) -> str:
        """The cache of each terminal's connection, as SQLite says it: pages, or KiB below 0."""
        return str(self._connections[0].execute("PRAGMA cache_size").fetchone()[0])

    @property
    def times(self) -> Counter[str]:
        """Nanoseconds, summed up: waiting to write, writing (committing is a part of that), reading; and processor time, sampled."""
        return sum(self._times, Counter())

    def submit(self, terminal: int, request: Request) -> None:
        """Hand the request to the terminal's thread."""
        self._asked[terminal].put(request)

    def wait(self, seconds: float) -> Sequence[Ending]:
        """What has ended; one at least, unless nothing does in time."""
        found = []
        try:
            found.append(self._ended.get(timeout=seconds) if seconds > 0 else self._ended.get_nowait())
            while True:
                found.append(self._ended.get_nowait())
        except Empty:
            return found

    def abandon(self) -> None:
        """Interrupt every statement."""
        for connection in self._connections:
            with suppress(sqlite3.Error):
                connection.interrupt()

    def close(self) -> None:
        """End the threads and close the connections; a thread that hangs in the kernel is left to it."""
        for asked in self._asked:
            asked.put(None)
        for thread, connection in zip(self._threads, self._connections, strict=True):
            thread.join(timeout=BUSY_S)
            if not thread.is_alive():
                with suppress(sqlite3.Error):
                    connection.close()
        if not any(thread.is_alive() for thread in self._threads):
            self.log.close()

    def _serve(self, number: int) -> None:
        done = 0
        while (request := self._asked[number].get()) is not None:
            done += 1
            try:
                verdict = self._carry_out(number, request, sampled=done % _SAMPLED == 0)
                self._ended.put(Ending(number, verdict))
            except sqlite3.Error as problem:
                self._ended.put(Ending(number, "failed", told(problem, self._path)))
            except Missing as damage:
                self._ended.put(Ending(number, "failed", DatabaseError(f"{self._path}: {damage}; the data are damaged.", "statement")))

    def _carry_out(self, number: int, request: Request, *, sampled: bool) -> Verdict:
        connection, times = self._connections[number], self._times[number]
        cpu_ns = time.thread_time_ns() if sampled else 0
        if reads_only(request):
            begun_ns = time.monotonic_ns()
            verdict, _ = self._within(connection, request, "BEGIN", times if sampled else None)
            times["reading"] += time.monotonic_ns() - begun_ns
        else:
            asked_ns = time.monotonic_ns()
            with self._writer:
                begun_ns = time.monotonic_ns()
                times["waiting"] += begun_ns - asked_ns
                verdict, committing_ns = self._within(connection, request, "BEGIN IMMEDIATE", times if sampled else None)
                if verdict == "committed":
                    self.log.committed()
                # Together, so that a reading between holds both or neither.
                times["committing"] += committing_ns
                times["writing"] += time.monotonic_ns() - begun_ns
        if sampled:
            times["sampled cpu"] += time.thread_time_ns() - cpu_ns
        return verdict

    def _within(self, connection: sqlite3.Connection, request: Request, begin: str, sampled: Counter[str] | None) -> tuple[Verdict, int]:
        """The transaction from its beginning to its end; and how long its commit took, of one that wrote."""
        steps = transaction(request, f"{datetime.now():%Y-%m-%d %H:%M:%S}")
        try:
            connection.execute(begin)
            with suppress(StopIteration):
                rows: list[tuple[Any, ...]] | None = None
                while True:
                    statement, values = steps.send(rows)  # type: ignore[arg-type]
                    before_ns = time.thread_time_ns() if sampled is not None else 0
                    rows = connection.execute(statement.text, values).fetchall()
                    if sampled is not None:
                        sampled["sampled cpu in SQLite"] += time.thread_time_ns() - before_ns
            committing_ns = self._commit(connection, writes=begin != "BEGIN")
        except Unused:
            connection.execute("ROLLBACK")
            return "rolled back", 0
        except BaseException:
            with suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
            raise
        return "committed", committing_ns

    def _commit(self, connection: sqlite3.Connection, *, writes: bool) -> int:
        """Of one that wrote, how long it took is counted and returned: the log is written and flushed in it."""
        before_ns = time.monotonic_ns()
        connection.execute("COMMIT")
        took_ns = time.monotonic_ns() - before_ns
        if not writes:
            return 0
        self.commits.record(took_ns)
        return took_ns


class _Turns:
    """A lock that is given in the order in which it was asked for."""

    def __init__(self) -> None:
        self._own = threading.Lock()
        self._waiting: list[threading.Lock] = []
        self._held = False

    def __enter__(self) -> None:
        with self._own:
            if not self._held:
                self._held = True
                return
            turn = threading.Lock()
            turn.acquire()
            self._waiting.append(turn)
        turn.acquire()

    def __exit__(self, *_: object) -> None:
        with self._own:
            if self._waiting:
                self._waiting.pop(0).release()
            else:
                self._held = False
