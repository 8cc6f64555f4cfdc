"""Measured time in bounded memory: batches, series, and the course of a run.

Batches: the measured time in equal parts, from which the confidence intervals of a point are made.

Model: every measured interval becomes a batch; when `BATCHES_MAX` batches are full, neighbours are merged pairwise, so a point of any
length ends with 32 to 63 batches of equal time, each with counts, bytes, latency sum and latency histogram per operation. Merging loses
resolution and no total. Schmeiser ("Batch size effects in the analysis of simulation output", Operations Research 30, 1982) shows that more
than about 30 batches hardly narrow an interval, and longer batches are less correlated. Operations that merely came with those a stream of
file operations draws (the opening and closing of a file that is read) have a portion of their own, so that all operations together can be
told without them. Histograms of full batches are folded, so the whole takes some hundred KiB.
Limits: a last batch that is not full counts to the totals and to no interval; so do intervals cut short.

    batches = Batches()
    batches.add(seconds, {"read": Portion(count, bytes, latency_sum_ns, histogram)})
    [batch.portions["read"].count / batch.seconds for batch in batches.equal()]

Series: values over time; when it is full, neighbours are merged pairwise, so it holds a day as well as a second.

Model: each point is a slice of time with additive counts; merging adds them, which loses resolution and no total.

    series = Series()
    series.add(Slice(seconds=1.0, count=900, latency_sum_ns=9e8))
    [point.rate_per_s for point in series]

Observation: what the audit has to know of a run beyond its totals: concurrency, trend, lag and drain.

Model: accumulated interval by interval beside the `Summary`, in bounded memory; every field is a plain number.

    observation = Observation()
    observation.add(interval)
    observation.inflight_mean        # time-weighted, requests
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field

from plimsoll.histogram import Histogram
from plimsoll.records import dataclass
from plimsoll.stored import Cell, Interval, WriteCaches

BATCHES_MAX = 64
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


def portion_of(cell: Cell, latency: Histogram | None) -> Portion:
    """What one cell of an interval adds; ``latency`` is its decoded histogram, which is given away."""
    total = cell.get("latency_sum_ns")
    if total is None:
        total = latency.mean * latency.count if latency is not None else 0.0
    return Portion(cell["count"], cell["bytes"], float(total), latency)


def portion_key(cell: Cell, drawn: Mapping[str, frozenset[str]]) -> str:
    """Where what a cell adds belongs: its operation, or `implied` of it when its stream draws others (``drawn``, by stream)."""
    op, asked = str(cell["op"]), drawn.get(str(cell["stream"]))
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

    def __init__(self, capacity: int = BATCHES_MAX) -> None:
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


SLICES_MAX = 512


@dataclass(frozen=True)
class Slice:
    """What completed in one slice of time."""

    seconds: float
    count: int
    latency_sum_ns: float

    @property
    def rate_per_s(self) -> float:
        """Completions per second."""
        return self.count / self.seconds if self.seconds > 0 else 0.0

    @property
    def mean_ns(self) -> float:
        """Mean latency; 0 when nothing completed."""
        return self.latency_sum_ns / self.count if self.count else 0.0

    def __add__(self, other: Slice) -> Slice:
        return Slice(self.seconds + other.seconds, self.count + other.count, self.latency_sum_ns + other.latency_sum_ns)


class Series:
    """Slices of equal resolution, oldest first."""

    def __init__(self, capacity: int = SLICES_MAX) -> None:
        self._capacity = capacity
        self._slices: list[Slice] = []
        self._per_slice = 1
        self._pending: Slice | None = None
        self._pending_count = 0

    def add(self, point: Slice) -> None:
        """Append one; halves the resolution when the capacity is reached."""
        self._pending = point if self._pending is None else self._pending + point
        self._pending_count += 1
        if self._pending_count < self._per_slice:
            return
        self._slices.append(self._pending)
        self._pending, self._pending_count = None, 0
        if len(self._slices) == self._capacity:
            self._slices = [a + b for a, b in zip(self._slices[::2], self._slices[1::2], strict=True)]
            self._per_slice *= 2

    def __iter__(self) -> Iterator[Slice]:
        return iter(self._slices)

    def __len__(self) -> int:
        return len(self._slices)


@dataclass
class Filling:
    """What the write caches of a modelled array held before the measured time, and how much more while it lasted.

    ``peak_bytes`` is the most at the end of any interval of the warm-up, ``measured_peak_bytes`` of the measured time; ``begin_bytes`` is
    what they held at its beginning, ``begins_bytes`` where destaging begins, ``destages`` whether it had when the measured time began, and
    ``seconds`` for how much of that time it had not.
    """

    peak_bytes: float = 0.0
    begin_bytes: float = 0.0
    measured_peak_bytes: float = 0.0
    seconds: float = 0.0
    begins_bytes: float = 0.0
    destages: bool = False

    def add(self, caches: WriteCaches, seconds: float, *, measured: bool) -> None:
        """The end of one interval."""
        held, destages = float(caches.get("dirty_bytes") or 0.0), bool(caches.get("destages"))
        self.begins_bytes = float(caches.get("begins_bytes") or 0.0)
        if measured:
            self.measured_peak_bytes = max(self.measured_peak_bytes, held)
            self.seconds += 0.0 if destages else seconds
        else:
            self.peak_bytes, self.begin_bytes = max(self.peak_bytes, held), held
            self.destages = destages and held > 0


class Observation:
    """Accumulates one job."""

    def __init__(self, drawn: Mapping[str, frozenset[str]] | None = None) -> None:
        self._drawn = drawn or {}
        self.series = Series()
        self.elapsed_s = 0.0
        self.warmup_s = 0.0
        self.drain_s = 0.0
        self.drain_latency_max_ns = 0
        #: Requests that completed after the measured time, in the drain or once the goal of the point was reached.
        self.late_count = 0
        #: Those of them that were drawn, and did not merely come with another operation on files.
        self.late_drawn_count = 0
        #: Requests that completed in the warm-up.
        self.warmup_count = 0
        #: How long the longest measured interval was.
        self.interval_ns = 0
        self.lag_late = 0
        self.lag_p99_ns = 0
        self.lag_max_ns = 0
        #: Of a modelled array that keeps writes.
        self.filling: Filling | None = None
        self._inflight_s = 0.0
        #: For how long, summed up, what was in flight at the end of the last interval had been so, and what was at either edge of the
        #: measured time; None where an interval does not tell.
        self._age_ns: float | None = 0.0
        self._opening_age_ns: float | None = None
        self._closing_age_ns: float | None = None

    def add(self, interval: Interval) -> None:
        """Take one interval of any phase into account."""
        seconds = (interval["end_ns"] - interval["start_ns"]) / 1e9
        phase = interval["phase"]
        if phase == "warmup":
            self.warmup_s += seconds
            self.warmup_count += _count(interval)
        elif phase == "after":
            self._late(interval)  # arrived after the point had ended by its goal
        elif phase == "drain":
            self.drain_s += seconds
            self._late(interval)
            maxima = [entry.get("max_ns") or 0 for entry in interval.get("summary", {}).values()]
            self.drain_latency_max_ns = max(self.drain_latency_max_ns, *maxima, 0)
        else:
            self._measure(interval, seconds)
        self._age_ns = interval.get("inflight_age_ns")
        caches = interval.get("write_caches")
        if caches and phase in ("warmup", "measure"):
            self.filling = self.filling or Filling()
            self.filling.add(caches, seconds, measured=phase == "measure")

    @property
    def inflight_mean(self) -> float | None:
        """Requests in flight, averaged over the measured time; None when nothing was measured."""
        return self._inflight_s / self.elapsed_s if self.elapsed_s > 0 else None

    @property
    def edges_s(self) -> float | None:
        """Seconds in flight that no request counted in the measured time accounts for, less those that such requests spent before it.

        A request counts with its whole service time in the measured time if it completes there. What it spent in flight before the
        opening edge is too much; what those spend that are in flight at the closing edge is missing. None when that is not recorded.
        """
        if self._opening_age_ns is None or self._closing_age_ns is None:
            return None
        return (self._closing_age_ns - self._opening_age_ns) / 1e9

    def _late(self, interval: Interval) -> None:
        count = _count(interval)
        self.late_count += count
        if not self._drawn:
            self.late_drawn_count += count
            return
        cells = [cell for cell in interval["cells"] if cell.get("part") is None]
        self.late_drawn_count += sum(int(cell["count"]) for cell in cells if portion_key(cell, self._drawn) == cell["op"])

    def _measure(self, interval: Interval, seconds: float) -> None:
        if not self.elapsed_s:
            self._opening_age_ns = self._age_ns
        self._closing_age_ns = interval.get("inflight_age_ns")
        self.elapsed_s += seconds
        self.interval_ns = max(self.interval_ns, interval["end_ns"] - interval["start_ns"])
        self._inflight_s += (interval.get("inflight_mean") or 0.0) * seconds
        entries = list(interval.get("summary", {}).values())
        count = sum(entry["count"] for entry in entries)
        latency_sum_ns = sum(entry["count"] * (entry.get("mean_ns") or 0.0) for entry in entries)
        self.series.add(Slice(seconds, count, latency_sum_ns))
        lag = interval.get("lag")
        if lag:
            self.lag_late += lag.get("late") or 0
            self.lag_p99_ns = max(self.lag_p99_ns, lag.get("p99_ns") or 0)
            self.lag_max_ns = max(self.lag_max_ns, lag.get("max_ns") or 0)


def _count(interval: Interval) -> int:
    return sum(int(entry["count"]) for entry in interval.get("summary", {}).values())
