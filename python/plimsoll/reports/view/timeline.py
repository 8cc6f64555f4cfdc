"""A point over time, and the distribution of its latencies.

Latency distributions: read percentiles, cut them into heat-map bands.

Model: a distribution is a sorted list of buckets ``(upper_ns, count)`` as ``Histogram.buckets()`` yields them; every I/O of a
bucket is taken at its upper bound, which is how HDR histograms report percentiles, so a percentile computed here equals the
one stored in the result.
Limits: nothing below the resolution of the histogram (1/256) can be told apart; the curve is thinned to what a screen can show.

    value_at([(100, 4), (200, 4)], 50.0)                   # 100

A point over time: rates, latency percentiles, heat-map columns and host counters per interval.

Model: the intervals of a point become at most COLUMNS columns. When there are more intervals than that, neighbours of the same
phase are merged losslessly (counts add, histograms merge); ``merged`` tells how many make one column. Intervals and samples are gone
through twice, first for where they begin and end, then column by column, so that a report of many hours keeps one column of them at most.
Limits: host samples are thinned the same way by averaging, so a spike shorter than one column shows only in the measured latencies.

    timeline(intervals, decode)["ops"]["read"]["iops"]     # one number per column, I/Os per second
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, groupby, islice
from statistics import median
from typing import Any, Literal, Protocol, TypedDict

from plimsoll.result import OPS, Op
from plimsoll.stored import Cell, Interval, Sample

Buckets = list[tuple[int, int]]
"""Sorted ``(upper_ns, count)`` with counts above zero."""


class Drawn(Protocol):
    """What is asked of a distribution, as `Distribution` answers it."""

    def add(self, other: Any, /) -> None:
        """Add another's counts."""

    def value_at(self, percent: float, /) -> int | None:
        """The latency in ns that ``percent`` of the I/Os did not exceed (nearest rank); None without I/Os."""

    def bands(self, edges_ns: Sequence[int], /) -> list[int]:
        """One heat-map column as ``[first band, count, count, …]`` of bands with these lowest latencies; empty without I/Os."""

    def buckets(self) -> Buckets:
        """The buckets."""


Decoder = Callable[[Iterable[str]], Drawn]
"""From histograms as stored (HDR V2 deflate, base64) to the distribution of all together, added up without loss."""

BANDS_PER_DECADE = 12
"""A heat-map band is 21 % wide, and every twelfth edge is a power of ten."""

LONGEST_NS = 2**42 - 1
"""The longest latency that a histogram tells apart."""

LEVELS = (0.0, 10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95, 99.99, 99.999, 99.9999)
"""Percentiles listed in the table below a curve, as far as the number of I/Os supports them."""

_CURVE_STEP_NINES = 0.012
_CURVE_STEP_RATIO = 1.08


class Distribution:
    """The definition, in plain Python, of what `plimsoll.histogram.Distribution` answers quickly."""

    def __init__(self, buckets: Buckets) -> None:
        self._buckets = buckets
        self._running = list(accumulate([count for _, count in buckets]))

    def add(self, other: Distribution) -> None:
        """Add another's counts."""
        total = Counter(dict(self._buckets))
        for upper_ns, count in other.buckets():
            total[upper_ns] += count
        self._buckets = sorted(total.items())
        self._running = list(accumulate(total[upper_ns] for upper_ns, _ in self._buckets))

    def value_at(self, percent: float) -> int | None:
        """The latency in ns that ``percent`` of the I/Os did not exceed (nearest rank, as HDR histograms define it)."""
        if not self._buckets:
            return None
        return _at_rank(self._buckets, self._running, percent)

    def bands(self, edges_ns: Sequence[int]) -> list[int]:
        """One heat-map column as ``[first band, count, count, …]``; empty when there was no I/O."""
        if not self._buckets:
            return []
        numbers = [bisect_right(edges_ns, upper_ns) - 1 for upper_ns, _ in self._buckets]
        column = [0] * (numbers[-1] - numbers[0] + 1)
        for number, (_, count) in zip(numbers, self._buckets, strict=True):
            column[number - numbers[0]] += count
        return [numbers[0], *column]

    def buckets(self) -> Buckets:
        """The buckets."""
        return self._buckets


def _at_rank(buckets: Buckets, running: Sequence[int], percent: float) -> int:
    rank = max(1, math.ceil(percent / 100.0 * running[-1] - 1e-9))
    return buckets[bisect_left(running, rank)][0]


