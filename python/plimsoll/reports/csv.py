"""Every number of a report as one table in long form: a row per number, so that any tool can pivot it.

    run,point,workload,target,repeat,scope,name,op,metric,unit,value

Model: ``scope`` says what ``name`` is:

    total (empty), stream (its name), part (a LUN), error (its name)        the measured phase
    latency, service (a percentile)                                         the percentile curves
    interval (its index), heat (the index of a column)                      over time; a heat metric is a band's upper latency
    device (its name), host (cpu or paging)                                 the host in the measured phase
    device_interval, host_interval (index, device or section)               the host over time
    job (empty), flag (its name; the value is its message)

Values are as stored: nanoseconds, bytes, per second; nothing is rounded.

    write([open_run("results/r1")], "r1.csv")
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any

from plimsoll.histogram import decoded
from plimsoll.reports.distribution import BANDS_PER_DECADE
from plimsoll.reports.timeline import timeline
from plimsoll.result import LatencySummary, Result, Totals
from plimsoll.store import StoredPoint, StoredRun
from plimsoll.store.durable import replace_file

Json = dict[str, Any]
Row = tuple[object, ...]

COLUMNS = ("run", "point", "workload", "target", "repeat", "scope", "name", "op", "metric", "unit", "value")
_RATES = {"count": "1", "iops": "1/s", "bytes": "B", "bytes_per_s": "B/s", "errors": "1"}
_UNITS_BY_ENDING = (
    ("_per_s", "1/s"),
    ("_percent", "%"),
    ("_ms", "ms"),
    ("_ns", "ns"),
    ("_s", "s"),
)


def write(runs: Sequence[StoredRun], path: str) -> None:
    """Write the table of ``runs`` to ``path``, at once."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(COLUMNS)
    for run in runs:
        for point in run.points:
            head = _head(run, point)
            writer.writerows((*head, *row) for row in _point_rows(point))
    replace_file(path, buffer.getvalue().encode())


def _head(run: StoredRun, point: StoredPoint) -> Row:
    job = point.result.job
    return (run.name, point.id, job.workload, job.target, job.repeat)


def _point_rows(point: StoredPoint) -> Iterator[Row]:
    result = point.result
    yield from _job_rows(result)
    yield from _totals_rows("total", "", result.totals)
    for name, totals in result.streams.items():
        yield from _totals_rows("stream", name, totals)
    for name, totals in result.parts.items():
        yield from _totals_rows("part", name, totals)
    for op, errors in result.errors.items():
        for error, count in errors.items():
            yield ("error", error, op, "count", "1", count)
    intervals = list(point.intervals())
    for interval in intervals:
        yield from _interval_rows(interval)
    yield from _distribution_rows(intervals)
    yield from _monitor_rows(result.monitor, "", "")
    for sample in point.monitor():
        yield from _monitor_rows(sample, "_interval", f"{sample.get('index')} ")
    for flag in result.flags:
        yield ("flag", flag.name, "", flag.severity, "", flag.message)


def _job_rows(result: Result) -> Iterator[Row]:
    yield ("job", "", "", "status", "", result.status)
    yield ("job", "", "", "modelled", "", str(result.modelled).lower())
    yield ("job", "", "", "duration", "s", result.job.duration_s)
    yield ("job", "", "", "warmup", "s", result.job.warmup_s)
    yield ("job", "", "", "threads", "1", result.job.threads)
    if result.job.queue_depth is not None:
        yield ("job", "", "", "queue_depth", "1", result.job.queue_depth)
    if result.offered_per_s is not None:
        yield ("job", "", "", "offered_per_s", "1/s", result.offered_per_s)


def _totals_rows(scope: str, name: str, totals: Totals) -> Iterator[Row]:
    for op, total in totals.items():
        for metric, unit in _RATES.items():
            yield (scope, name, op, metric, unit, getattr(total, metric))
        for kind in ("latency", "service"):
            summary = getattr(total, f"{kind}_ns")
            for field in fields(LatencySummary) if summary is not None else ():
                yield (scope, name, op, f"{kind}_{field.name}", "ns", getattr(summary, field.name))


def _interval_rows(interval: Json) -> Iterator[Row]:
    index = interval["index"]
    for metric in ("start_ns", "end_ns"):
        yield ("interval", index, "", metric, "ns", interval[metric])
    yield ("interval", index, "", "phase", "", interval["phase"])
    for metric, unit in (("inflight_mean", "1"), ("backlog_ns", "ns")):
        if interval.get(metric) is not None:
            yield ("interval", index, "", metric, unit, interval[metric])
    for op, entry in interval.get("summary", {}).items():
        for metric, value in entry.items():
            yield ("interval", index, op, metric, _unit(metric), value)


def _distribution_rows(intervals: Sequence[Json]) -> Iterator[Row]:
    """The percentile curves and the heat map, exactly as the report draws them."""
    drawn = timeline(intervals, lambda encoded: decoded(encoded).buckets())
    if drawn is None:
        return
    for curve in drawn["curves"]:
        for percent, latency_ns in curve["levels"]:
            yield (curve["kind"], f"{percent:g}", curve["op"], "percentile", "ns", latency_ns)
    for op, columns in drawn["heat"].items():
        for index, column in enumerate(columns):
            for band, count in enumerate(column[1:], start=column[0] if column else 0):
                if count:
                    yield ("heat", index, op, f"{10 ** ((band + 1) / BANDS_PER_DECADE):.0f}", "1", count)


def _monitor_rows(monitor: Mapping[str, Any], scope: str, index: str) -> Iterator[Row]:
    for device, counters in (monitor.get("devices") or {}).items():
        for metric, value in counters.items():
            yield (f"device{scope}", f"{index}{device}", "", metric, _unit(metric), value)
    for section in ("cpu", "paging"):
        for metric, value in (monitor.get(section) or {}).items():
            yield (f"host{scope}", f"{index}{section}", "", metric, _unit(metric), value)


def _unit(metric: str) -> str:
    if metric in _RATES:
        return _RATES[metric]
    if metric.endswith("bytes_per_s"):
        return "B/s"
    return next((unit for ending, unit in _UNITS_BY_ENDING if metric.endswith(ending)), "1")
