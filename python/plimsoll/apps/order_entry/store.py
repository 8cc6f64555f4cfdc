"""The database of order entry, whichever engine keeps it: what a driver asks of it before, during and after a job.

Model: a `Store` fills its tables once and knows from a table of its own (`MADE`) what they were filled with, so that the next point finds
them and another scale fills them anew. `Watched` is what the engine counted between two readings, as far as it tells; what it does not
tell is None, never 0.
Limits: tables grow with every point; how much they held when a point began is in its result.

    if not store.holds(scale):
        store.fill(scale, Filling(scale, on_progress, control))
    with store.working(stream) as working: course.run(working.terminals(plan))
    store.broken()                   # sentences, none where the conditions of consistency hold
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Protocol

from plimsoll.apps.course import Course, Load
from plimsoll.apps.order_entry.terminals import Plan
from plimsoll.apps.recorder import Recorder
from plimsoll.engine.protocol import Control
from plimsoll.errors import Interrupted
from plimsoll.orders.population import SEED, Row, rows
from plimsoll.orders.scale import TABLES, Scale

#: What the tables were filled with: the row is written last.
MADE = "CREATE TABLE plimsoll_made (warehouses int, customers int, items int, seed int, form int)"
#: Raised with every change of tables, rows or functions.
FORM = 1
#: What the option ``memory`` is when nobody says: this part of the data, and the least.
MEMORY_SHARE, MEMORY_MIN_BYTES = 4, 128 << 20
#: Rows that go to an engine at once.
BATCH_ROWS = 1000


@dataclass(frozen=True)
class Lot:
    """Rows that are made and loaded together: those of a table that belong to a warehouse."""

    table: str
    rows: Iterator[Row]
    size_bytes: int


def lots(scale: Scale) -> list[Lot]:
    """All rows of a database, lot by lot; they are made as they are taken."""
    found = []
    for table in TABLES:
        warehouses = [0] if table == "item" else list(range(1, scale.warehouses + 1))
        share = scale.table_bytes(table) // len(warehouses)
        found += [Lot(table, rows(table, scale, SEED, warehouse), share) for warehouse in warehouses]
    return found


class Filling:
    """Who hears how far the filling is, in bytes, and who may stop it; several threads may tell."""

    def __init__(self, scale: Scale, on_progress: Callable[[int, int], None], control: Control) -> None:
        self._total = scale.size_bytes
        self._on_progress = on_progress
        self._control = control
        self._lock = Lock()
        self._done = 0

    def check(self) -> None:
        """Raise `Interrupted` once the brake is pulled."""
        if self._control.stopped:
            raise Interrupted("the database was being filled")

    def loaded(self, lot: Lot) -> None:
        """A lot is in the database."""
        with self._lock:
            self._done += lot.size_bytes
            self._on_progress(min(self._done, self._total), self._total)


def made_row(scale: Scale) -> tuple[int, ...]:
    """What `MADE` says of tables of this scale."""
    return scale.warehouses, scale.customers, scale.items, SEED, FORM


@dataclass
class Watched:
    """What the engine did in ``seconds`` of the measured time. ``waits`` are shares of the time of transactions, by what they waited for
    (``processor`` for nothing); ``flush`` says how long making a commit durable took, in nanoseconds by the name of the figure."""

    seconds: float = 0.0
    wal_bytes: int | None = None
    flush: dict[str, float] = field(default_factory=dict)
    waits: dict[str, float] = field(default_factory=dict)
    #: The waits one by one, where the engine names them.
    events: dict[str, float] = field(default_factory=dict)
    counters: dict[str, float] = field(default_factory=dict)
    #: How much of this process's processor time was Plimsoll's own, where an engine works in the same process.
    own_share: float | None = None


class Watch(Protocol):
    """Reads the engine's counters; from the start of the measured time to its end."""

    def begin(self) -> None:
        """The measured time begins."""

    def look(self) -> None:
        """It goes on; several times a second."""

    def end(self) -> None:
        """It has ended."""

    def watched(self) -> Watched:
        """What was counted between."""


class AtWork(Load, Protocol):
    """Terminals as a course carries them out, however that is done."""

    #: What transactions ended with, by phase.
    counts: dict[str, Counter[str]]
    #: Processor time of the thread of the interpreter that draws requests or serves terminals.
    busy_ns: int
    #: How long terminals waited for requests that were not drawn yet, added up.
    starved_ns: int

    def recorder(self, course: Course) -> Recorder:
        """What records their transactions."""


@dataclass(frozen=True)
class Working:
    """What makes terminals of a plan, what watches the engine while they work, what was tried again, by why, and who carries out.
    ``settings`` are those that the terminals' connections have of their own."""

    terminals: Callable[[Plan], AtWork]
    watch: Watch
    client: str
    retries: Mapping[str, int] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)


class Store(Protocol):
    """A database of order entry on one target."""

    #: The engine's word in an address.
    engine: str

    def holds(self, scale: Scale) -> bool:
        """Whether the tables are there, filled to the end for this scale."""

    def fill(self, scale: Scale, filling: Filling) -> None:
        """Make the tables anew and fill them. Raises `TargetError` or `Interrupted`."""

    def working(self, stream: Mapping[str, Any]) -> AbstractContextManager[Working]:
        """What the terminals of a canonical stream work with."""

    def broken(self) -> Sequence[str]:
        """The conditions of consistency that do not hold, in sentences."""

    def orders(self) -> int:
        """How many orders there are."""

    def size_bytes(self) -> int | None:
        """What the database takes on the target."""

    def facts(self) -> Mapping[str, str]:
        """Version and settings that matter: log, durability, checkpoints, vacuum."""

    def processes(self) -> Sequence[int]:
        """The first process of a server of the user's, where that runs on this host; what we started is known anyway."""