def levels(buckets: Buckets) -> list[tuple[float, int]]:
    """``(percent, ns)`` for every level of LEVELS that at least one I/O lies beyond, and the maximum at 100."""
    running = list(accumulate([count for _, count in buckets]))
    held = [percent for percent in LEVELS if running[-1] * (1.0 - percent / 100.0) >= 1.0]
    return [(percent, _at_rank(buckets, running, percent)) for percent in held] + [(100.0, buckets[-1][0])]


def curve(buckets: Buckets) -> list[tuple[float, int]]:
    """``(nines, ns)``: 0 is the minimum, 1 the 90th percentile, 2 the 99th, 3 the 99.9th; the last point is the maximum.

    The maximum of n I/Os is drawn at log10(n) nines, where the last single I/O stands.
    """
    total = sum(count for _, count in buckets)
    points: list[tuple[float, int]] = [(0.0, buckets[0][0])]
    running = 0
    for upper_ns, count in buckets[:-1]:
        running += count
        nines = -math.log10(1.0 - running / total)
        last_nines, last_ns = points[-1]
        if nines - last_nines >= _CURVE_STEP_NINES or upper_ns >= last_ns * _CURVE_STEP_RATIO:
            points.append((round(nines, 4), upper_ns))
    points.append((round(max(math.log10(total), points[-1][0]), 4), buckets[-1][0]))
    return points


@cache
def band_of(latency_ns: int) -> int:
    """The heat-map band a latency belongs to: band b covers 10^(b/12) to 10^((b+1)/12) ns."""
    return math.floor(math.log10(max(latency_ns, 1)) * BANDS_PER_DECADE + 1e-9)


@cache
def _edge(band: int) -> int:
    """The lowest whole latency of a band, in ns."""
    edge = max(0, math.floor(10 ** (band / BANDS_PER_DECADE)) - 1)
    while band_of(edge) < band:
        edge += 1
    return edge


@cache
def band_edges_ns() -> tuple[int, ...]:
    """The lowest latency of every band that a histogram reaches."""
    return tuple(_edge(band) for band in range(band_of(LONGEST_NS) + 1))


COLUMNS = 240
"""Columns of a time chart: about one per three pixels of a desktop-wide panel."""


FEW = 512
"""So many intervals of a point are kept while it is drawn: some megabytes."""

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
class _Frame:
    """Where an interval lies."""

    phase: str | None
    start_ns: int
    end_ns: int


def timeline(intervals: Iterable[Interval], decode: Decoder, most: int = COLUMNS) -> Timeline | None:
    """All that the time charts, the heat map and the percentile curves of a point show in at most ``most`` columns per phase.

    None when nothing was recorded. ``intervals`` can be gone through more than once.
    """
    intervals = _at_hand(intervals)
    frames, ops = _surveyed(intervals)
    if not frames:
        return None
    columns = list(_columns(frames, most))
    shortest_s = SHORTEST_COLUMN * median(_seconds(column) for column in columns)
    measured, service = ({op: decode(()) for op in ops} for _ in range(2))
    series = {op: _empty_series() for op in ops}
    heat: dict[Op, list[list[int]]] = {op: [] for op in ops}
    lags: list[int | None] = []
    remaining = iter(intervals)
    for frame in columns:
        column = list(islice(remaining, len(frame)))
        lags.append(max((late for interval in column if (late := (interval.get("lag") or {}).get("p99_ns")) is not None), default=None))
        for op in ops:
            latencies, services = _distributions(column, op, decode)
            _append(series[op], column, op, latencies, _seconds(frame) if _seconds(frame) >= shortest_s else None)
            heat[op].append(latencies.bands(band_edges_ns()))
            if frame[0].phase == "measure":
                measured[op].add(latencies)
                service[op].add(services)
    return {
        "merged": math.ceil(len(frames) / most),
        "start_s": [significant(frame[0].start_ns / 1e9) for frame in columns],
        "end_s": [significant(frame[-1].end_ns / 1e9) for frame in columns],
        "warmup_end_s": _phase_end_s(frames, "warmup"),
        "measure_end_s": _phase_end_s(frames, "measure"),
        "ops": series,
        "heat": heat,
        "lag_p99_ns": lags if any(lag is not None for lag in lags) else None,
        "curves": [*_curves("latency", measured), *_curves("service", service)],
    }


def _at_hand(intervals: Iterable[Interval]) -> Iterable[Interval]:
    """The intervals themselves where they are few, so that they are read once; what lasted for hours is gone through twice."""
    few = list(islice(intervals, FEW + 1))
    return few if len(few) <= FEW else intervals


