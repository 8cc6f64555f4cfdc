"""The long form: every number of a run as a row, intervals and samples included, as CSV and Parquet (``--long``).

The table that people work with, a row per point and operation, is `plimsoll.tables.points`. Here any tool can pivot what it needs.

    run,point,workload,target,repeat,scope,name,op,metric,unit,value

Model: ``scope`` says what ``name`` is:

    total (empty), stream (its name), part (a LUN), error (its name)        the measured phase
    latency, service (a percentile)                                         the percentile curves
    interval (its index), heat (the index of a column)                      over time; a heat metric is a band's upper latency
    device (its name), host (cpu or paging)                                 the host in the measured phase
    device_interval, host_interval (index, device or section)               the host over time
    job (empty), flag (its name; the value is its message)
    derived (empty; what the load is modelled on and not comparable with)
    place (empty), setting (its name)                                       where the point stands in its experiment
    estimate (metric and bound: "p99 low")                                  the 95 % intervals
    outstanding (empty, or "p99 at least", "p99 at most")                   what had no answer when the measured time ended
    mark (experiment; the point is empty, the metric a field of the mark)   what the experiments of the run found

Values are as stored: nanoseconds, bytes, per second; nothing is rounded.

    write([open_run("results/r1")], "r1.csv")

Parquet: the rows of the CSV in typed columns, for data frames.

Model: the columns of the CSV, with ``value`` split in two: ``value`` holds numbers, ``text`` what is no number. Needs pyarrow, which
Plimsoll does not require.

    write([open_run("results/r1")], "r1.parquet")
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any

from plimsoll.analysis.comparison.comparison import ComparisonView
from plimsoll.analysis.comparison.sides import ComparedValue
from plimsoll.analysis.derivation import derivation
from plimsoll.analysis.price.per_unit import Prices
from plimsoll.displayed import displayed
from plimsoll.histogram import distribution
from plimsoll.reports.view.distribution import BANDS_PER_DECADE
from plimsoll.reports.view.timeline import Records, timeline
from plimsoll.result import LatencySummary, Result, Totals
from plimsoll.store.durable import replace_file
from plimsoll.store.reader import StoredPoint, StoredRun
from plimsoll.stored import Interval, Json
from plimsoll.tables.column import DERIVED, NUMBER, TEXT, TRUTH, Column
from plimsoll.tables.comparison import PRICES, prices_between
from plimsoll.tables.table import Table, csv_text, needed

Row = tuple[object, ...]

#: Values as they are stored: latencies in nanoseconds, rates per second.
COMPARISON_COLUMNS = (
    Column("experiment", TEXT, "", "the experiment of the points"),
    Column("workload", TEXT, "", "the workload"),
    Column("settings", TEXT, "", "what the experiment set for the point"),
    Column("objective", TEXT, "", "of a mark, what had to hold"),
    Column("op", TEXT, "", "read, write, … or all"),
    Column("metric", TEXT, "", "what is compared; mark for the highest load that kept the objective"),
    Column("baseline", TEXT, "", "the side that is compared with"),
    Column("side", TEXT, "", "the side that is compared"),
    Column("baseline_value", NUMBER, "", "the baseline's value: nanoseconds, bytes per second, requests per second"),
    Column("value", NUMBER, "", "the side's value"),
    Column("ratio", NUMBER, "", "side over baseline"),
    Column("low", NUMBER, "", "low end of its 95 % interval"),
    Column("high", NUMBER, "", "high end of its 95 % interval"),
    Column("p_adjusted", NUMBER, "", "its probability by chance, corrected for the whole table (Holm)"),
    Column("verdict", TEXT, "", "faster, slower, or that no difference is shown"),
    Column("baseline_modelled", TRUTH, "", "whether the baseline is a model in virtual time"),
    Column("modelled", TRUTH, "", "whether the side is one"),
    Column("baseline_at_least", TRUTH, "", "whether the baseline's value is a lower bound"),
    Column("at_least", TRUTH, "", "whether the side's is one"),
    DERIVED,
    *PRICES,
)
#: What each CSV of a comparison begins with.
COMPARISON_BEGINNING = ",".join(column.name for column in COMPARISON_COLUMNS[:8]).encode()
COLUMNS = ("run", "point", "workload", "target", "repeat", "scope", "name", "op", "metric", "unit", "value")
_RATES = {"count": "1", "iops": "1/s", "bytes": "B", "bytes_per_s": "B/s", "errors": "1"}
_MARK_UNITS = {"iops": "1/s", "bytes_per_s": "B/s", "level": "1", "objective": "", "failed_by": "", "next_level": "1"}
_UNITS_BY_ENDING = (
    ("_per_s", "1/s"),
    ("_percent", "%"),
    ("_ms", "ms"),
    ("_ns", "ns"),
    ("_s", "s"),
)


def write_csv(runs: Sequence[StoredRun], path: str) -> None:
    """Write the table of ``runs`` to ``path``, at once."""
    _write_table(path, COLUMNS, rows(runs))


def rows(runs: Sequence[StoredRun]) -> Iterator[Row]:
    """Every number of ``runs``, in the order of `COLUMNS`."""
    for run in runs:
        yield from _run_rows(run)


def comparison_table(comparison: ComparisonView, prices: Prices | None = None) -> Table:
    """A comparison's JSON form as a table: points, then marks, whose metric is ``mark`` and whose value is in IOPS, each with what its
    sides cost."""
    points = (
        _compared_row({**row, **_bounded(*row["values"])}, comparison, row["metric"], [value["value"] for value in row["values"]])
        for row in comparison["points"]
    )
    marks = (
        _compared_row({**row}, comparison, "mark", [mark["iops"] if mark else None for mark in row["values"]])
        for row in comparison["marks"]
    )
    baseline, names = comparison["baseline"], [column.name for column in COMPARISON_COLUMNS]
    rows = ({**row, **prices_between(prices, (baseline, row["side"]), (row["experiment"], row["workload"]))} for row in (*points, *marks))
    return Table(COMPARISON_COLUMNS, tuple(tuple(row.get(name) for name in names) for row in rows))


def _write_table(path: str, columns: Sequence[str], rows: Iterable[Row]) -> None:
    replace_file(path, csv_text(columns, rows))


def _bounded(before: ComparedValue, now: ComparedValue) -> Json:
    """Which of a row's two values are lower bounds."""
    return {"baseline_at_least": before["at_least"], "at_least": now["at_least"]}


