"""The database of order entry in an SQLite file: filled, opened for terminals, watched and checked.

Model: the file lies in a directory of Plimsoll's own on the target. It is filled without a log and without waiting for the disk, then
synced, and from then on it keeps a write-ahead log with synchronous=FULL. Each connection has its share of the memory that the option
allows, besides what the kernel caches.
Limits: one process at a time, and no network file system (a write-ahead log needs shared memory).

    store = SqliteStore("/mnt/array/db/sqlite")
    store.fill(scale, Filling(scale, on_progress, control))
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import partial
from typing import Any, NamedTuple

from plimsoll.apps.databases.database import DatabaseError
from plimsoll.apps.order_entry.sqlite import VERSION_MIN, SqliteSessions, connected, told
from plimsoll.apps.order_entry.store import MADE, MEMORY_MIN_BYTES, MEMORY_SHARE, Filling, Watched, Working, lots, made_row
from plimsoll.apps.order_entry.terminals import Terminals
from plimsoll.displayed import quoted
from plimsoll.errors import TargetError
from plimsoll.histogram import Histogram
from plimsoll.near import listed
from plimsoll.orders.consistency import CONDITIONS
from plimsoll.orders.scale import Scale
from plimsoll.orders.schema import COLUMNS, SQLITE, created, indexed

FILE = "orders.db"
_BESIDES = ("-wal", "-shm", "-journal")
#: Settings that are recorded.
_SETTINGS = ("journal_mode", "synchronous", "wal_autocheckpoint", "page_size", "cache_size", "auto_vacuum", "mmap_size")
_SYNCHRONOUS = {0: "OFF", 1: "NORMAL", 2: "FULL", 3: "EXTRA"}
#: The least cache of a connection: SQLite's own.
_CACHE_MIN_BYTES = 2 << 20
_HEADER_BYTES = 24


class SqliteStore:
    """`plimsoll.apps.order_entry.store.Store` in a directory, which has to exist."""

    engine = "sqlite"

    def __init__(self, directory: str) -> None:
        self.path = os.path.join(directory, FILE)
        if sqlite3.sqlite_version_info < VERSION_MIN:
            least = ".".join(map(str, VERSION_MIN))
            raise DatabaseError(f"this Python comes with SQLite {sqlite3.sqlite_version}; order entry needs {least} or later.")

    def holds(self, scale: Scale) -> bool:
        """Whether the file is there, filled to the end for this scale."""
        if not os.path.isfile(self.path):
            return False
        try:
            with closing(connected(self.path)) as connection:
                found = connection.execute("SELECT * FROM plimsoll_made").fetchall()
        except sqlite3.OperationalError as problem:
            if "no such table" in str(problem):
                return False
            raise told(problem, self.path) from None
        except sqlite3.DatabaseError as problem:
            raise told(problem, self.path) from None
        return found == [made_row(scale)]

    def fill(self, scale: Scale, filling: Filling) -> None:
        """A new file in place of any other of ours."""
        self._check_own()
        for besides in ("", *_BESIDES):
            if os.path.exists(self.path + besides):
                os.unlink(self.path + besides)
        try:
            with closing(connected(self.path)) as connection:
                self._fill(connection, scale, filling)
        except sqlite3.Error as problem:
            raise told(problem, self.path) from None

    def _check_own(self) -> None:
        """Raise `TargetError` where somebody has put a table of theirs into the file: it would go with it."""
        if not os.path.isfile(self.path):
            return
        try:
            with closing(connected(self.path)) as connection:
                found = connection.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name").fetchall()
        except sqlite3.DatabaseError:
            # No database, but what a killed run has left of one.
            return
        foreign = [name for (name,) in found if name not in (*COLUMNS, "plimsoll_made") and not name.startswith("sqlite_")]
        if foreign:
            raise TargetError(
                f"{self.path}: it stays as it is, since Plimsoll did not make {listed([quoted(name) for name in foreign], 'and')} in it;"
                " move that to a file of your own, or name another directory."
            )

    def _fill(self, connection: sqlite3.Connection, scale: Scale, filling: Filling) -> None:
        connection.execute("PRAGMA journal_mode = OFF")
        connection.execute("PRAGMA synchronous = OFF")
        for statement in created(SQLITE):
            connection.execute(statement)
        for lot in lots(scale):
            filling.check()
            connection.execute("BEGIN")
            connection.executemany(f"INSERT INTO {lot.table} VALUES ({', '.join('?' * len(COLUMNS[lot.table]))})", lot.rows)
            connection.execute("COMMIT")
            filling.loaded(lot)
        for statement in indexed():
            connection.execute(statement)
        connection.execute("ANALYZE")
        connection.execute("PRAGMA synchronous = FULL")
        if connection.execute("PRAGMA journal_mode = WAL").fetchone()[0] != "wal":
            raise DatabaseError(f"{self.path}: its file system does not allow a write-ahead log; use a local one.", "refused")
        connection.execute(MADE)
        connection.execute("INSERT INTO plimsoll_made VALUES (?, ?, ?, ?, ?)", made_row(scale))
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    @contextmanager
    def working(self, stream: Mapping[str, Any]) -> Iterator[Working]:
        """Terminals in threads of this process."""
        terminals = int(stream["terminals"])
        memory = stream["memory"]
        if memory == "auto":
            memory = max((self.size_bytes() or 0) // MEMORY_SHARE, MEMORY_MIN_BYTES)
        try:
            sessions = SqliteSessions(self.path, terminals, max(int(memory) // terminals, _CACHE_MIN_BYTES))
        except sqlite3.Error as problem:
            raise told(problem, self.path) from None
        with closing(sessions):
            watch, settings = SqliteWatch(sessions, self._page_bytes()), {"cache_size": sessions.cache_size}
            yield Working(partial(Terminals, sessions=sessions), watch, "a thread for each terminal", settings=settings)

    def broken(self) -> Sequence[str]:
        """The conditions that do not hold."""
        try:
            with closing(connected(self.path)) as connection:
                found = (condition.broken(connection.execute(condition.query).fetchall()) for condition in CONDITIONS)
                return [sentence for sentence in found if sentence is not None]
        except sqlite3.Error as problem:
            raise told(problem, self.path) from None

    def orders(self) -> int:
        """How many orders there are, by the numbers that districts have given: nothing else is read for that."""
        return int(self._asked("SELECT coalesce(sum(d_next_o_id - 1), 0) FROM district"))

    def size_bytes(self) -> int | None:
        """The file; its log is empty before and after a job."""
        return os.path.getsize(self.path)

    def facts(self) -> Mapping[str, str]:
        """SQLite's version and settings; the cache is that of any connection, until terminals have theirs."""
        with closing(connected(self.path)) as connection:
            found = {name: str(connection.execute(f"PRAGMA {name}").fetchone()[0]) for name in _SETTINGS}
        found["synchronous"] = _SYNCHRONOUS.get(int(found["synchronous"]), found["synchronous"])
        found["auto_vacuum"] = {"0": "none", "1": "full", "2": "incremental"}.get(found["auto_vacuum"], found["auto_vacuum"])
        return {"version": f"SQLite {sqlite3.sqlite_version}", **found}

    def processes(self) -> Sequence[int]:
        """SQLite works in this process."""
        return ()

    def _page_bytes(self) -> int:
        return int(self._asked("PRAGMA page_size"))

    def _asked(self, query: str) -> Any:
        try:
            with closing(connected(self.path)) as connection:
                return connection.execute(query).fetchone()[0]
        except sqlite3.Error as problem:
            raise told(problem, self.path) from None


