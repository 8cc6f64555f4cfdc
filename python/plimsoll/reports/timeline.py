"""A point over time: rates, latency percentiles, heat-map columns and host counters per interval.

Model: the intervals of a point become at most COLUMNS columns. When there are more intervals than that, neighbours of the same
phase are merged losslessly (counts add, histograms merge); ``merged`` tells how many make one column.
Limits: host samples are thinned the same way by averaging, so a spike shorter than one column shows only in the measured latencies.

    timeline(intervals, decode)["ops"]["read"]["iops"]     # one number per column, I/Os per second
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from statistics import median
from typing import Any

from plimsoll.reports.distribution import Buckets, Decoder, bands, curve, levels, merge, value_at
from plimsoll.result import OPS

Json = Mapping[str, Any]

COLUMNS = 240
"""Columns of a time chart: about one per three pixels of a desktop-wide panel."""


SHORTEST_COLUMN = 0.2
"""A column shorter than this share of the usual one has no rate: a few I/Os that end a point in a millisecond are no throughput."""

CPU_COUNTERS = ("user_percent", "system_percent", "iowait_percent", "steal_percent")
DEVICE_COUNTERS = ("r_per_s", "w_per_s", "r_await_ms", "w_await_ms", "queue_mean", "util_percent")


def significant(value: float, digits: int = 5) -> float:
    """Round for the page: far finer than any screen, far shorter than a double."""
    if value == 0 or not math.isfinite(value):
        return 0
    rounded = round(value, digits - 1 - math.floor(math.log10(abs(value))))
    return int(rounded) if rounded == int(rounded) else rounded


def timeline(intervals: Sequence[Json], decode: Decoder, most: int = COLUMNS) -> dict[str, Any] | None:
    """All that the time charts, the heat map and the percentile curves of a point show in at most ``most`` columns per phase.

    None when nothing was recorded.
    """
    if not intervals:
        return None
    columns = list(_columns(intervals, most))
    shortest_s = SHORTEST_COLUMN * median(_seconds(column) for column in columns)
    ops = [op for op in OPS if any(op in _ops(interval) for interval in intervals)]
    measured: dict[str, Counter[int]] = {op: Counter() for op in ops}
    service: dict[str, Counter[int]] = {op: Counter() for op in ops}
    series = {op: _empty_series() for op in ops}
    heat: dict[str, list[list[int]]] = {op: [] for op in ops}
    for column in columns:
        for op in ops:
            buckets, service_buckets = _histograms(column, op, decode)
            _append(series[op], column, op, buckets, shortest_s)
            heat[op].append(bands(buckets))
            if column[0].get("phase") == "measure":
                _add(measured[op], buckets)
                _add(service[op], service_buckets)
    return {
        "merged": math.ceil(len(intervals) / most),
        "start_s": [significant(column[0]["start_ns"] / 1e9) for column in columns],
        "end_s": [significant(column[-1]["end_ns"] / 1e9) for column in columns],
        "warmup_end_s": _phase_end_s(intervals, "warmup"),
        "measure_end_s": _phase_end_s(intervals, "measure"),
        "ops": series,
        "heat": heat,
        "lag_p99_ns": _lags(columns),
        "curves": [*_curves("latency", measured), *_curves("service", service)],
    }


def _columns(intervals: Sequence[Json], most: int) -> Iterator[list[Json]]:
    size = math.ceil(len(intervals) / most)
    for _, same_phase in groupby(intervals, key=lambda interval: interval.get("phase")):
        group = list(same_phase)
        yield from (group[start : start + size] for start in range(0, len(group), size))


def _seconds(column: Sequence[Json]) -> float:
    return float(column[-1]["end_ns"] - column[0]["start_ns"]) / 1e9


def _ops(interval: Json) -> set[str]:
    return {cell["op"] for cell in interval.get("cells", ())} | set(interval.get("summary", {}))


def _cells(column: Iterable[Json], op: str) -> Iterator[Json]:
    for interval in column:
        # What the parts of a target saw is the same requests once more.
        whole = (cell for cell in interval.get("cells", ()) if cell.get("part") is None)
        yield from (cell for cell in whole if cell["op"] == op and cell.get("latency"))


def _histograms(column: Sequence[Json], op: str, decode: Decoder) -> tuple[Buckets, Buckets]:
    """Latency and service time of one column; the second is empty where both are the same."""
    latency, service = [], []
    for cell in _cells(column, op):
        latency.append(decode(cell["latency"]))
        if cell.get("service"):
            service.append(decode(cell["service"]))
    return merge(latency), merge(service)


def _empty_series() -> dict[str, list[Any]]:
    return {name: [] for name in ("iops", "bytes_per_s", "p50_ns", "p99_ns", "max_ns", "errors")}


def _append(series: dict[str, list[Any]], column: Sequence[Json], op: str, buckets: Buckets, shortest_s: float) -> None:
    seconds = _seconds(column)
    parts = [interval.get("summary", {}).get(op, {}) for interval in column]
    for name, counted in (("iops", "count"), ("bytes_per_s", "bytes")):
        total = sum(part.get(counted, 0) for part in parts)
        series[name].append(significant(total / seconds) if seconds >= shortest_s else None)
    series["errors"].append(sum(_error_count(part.get("errors", 0)) for part in parts))
    series["p50_ns"].append(value_at(buckets, 50.0) if buckets else None)
    series["p99_ns"].append(value_at(buckets, 99.0) if buckets else None)
    series["max_ns"].append(max((part.get("max_ns") or 0 for part in parts), default=0) if buckets else None)


def _error_count(errors: int | Mapping[str, int]) -> int:
    return errors if isinstance(errors, int) else sum(errors.values())


def _phase_end_s(intervals: Sequence[Json], phase: str) -> float | None:
    ends = [interval["end_ns"] for interval in intervals if interval.get("phase") == phase]
    return significant(max(ends) / 1e9) if ends else None


def _lags(columns: Sequence[Sequence[Json]]) -> list[int | None] | None:
    """The generator's own lateness per column (99th percentile, worst interval); None for a closed loop."""
    lags = [[interval["lag"]["p99_ns"] for interval in column if interval.get("lag")] for column in columns]
    return [max(lag, default=None) for lag in lags] if any(lags) else None