def _compared_row(row: Json, comparison: ComparisonView, metric: str, values: Sequence[object]) -> Json:
    baseline = comparison["baseline"]
    modelled = {side["name"]: side["modelled"] for side in comparison["sides"]}
    settings = " ".join(f"{name}={value}" for name, value in (row.get("settings") or {}).items())
    known = {**row, "settings": settings, "metric": metric, "baseline": baseline, "baseline_value": values[0], "value": values[1]}
    known["derived"] = comparison["derived"].get(row["workload"])
    return {**known, "baseline_modelled": modelled[baseline], "modelled": modelled[row["side"]]}


def _run_rows(run: StoredRun) -> Iterator[Row]:
    for point in run.points:
        head = _head(run, point)
        yield from ((*head, *row) for row in _point_rows(point))
    for conclusion in run.meta.get("conclusions") or []:
        head = (run.name, "", conclusion.get("workload"), conclusion.get("configuration"), "")
        figures: Mapping[str, object] = conclusion.get("mark") or {}
        for metric, unit in _MARK_UNITS.items():
            value = figures.get(metric)
            if value is not None:
                yield (*head, "mark", conclusion.get("experiment"), "", metric, unit, value)


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
    for interval in point.intervals():
        yield from _interval_rows(interval)
    yield from _distribution_rows(point.intervals())
    yield from _monitor_rows(result.monitor, "", "")
    for sample in point.monitor():
        yield from _monitor_rows(sample, "_interval", f"{sample.get('index')} ")
    if (derived := derivation(result)) is not None:
        yield ("derived", "", "", "", "", derived)
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
    yield ("job", "", "", "cache", "", result.cache.get("state"))
    for metric in ("experiment", "kind", "configuration", "role", "level"):
        if result.place.get(metric) is not None:
            yield ("place", "", "", metric, "", result.place[metric])
    for name, value in (result.place.get("settings") or {}).items():
        yield ("setting", name, "", "value", "", value)
    yield from _estimate_rows(result)
    yield from _outstanding_rows(result)


