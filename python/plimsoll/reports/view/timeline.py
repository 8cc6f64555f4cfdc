"""A point over time: rates, latency percentiles, heat-map columns and host counters per interval.

Model: the intervals of a point become at most COLUMNS columns. When there are more intervals than that, neighbours of the same
phase are merged losslessly (counts add, histograms merge); ``merged`` tells how many make one column. How many there are is known before
they are read, so they are read once, and of many hours a few at a time are kept.
Limits: host samples are thinned the same way by averaging, so a spike shorter than one column shows only in the measured latencies. Of a
point that goes on, intervals that came after they were counted make further columns.

    timeline(intervals, decode)["ops"]["read"]["iops"]     # one number per column, I/Os per second
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from statistics import median
from typing import Any, Literal, Protocol, TypedDict, TypeVar

from plimsoll.reports.view.distribution import CURVE_STEPS, LEVELS, Decoder, LatencyDistribution, band_edges_ns
from plimsoll.result import OPS, Op
from plimsoll.stored import Cell, Interval, Sample

Record_co = TypeVar("Record_co", covariant=True)


class Records(Protocol[Record_co]):
    """Lines of a point in order of time, of which is known how many there are."""

    def __len__(self) -> int:
        """How many there are."""

    def __iter__(self) -> Iterator[Record_co]:
        """Each of them."""


COLUMNS = 240
"""Columns of a time chart: about one per three pixels of a desktop-wide panel."""


FEW = 512
"""So many histograms of a column are kept until they are added up: some hundred kilobytes."""

SHORTEST_COLUMN = 0.2
"""A column shorter than this share of the usual one has no rate: a few I/Os that end a point in a millisecond are no throughput."""


class Series(TypedDict):
    """Figures of one operation, column by column; null for a column too short to have a rate."""

    iops: list[float | None]
    bytes_per_s: list[float | None]
    p50_ns: list[int | None]
    p99_ns: list[int | None]
    max_ns: list[int | None]
    errors: list[int]


class Curve(TypedDict):
    """The distribution of the measured latencies of one operation."""

    op: Op
    kind: Literal["latency", "service"]
    count: int
    #: `[nines, ns]`: 1 nine is the 90th percentile, 2 the 99th; the last is the maximum.
    nines: list[tuple[float, int]]
    #: `[percent, ns]`, ending with the maximum at 100.
    levels: list[tuple[float, int]]


class Timeline(TypedDict):
    """A point over time, in columns."""

    #: Intervals that make one column.
    merged: int
    start_s: list[float]
    end_s: list[float]
    warmup_end_s: float | None
    measure_end_s: float | None
    ops: dict[Op, Series]
    #: Per column `[first band, count, count, …]`; band b covers 10^(b/12) to 10^((b+1)/12) ns.
    heat: dict[Op, list[list[int]]]
    lag_p99_ns: list[int | None] | None
    curves: list[Curve]


class HostTimeline(TypedDict):
    """CPU shares and device counters over time."""

    start_s: list[float]
    end_s: list[float]
    cpu: dict[str, list[float | None]]
    devices: dict[str, dict[str, list[float | None]]]


CPU_COUNTERS = ("user_percent", "system_percent", "iowait_percent", "steal_percent")
DEVICE_COUNTERS = (
    *("r_per_s", "w_per_s", "read_bytes_per_s", "write_bytes_per_s"),
    *("r_await_ms", "w_await_ms", "queue_mean", "util_percent"),
)


def significant(value: float, digits: int = 5) -> float:
    """Round for the page: far finer than any screen, far shorter than a double."""
    if value == 0 or not math.isfinite(value):
        return 0
    rounded = round(value, digits - 1 - math.floor(math.log10(abs(value))))
    return int(rounded) if rounded == int(rounded) else rounded


@dataclass(frozen=True, slots=True)
class _Sums:
    """One operation in one column."""

    count: int = 0
    bytes: int = 0
    errors: int = 0
    p50_ns: int | None = None
    p99_ns: int | None = None
    max_ns: int | None = None
    bands: Sequence[int] = ()


@dataclass
class _Latencies:
    """Histograms that are added up a few at a time."""

    decode: Decoder
    total: LatencyDistribution | None = None
    texts: list[str] = field(default_factory=list)

    def add(self, text: str) -> None:
        self.texts.append(text)
        if len(self.texts) == FEW:
            self.together()

    def together(self) -> LatencyDistribution:
        """All of them."""
        if self.total is None:
            self.total = self.decode(self.texts)
        elif self.texts:
            self.total.add(self.decode(self.texts))
        self.texts.clear()
        return self.total


@dataclass
class _OpColumn:
    """One operation in a column that is being read."""

    latencies: _Latencies
    count: int = 0
    bytes: int = 0
    errors: int = 0
    max_ns: int = 0

    def closed(self) -> tuple[_Sums, LatencyDistribution]:
        drawn = self.latencies.together()
        percentiles = drawn.values_at((50.0, 99.0))
        p50_ns, p99_ns, max_ns = (*percentiles, self.max_ns) if percentiles else (None, None, None)
        return _Sums(self.count, self.bytes, self.errors, p50_ns, p99_ns, max_ns, drawn.bands(band_edges_ns())), drawn


class _Column:
    """Neighbouring intervals of one phase."""

    def __init__(self, first: Interval, decode: Decoder) -> None:
        self.phase: str | None = first.get("phase")
        self.start_ns = first["start_ns"]
        self.end_ns = 0
        self.intervals = 0
        self.lag_p99_ns: int | None = None
        self.ops: dict[str, _OpColumn] = {}
        self._decode = decode

    @property
    def seconds(self) -> float:
        return (self.end_ns - self.start_ns) / 1e9

    def of(self, op: str) -> _OpColumn:
        """What an operation did in it."""
        found = self.ops.get(op)
        if found is None:
            found = self.ops[op] = _OpColumn(_Latencies(self._decode))
        return found

    def add(self, interval: Interval) -> None:
        """One more interval, but for its service times."""
        self.intervals += 1
        self.end_ns = interval["end_ns"]
        late_ns = (interval.get("lag") or {}).get("p99_ns")
        if late_ns is not None:
            self.lag_p99_ns = max(late_ns, self.lag_p99_ns or 0)
        for op, part in interval.get("summary", {}).items():
            sums = self.of(op)
            sums.count += part["count"]
            sums.bytes += part.get("bytes") or 0
            sums.errors += part.get("errors") or 0
            sums.max_ns = max(sums.max_ns, part.get("max_ns") or 0)
        for cell in interval.get("cells", ()):
            sums = self.of(cell["op"])
            if text := _latency(cell):
                sums.latencies.add(text)


def _latency(cell: Cell) -> str | None:
    """The histogram of a cell; what the parts of a target saw is the same requests once more."""
    return cell.get("latency") if cell.get("part") is None else None


@dataclass
class _Course:
    """What the columns that were read leave."""

    decode: Decoder
    columns: list[tuple[_Column, dict[str, _Sums]]] = field(default_factory=list)
    ends_ns: dict[str | None, int] = field(default_factory=dict)
    measured: dict[str, LatencyDistribution] = field(default_factory=dict)
    service: dict[str, _Latencies] = field(default_factory=dict)

    def served(self, interval: Interval) -> None:
        """The service times of an interval: only those of the measured time are drawn, all together."""
        for cell in interval.get("cells", ()):
            if _latency(cell) and (text := cell.get("service")):
                self.service.setdefault(cell["op"], _Latencies(self.decode)).add(text)

    def close(self, column: _Column) -> None:
        """A column is full."""
        self.ends_ns[column.phase] = max(column.end_ns, self.ends_ns.get(column.phase, 0))
        closed = {op: one.closed() for op, one in column.ops.items()}
        column.ops.clear()
        self.columns.append((column, {op: sums for op, (sums, _) in closed.items()}))
        if column.phase == "measure":
            for op, (_, drawn) in closed.items():
                if op in self.measured:
                    self.measured[op].add(drawn)
                else:
                    self.measured[op] = drawn

    def end_s(self, phase: str) -> float | None:
        """When a phase ended; None where there was none."""
        return significant(self.ends_ns[phase] / 1e9) if phase in self.ends_ns else None


def timeline(intervals: Records[Interval], decode: Decoder, most: int = COLUMNS) -> Timeline | None:
    """All that the time charts, the heat map and the percentile curves of a point show in at most ``most`` columns per phase.

    None when nothing was recorded. Curves are as much coarser as there are fewer columns than COLUMNS.
    """
    size = math.ceil(len(intervals) / most) or 1
    course = _read(intervals, decode, size)
    if not course.columns:
        return None
    columns = [column for column, _ in course.columns]
    found = {op for _, sums in course.columns for op in sums}
    ops = [op for op in OPS if op in found]
    shortest_s = SHORTEST_COLUMN * median(column.seconds for column in columns)
    rated_s = [column.seconds if column.seconds >= shortest_s else None for column in columns]
    by_op = {op: [sums.get(op, _Sums()) for _, sums in course.columns] for op in ops}
    lags = [column.lag_p99_ns for column in columns]
    steps = _curve_steps(most)
    service = {op: latencies.together() for op, latencies in course.service.items()}
    return {
        "merged": size,
        "start_s": [significant(column.start_ns / 1e9) for column in columns],
        "end_s": [significant(column.end_ns / 1e9) for column in columns],
        "warmup_end_s": course.end_s("warmup"),
        "measure_end_s": course.end_s("measure"),
        "ops": {op: _series(sums, rated_s) for op, sums in by_op.items()},
        "heat": {op: [list(one.bands) for one in sums] for op, sums in by_op.items()},
        "lag_p99_ns": lags if any(lag is not None for lag in lags) else None,
        "curves": [*_curves("latency", course.measured, ops, steps), *_curves("service", service, ops, steps)],
    }


def _read(intervals: Records[Interval], decode: Decoder, size: int) -> _Course:
    """The intervals, once, in columns of ``size`` of the same phase."""
    course = _Course(decode)
    column: _Column | None = None
    for interval in intervals:
        if column is None or column.intervals == size or column.phase != interval.get("phase"):
            if column is not None:
                course.close(column)
            column = _Column(interval, decode)
        column.add(interval)
        if column.phase == "measure":
            course.served(interval)
    if column is not None:
        course.close(column)
    return course


def _series(columns: Sequence[_Sums], rated_s: Sequence[float | None]) -> Series:
    """The figures of one operation; a column too short for rates has no seconds."""
    pairs = list(zip(columns, rated_s, strict=True))
    return {
        "iops": [None if seconds is None else significant(one.count / seconds) for one, seconds in pairs],
        "bytes_per_s": [None if seconds is None else significant(one.bytes / seconds) for one, seconds in pairs],
        "p50_ns": [one.p50_ns for one in columns],
        "p99_ns": [one.p99_ns for one in columns],
        "max_ns": [one.max_ns for one in columns],
        "errors": [one.errors for one in columns],
    }


def _curve_steps(most: int) -> tuple[float, float]:
    """How far apart the points of a curve are: a chart that is coarser in time is looked at less, and is coarser in this as well."""
    nines, ratio = CURVE_STEPS
    times = math.sqrt(max(1.0, COLUMNS / most))
    return nines * times, 1.0 + (ratio - 1.0) * times


def _curves(
    kind: Literal["latency", "service"], measured: Mapping[str, LatencyDistribution], ops: Sequence[Op], steps: tuple[float, float]
) -> Iterator[Curve]:
    for op in ops:
        drawn = measured.get(op)
        if drawn is not None and drawn.count:
            yield {"op": op, "kind": kind, "count": drawn.count, "nines": drawn.curve(*steps), "levels": drawn.levels(LEVELS)}


def host_timeline(samples: Records[Sample], most: int = COLUMNS) -> HostTimeline | None:
    """CPU shares and device counters over time; None when the host was not observed."""
    size = math.ceil(len(samples) / most) or 1
    spans: list[tuple[float, float]] = []
    cpu: list[list[float | None]] = []
    devices: dict[str, list[list[float | None]]] = {}
    remaining = _spans(samples)
    while column := list(islice(remaining, size)):
        cpu.append(_means([sample.get("cpu") or {} for _, _, sample in column], CPU_COUNTERS))
        for name in dict.fromkeys(name for _, _, sample in column for name in sample.get("devices") or ()):
            devices.setdefault(name, [[None] * len(DEVICE_COUNTERS)] * len(spans))
        for name, means in devices.items():
            means.append(_means([(sample.get("devices") or {}).get(name) or {} for _, _, sample in column], DEVICE_COUNTERS))
        spans.append((column[0][0], column[-1][1]))
    if not spans:
        return None
    return {
        "start_s": [significant(start_s) for start_s, _ in spans],
        "end_s": [significant(end_s) for _, end_s in spans],
        "cpu": _by_counter(cpu, CPU_COUNTERS),
        "devices": {name: _by_counter(means, DEVICE_COUNTERS) for name, means in devices.items()},
    }


def _spans(samples: Records[Sample]) -> Iterator[tuple[float, float, Sample]]:
    """``(start, end, sample)`` in seconds; samples that do not say when they ended follow each other without a gap."""
    clock_s = 0.0
    for sample in samples:
        seconds = sample.get("seconds", 0.0)
        if "end_ns" in sample:
            clock_s = sample["end_ns"] / 1e9 - seconds
        yield clock_s, clock_s + seconds, sample
        clock_s += seconds


def _means(column: Sequence[Mapping[str, Any]], counters: Sequence[str]) -> list[float | None]:
    """The mean of each counter in one column, None where it was not read."""
    values = ([counted[counter] for counted in column if counted.get(counter) is not None] for counter in counters)
    return [significant(sum(value) / len(value), 4) if value else None for value in values]


def _by_counter(columns: Sequence[Sequence[float | None]], counters: Sequence[str]) -> dict[str, list[float | None]]:
    """The columns of each counter; counters that never were read are left out."""
    found = {counter: [means[place] for means in columns] for place, counter in enumerate(counters)}
    return {counter: means for counter, means in found.items() if any(mean is not None for mean in means)}
