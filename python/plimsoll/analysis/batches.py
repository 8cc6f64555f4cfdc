"""The measured time in equal batches, in bounded memory: what the confidence intervals of a point are made from.

Model: every measured interval becomes a batch; when `CAPACITY` batches are full, neighbours are merged pairwise, so a point of any length
ends with 32 to 63 batches of equal time, each with counts, bytes, latency sum and latency histogram per operation. Merging loses
resolution and no total. Schmeiser ("Batch size effects in the analysis of simulation output", Operations Research 30, 1982) shows that
more than about 30 batches hardly narrow an interval, and longer batches are less correlated. Operations that merely came with those a
stream of file operations draws (the opening and closing of a file that is read) have a portion of their own, so that all operations
together can be told without them. Histograms of full batches are folded, so the whole takes some hundred KiB.
Limits: a last batch that is not full counts to the totals and to no interval; so do intervals cut short.

    batches = Batches()
    batches.add(seconds, {"read": Portion(count, bytes, latency_sum_ns, histogram)})
    [batch.portions["read"].count / batch.seconds for batch in batches.equal()]
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from plimsoll.histogram import Histogram

Json = dict[str, Any]

CAPACITY = 64
#: A batch shorter than this share of the longest is one that was cut short.
_EQUAL_SHARE_MIN = 0.9


@dataclass
class Portion:
    """What one operation did in a slice of time. The histogram belongs to the portion, and changes with it."""

    count: int = 0
    bytes: int = 0
    latency_sum_ns: float = 0.0
    latency: Histogram | None = None

    def add(self, other: Portion) -> None:
        """Take another's counts over; its histogram may become this one's."""
        self.count += other.count
        self.bytes += other.bytes
        self.latency_sum_ns += other.latency_sum_ns
        if self.latency is None:
            self.latency = other.latency
        elif other.latency is not None:
            self.latency.add(other.latency)


def portion_of(cell: Json, latency: Histogram | None) -> Portion:
    """What one cell of an interval adds; ``latency`` is its decoded histogram, which is given away."""
    total = cell.get("latency_sum_ns")
    if total is None:
        total = latency.mean * latency.count if latency is not None else 0.0
    return Portion(cell["count"], cell["bytes"], float(total), latency)


def portion_key(cell: Json, drawn: Mapping[str, frozenset[str]]) -> str:
    """Where what a cell adds belongs: its operation, or `implied` of it when its stream draws others (``drawn``, by stream)."""
    op, asked = str(cell["op"]), drawn.get(cell["stream"])
    return op if asked is None or op in asked else implied(op)


def implied(op: str) -> str:
    """The portion of ``op`` where it merely came with another operation."""
    return f"implied {op}"


@dataclass
class Batch:
    """A slice of measured time."""

    seconds: float = 0.0
    portions: dict[str, Portion] = field(default_factory=dict)

    def fold(self) -> None:
        """Nothing more is added for now: keep it small."""
        for portion in self.portions.values():
            if portion.latency is not None:
                portion.latency.fold()

    def add(self, seconds: float, portions: Mapping[str, Portion]) -> None:
        """Append the slice that follows."""
        self.seconds += seconds
        for op, portion in portions.items():
            known = self.portions.get(op)
            if known is None:
                self.portions[op] = portion
            else:
                known.add(portion)


class Batches:
    """Batches in order of time."""

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._capacity = capacity
        self._batches: list[Batch] = []
        self._per_batch = 1
        self._pending = Batch()
        self._pending_count = 0

    def add(self, seconds: float, portions: Mapping[str, Portion]) -> None:
        """Append one measured interval, whose portions are given away; halves the resolution when the capacity is reached."""
        self._pending.add(seconds, portions)
        self._pending_count += 1
        if self._pending_count < self._per_batch:
            return
        self._pending.fold()
        self._batches.append(self._pending)
        self._pending, self._pending_count = Batch(), 0
        if len(self._batches) == self._capacity:
            for even, odd in zip(self._batches[::2], self._batches[1::2], strict=True):
                even.add(odd.seconds, odd.portions)
                even.fold()
            del self._batches[1::2]
            self._per_batch *= 2

    def __iter__(self) -> Iterator[Batch]:
        """Every batch, the last of which may not be full."""
        yield from self._batches
        if self._pending_count:
            yield self._pending

    def equal(self) -> list[Batch]:
        """The full batches of equal time."""
        longest = max((batch.seconds for batch in self._batches), default=0.0)
        return [batch for batch in self._batches if batch.seconds >= _EQUAL_SHARE_MIN * longest > 0]