def _outstanding_rows(result: Result) -> Iterator[Row]:
    """What had no answer at the end, and between which values each latency lies with it; what nothing bounds is left out."""
    for op, owed in result.outstanding.items():
        for metric, unit in (("count", "1"), ("unfinished", "1"), ("longest_ns", "ns")):
            yield ("outstanding", "", op, metric, unit, getattr(owed, metric))
        for bound, values in (("at least", owed.at_least), ("at most", owed.at_most)):
            for metric, value in values.items():
                if value is not None:
                    yield ("outstanding", f"{metric} {bound}", op, metric, "ns", value)


def _estimate_rows(result: Result) -> Iterator[Row]:
    for op, metrics in result.estimates.items():
        for metric, estimate in metrics.items():
            for bound in ("low", "high"):
                if getattr(estimate, bound) is not None:
                    yield ("estimate", f"{metric} {bound}", op, metric, _RATES.get(metric, "ns"), getattr(estimate, bound))


def _totals_rows(scope: str, name: str, totals: Totals) -> Iterator[Row]:
    for op, total in totals.items():
        for metric, unit in _RATES.items():
            yield (scope, name, op, metric, unit, getattr(total, metric))
        for kind in ("latency", "service"):
            summary = getattr(total, f"{kind}_ns")
            for field in fields(LatencySummary) if summary is not None else ():
                yield (scope, name, op, f"{kind}_{field.name}", "ns", getattr(summary, field.name))


def _interval_rows(interval: Interval) -> Iterator[Row]:
    index = interval["index"]
    for metric in ("start_ns", "end_ns"):
        yield ("interval", index, "", metric, "ns", interval[metric])
    yield ("interval", index, "", "phase", "", interval["phase"])
    for metric, unit, figure in (("inflight_mean", "1", interval.get("inflight_mean")), ("backlog_ns", "ns", interval.get("backlog_ns"))):
        if figure is not None:
            yield ("interval", index, "", metric, unit, figure)
    for op, entry in interval.get("summary", {}).items():
        for metric, value in entry.items():
            yield ("interval", index, op, metric, _unit(metric), value)


def _distribution_rows(intervals: Records[Interval]) -> Iterator[Row]:
    """The percentile curves and the heat map, exactly as the report draws them."""
    drawn = timeline(intervals, distribution)
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


def write_parquet(runs: Sequence[StoredRun], path: str) -> None:
    """Write the table of ``runs`` to ``path``, at once. Raises `InputError` where pyarrow is not installed."""
    pyarrow, parquet = needed("pyarrow", "Parquet"), needed("pyarrow.parquet", "Parquet")
    columns = _columns(runs)
    made = pyarrow.table({name: pyarrow.array(values, _type(pyarrow, name)) for name, values in columns.items()})
    buffer = io.BytesIO()
    parquet.write_table(made, buffer)
    replace_file(path, buffer.getvalue())


def _type(pyarrow: Any, name: str) -> Any:
    return {"value": pyarrow.float64(), "repeat": pyarrow.int64()}.get(name, pyarrow.string())


def _columns(runs: Sequence[StoredRun]) -> dict[str, list[Any]]:
    """The rows of the CSV, column by column."""
    columns: dict[str, list[Any]] = {name: [] for name in (*COLUMNS, "text")}
    for values in rows(runs):
        row = {name: "" if value is None else displayed(str(value)) for name, value in zip(COLUMNS, values, strict=True)}
        number = _number(row["value"])
        row["text"] = row["value"] if number is None else ""
        for name, column in columns.items():
            column.append(number if name == "value" else _whole(row[name]) if name == "repeat" else row[name])
    return columns


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _whole(text: str) -> int | None:
    return int(text) if text.isdecimal() else None