class SqliteWatch:
    """`plimsoll.apps.order_entry.store.Watch` of sessions in this process."""

    def __init__(self, sessions: SqliteSessions, page_bytes: int) -> None:
        self._sessions = sessions
        self._frame_bytes = page_bytes + _HEADER_BYTES
        self._began: _Reading | None = None
        self._ended: _Reading | None = None
        self._commits = Histogram()

    def begin(self) -> None:
        """Count from now on."""
        self._sessions.commits = Histogram()
        self._began = self._now()

    def look(self) -> None:
        """Nothing has to be looked at meanwhile."""

    def end(self) -> None:
        """Count no more."""
        self._ended, self._commits = self._now(), self._sessions.commits

    def watched(self) -> Watched:
        """What happened between."""
        if self._began is None or self._ended is None:
            return Watched()
        began, ended = self._began, self._ended
        spent = {name: ended.times.get(name, 0) - began.times.get(name, 0) for name in ended.times}
        found = Watched(seconds=ended.at_s - began.at_s, counters={"commits": self._commits.count})
        if self._sessions.log.known:
            found.wal_bytes = (ended.frames - began.frames) * self._frame_bytes
            found.counters["checkpoints"] = ended.restarts - began.restarts
        if self._commits.count:
            found.flush = {"count": self._commits.count, "mean": self._commits.mean}
            found.flush |= {f"p{percent}": float(self._commits.percentile(percent)) for percent in (50, 90, 99)}
            found.flush["max"] = float(self._commits.max)
        committing = spent.get("committing", 0)
        all_ns = spent.get("waiting", 0) + spent.get("writing", 0) + spent.get("reading", 0)
        if all_ns > 0:
            rest = max(0.0, spent.get("writing", 0) - committing) + spent.get("reading", 0)
            found.waits = {"locks": spent.get("waiting", 0) / all_ns, "storage": committing / all_ns, "processor": rest / all_ns}
        if sampled := spent.get("sampled cpu", 0):
            found.own_share = max(0.0, 1.0 - spent.get("sampled cpu in SQLite", 0) / sampled)
        return found

    def _now(self) -> _Reading:
        log = self._sessions.log
        return _Reading(time.monotonic(), log.frames, log.restarts, self._sessions.times)


class _Reading(NamedTuple):
    """What was counted until an instant; the log begins anew once a checkpoint has written all of it into the file."""

    at_s: float
    frames: int
    restarts: int
    times: Mapping[str, int]
