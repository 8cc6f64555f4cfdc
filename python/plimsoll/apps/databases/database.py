"""A database as a load: the verbs that every engine answers, so that a driver need not know which it is.

Model: a `Database` is opened, gives `Session`s (one connection each), and is closed. A session carries out statements one after the other;
another thread may cancel what it does. What an engine counts of itself (`Counters`) only ever grows, so that two readings make a
difference; what it does not count is None and never 0. Whatever fails is a `DatabaseError`: one sentence, and of which kind it is.
Limits: SQL only; rows are fetched whole, since the answers of the loads here are small.

    database = DuckDb(directory, Settings(memory_bytes=256 << 20))
    database.open()
    with database.session() as session:
        session.copy("region", [b"0\tAFRICA\t...\n"])
        rows = session.run(["SELECT count(*) FROM region"])
    database.close()
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any, Literal, Protocol, Self

from plimsoll.errors import TargetError
from plimsoll.records import dataclass

#: What went wrong: ``lost`` is a server or connection that is gone, ``refused`` one that takes nobody (password, number of connections),
#: ``locked`` a database that another process holds, ``full`` a disk, ``memory`` a limit of memory, ``cancelled`` a statement that somebody
#: ended, ``conflict`` a transaction that may be tried again, ``statement`` everything else that an engine says of a statement.
Trouble = Literal["lost", "refused", "locked", "full", "memory", "cancelled", "conflict", "statement"]
#: A row of an answer, in Python's values: int, Decimal, float, str, date, None.
Row = tuple[Any, ...]


class DatabaseError(TargetError):
    """An engine could not do what was asked; ``trouble`` is the kind, the message one sentence without a password."""

    def __init__(self, message: str, trouble: Trouble = "statement") -> None:
        super().__init__(message)
        self.trouble: Trouble = trouble


@dataclass(frozen=True)
class Settings:
    """How an engine is opened. ``memory_bytes`` is what it may use to hold data and to sort; None leaves the engine its own choice, as does
    a ``threads`` of None. ``options`` are settings of the engine by their own names."""

    memory_bytes: int | None = None
    threads: int | None = None
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Counters:
    """What an engine counted of itself since it was opened. ``spill_bytes`` were written to temporary files, ``log_bytes`` to its log;
    ``flushes`` are the times that it waited until the storage had that, ``flush_s`` how long altogether. ``others`` are counters by the
    engine's own names (checkpoints, ...)."""

    spill_bytes: int | None = None
    log_bytes: int | None = None
    flushes: int | None = None
    flush_s: float | None = None
    others: Mapping[str, int | float] = field(default_factory=dict)


@dataclass(frozen=True)
class Moved:
    """What one statement moved, as the engine itself counts it; caches below may have answered. ``spill_bytes`` went to temporary files,
    ``cpu_s`` is processor time of the tasks that did it, wherever they ran."""

    read_bytes: int | None = None
    spill_bytes: int | None = None
    cpu_s: float | None = None


class Session(Protocol):
    """One connection. Used by one thread; only `cancel` may be called from another."""

    def run(self, statements: Sequence[str], parameters: Sequence[object] = ()) -> list[Row]:
        """Carry out statements in order; the rows of the last that gives any. ``parameters`` are those of a single statement."""

    def begin(self) -> None:
        """Begin a transaction; without one every statement is a transaction of its own."""

    def commit(self) -> None:
        """Make the transaction durable as far as the engine's settings say."""

    def rollback(self) -> None:
        """Undo the transaction."""

    def copy(self, table: str, text: Iterable[bytes], columns: Sequence[str] = ()) -> int:
        """Load rows into ``table``; how many. It is COPY text of PostgreSQL without escapes: a row is a line, tabs divide its
        fields, null is ``\\N``. Chunks end anywhere."""

    def copy_parquet(self, table: str, pieces: Iterable[bytes]) -> int:
        """Load a Parquet file into ``table``, of an engine that `takes_parquet`; how many rows it has. ``pieces`` are the file from its
        first byte to its last."""

    def moved(self) -> Moved:
        """What the last statement moved, where the engine counts that for each session."""

    def cancel(self) -> None:
        """End what the session does at this moment with a `DatabaseError` of kind ``cancelled``; nothing when it does nothing."""

    def close(self) -> None:
        """Give the connection back; what was not committed is undone."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...


class Database(Protocol):
    """One database. `open` and `close` may be called in turn any number of times; what was loaded stays."""

    #: The engine's word in an address: duckdb, postgresql, sqlite, spark.
    engine: str
    #: What sqlglot calls its SQL.
    dialect: str
    #: Whether several sessions may write at once without waiting for each other's transactions to end.
    concurrent_writers: bool
    #: Whether statements are carried out in this process, by the thread that asks among others.
    runs_here: bool
    #: Whether primary keys are built after a load: an engine that scans columns does without.
    builds_keys: bool
    #: Whether its sessions take rows as Parquet files (``copy_parquet``) rather than as text.
    takes_parquet: bool
    #: What follows the type of a column of text so that it sorts by code point, `` COLLATE "C"`` say.
    text_suffix: str

    def open(self) -> None:
        """Start what is private, connect, and make the place of our own (schema or file) that carries our marker."""

    def close(self) -> None:
        """End every session, and stop what `open` started."""

    def session(self) -> Session:
        """A new connection in our schema."""

    def restart(self) -> None:
        """Forget everything that is cached: of a private engine close, drop it from the page cache, open; raises `DatabaseError` with the
        reason where that cannot be done (the user's own server). What remains warm is in the answer of `cold_how`."""

    def cold_how(self) -> str:
        """In one sentence what `restart` makes cold here, and what stays warm."""

    def tables(self) -> frozenset[str]:
        """The tables in our schema."""

    def settle(self) -> None:
        """After a load: statistics, checkpoint; whatever the engine would otherwise do later, in the measured time."""

    def size_bytes(self) -> int | None:
        """What tables and indexes take on the target; None where the engine does not say."""

    def counters(self) -> Counters:
        """What was counted so far."""

    def waits(self) -> Mapping[str, int] | None:
        """How many of our sessions are at what at this moment: processor, storage, locks, internal locks, client, other; None of an engine
        that does not tell."""

    def processes(self) -> Sequence[int]:
        """The processes of the engine on this host, for their CPU time and I/O: our own for an embedded one, none for one elsewhere."""

    def facts(self) -> Mapping[str, str]:
        """Version and settings that matter, for the result; never a password."""