def _add(total: Counter[int], buckets: Buckets) -> None:
    for upper_ns, count in buckets:
        total[upper_ns] += count


def _curves(kind: str, measured: Mapping[str, Counter[int]]) -> Iterator[dict[str, Any]]:
    for op, total in measured.items():
        buckets = sorted(total.items())
        if buckets:
            count = sum(count for _, count in buckets)
            yield {"op": op, "kind": kind, "count": count, "nines": curve(buckets), "levels": levels(buckets)}


def host_timeline(samples: Iterable[Json], most: int = COLUMNS) -> dict[str, Any] | None:
    """CPU shares and device counters over time; None when the host was not observed."""
    spans = list(_spans(samples))
    if not spans:
        return None
    size = math.ceil(len(spans) / most)
    columns = [spans[start : start + size] for start in range(0, len(spans), size)]
    names = list(dict.fromkeys(name for _, _, sample in spans for name in sample.get("devices") or ()))
    return {
        "start_s": [significant(column[0][0]) for column in columns],
        "end_s": [significant(column[-1][1]) for column in columns],
        "cpu": _means(columns, lambda sample: sample.get("cpu"), CPU_COUNTERS),
        "devices": {name: _means(columns, _counters_of(name), DEVICE_COUNTERS) for name in names},
    }


def _counters_of(device: str) -> Callable[[Json], Json | None]:
    return lambda sample: (sample.get("devices") or {}).get(device)


def _spans(samples: Iterable[Json]) -> Iterator[tuple[float, float, Json]]:
    """``(start, end, sample)`` in seconds; samples that do not say when they ended follow each other without a gap."""
    clock_s = 0.0
    for sample in samples:
        seconds = sample.get("seconds", 0.0)
        if "end_ns" in sample:
            clock_s = sample["end_ns"] / 1e9 - seconds
        yield clock_s, clock_s + seconds, sample
        clock_s += seconds


def _means(
    columns: Sequence[Sequence[tuple[float, float, Json]]], pick: Callable[[Json], Json | None], counters: Sequence[str]
) -> dict[str, list[float | None]]:
    """The mean of each counter in each column, None where it was not read; counters that never were are left out."""
    picked = [[pick(sample) or {} for _, _, sample in column] for column in columns]
    means = {}
    for counter in counters:
        values = [[sample[counter] for sample in column if sample.get(counter) is not None] for column in picked]
        if any(values):
            means[counter] = [significant(sum(value) / len(value), 4) if value else None for value in values]
    return means