def _surveyed(intervals: Iterable[Interval]) -> tuple[list[_Frame], list[Op]]:
    """Where the intervals lie, and which operations occur in them."""
    frames: list[_Frame] = []
    found: set[str] = set()
    for interval in intervals:
        frames.append(_Frame(interval.get("phase"), interval["start_ns"], interval["end_ns"]))
        found |= _ops(interval)
    return frames, [op for op in OPS if op in found]


def _columns(frames: Sequence[_Frame], most: int) -> Iterator[list[_Frame]]:
    size = math.ceil(len(frames) / most)
    for _, same_phase in groupby(frames, key=lambda frame: frame.phase):
        group = list(same_phase)
        yield from (group[start : start + size] for start in range(0, len(group), size))


def _seconds(column: Sequence[_Frame]) -> float:
    return (column[-1].end_ns - column[0].start_ns) / 1e9


def _ops(interval: Interval) -> set[str]:
    return {cell["op"] for cell in interval.get("cells", ())} | set(interval.get("summary", {}))


def _cells(column: Iterable[Interval], op: str) -> Iterator[Cell]:
    for interval in column:
        # What the parts of a target saw is the same requests once more.
        whole = (cell for cell in interval.get("cells", ()) if cell.get("part") is None)
        yield from (cell for cell in whole if cell["op"] == op and cell.get("latency"))


def _distributions(column: Sequence[Interval], op: str, decode: Decoder) -> tuple[Drawn, Drawn]:
    """Latency and service time of one column; the second is empty where both are the same."""
    latency = decode(text for cell in _cells(column, op) if (text := cell.get("latency")))
    return latency, decode(text for cell in _cells(column, op) if (text := cell.get("service")))


def _empty_series() -> Series:
    return {"iops": [], "bytes_per_s": [], "p50_ns": [], "p99_ns": [], "max_ns": [], "errors": []}


def _append(series: Series, column: Sequence[Interval], op: str, latencies: Drawn, seconds: float | None) -> None:
    """The figures of one column; a column too short for rates has no ``seconds``."""
    parts = [entry for interval in column if (entry := interval.get("summary", {}).get(op))]
    totals = sum(part["count"] for part in parts), sum(part.get("bytes") or 0 for part in parts)
    for rates, total in zip((series["iops"], series["bytes_per_s"]), totals, strict=True):
        rates.append(None if seconds is None else significant(total / seconds))
    series["errors"].append(sum(part.get("errors") or 0 for part in parts))
    median_ns = latencies.value_at(50.0)
    series["p50_ns"].append(median_ns)
    series["p99_ns"].append(latencies.value_at(99.0))
    series["max_ns"].append(max((part.get("max_ns") or 0 for part in parts), default=0) if median_ns is not None else None)


def _phase_end_s(frames: Sequence[_Frame], phase: str) -> float | None:
    ends = [frame.end_ns for frame in frames if frame.phase == phase]
    return significant(max(ends) / 1e9) if ends else None


def _curves(kind: Literal["latency", "service"], measured: Mapping[Op, Drawn]) -> Iterator[Curve]:
    for op, total in measured.items():
        buckets = total.buckets()
        if buckets:
            count = sum(count for _, count in buckets)
            yield {"op": op, "kind": kind, "count": count, "nines": curve(buckets), "levels": levels(buckets)}


def host_timeline(samples: Iterable[Sample], most: int = COLUMNS) -> HostTimeline | None:
    """CPU shares and device counters over time; None when the host was not observed. ``samples`` can be gone through more than once."""
    spans: list[tuple[float, float]] = []
    names: dict[str, None] = {}
    for start_s, end_s, sample in _spans(samples):
        spans.append((start_s, end_s))
        names.update(dict.fromkeys(sample.get("devices") or ()))
    if not spans:
        return None
    size = math.ceil(len(spans) / most)
    columns = [spans[start : start + size] for start in range(0, len(spans), size)]
    cpu: list[list[float | None]] = []
    devices: dict[str, list[list[float | None]]] = {name: [] for name in names}
    remaining = iter(samples)
    for span in columns:
        column = list(islice(remaining, len(span)))
        cpu.append(_means([sample.get("cpu") or {} for sample in column], CPU_COUNTERS))
        for name, means in devices.items():
            means.append(_means([(sample.get("devices") or {}).get(name) or {} for sample in column], DEVICE_COUNTERS))
    return {
        "start_s": [significant(column[0][0]) for column in columns],
        "end_s": [significant(column[-1][1]) for column in columns],
        "cpu": _by_counter(cpu, CPU_COUNTERS),
        "devices": {name: _by_counter(means, DEVICE_COUNTERS) for name, means in devices.items()},
    }


def _spans(samples: Iterable[Sample]) -> Iterator[tuple[float, float, Sample]]:
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
