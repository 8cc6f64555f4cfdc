"""Points as a table: one row per point and operation, what was asked and what came of it in columns.

Model: the operations of a point are those that occurred, and ``all`` for all together: ``operation == "all"`` picks a row per point. What
was asked, what the host did and what the flags say is the same in every row of a point. An option that the experiments set has a column of
its own, ``set_NAME``. A point without figures (it failed) has the row ``all`` with its error. Figures are those of
`plimsoll.analysis.point.metric`, as in reports. MB are 10^6 bytes, KiB 1024; latencies are from the intended instant, bounds are those of
95 % intervals. Asked for ``by`` stream or part, each of those of a point has such rows, with its name in one more column; what is known of
the whole point alone (intervals, what was outstanding) is empty there.

    points_table([open_run("results/r1")]).to_dicts()[0]["latency_p99_ms"]
    points_table([open_run("results/r1")], by="stream").to_dicts()[0]["stream"]
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from plimsoll.analysis.derivation import derivation
from plimsoll.analysis.objective.judgement import Objective, judge, parse_objective
from plimsoll.analysis.point.definition import drawn_by_stream
from plimsoll.analysis.point.host_use import BLOCK_BYTES, host_use, real_s
from plimsoll.analysis.point.metric import ALL, RATES, metric, metric_of_totals, together
from plimsoll.catalog.figures import rows_for
from plimsoll.displayed import python_value
from plimsoll.errors import InputError
from plimsoll.result import OPS, Estimate, OpTotals, Result, Totals
from plimsoll.store.reader import StoredRun
from plimsoll.stored import PublishedFigures, counted_once
from plimsoll.tables import workflows
from plimsoll.tables.column import DERIVED, NUMBER, TEXT, TRUTH, WHOLE, Column, Value
from plimsoll.tables.split import SPLIT, SPLITS, By
from plimsoll.tables.table import Table

Row = dict[str, Value]

#: What stands before the name of an option that the experiments set.
SET = "set_"
_MEGA = 1e6
_MILLI_NS = 1e6
_KIB = 1024
_BOUNDED = ("mean", "p50", "p90", "p95", "p99", "p999")
#: How the columns of each metric are called, around the bound, and in what unit they are.
_SPELT = {"iops": ("iops{}", 1.0), "bytes_per_s": ("mb_per_s{}", _MEGA)} | {
    name: (f"latency_{name}{{}}_ms", _MILLI_NS) for name in (*_BOUNDED, "max")
}
_CALLED = {"mean": "the mean", "p50": "the median", "p999": "the 99.9th percentile"} | {
    f"p{n}": f"the {n}th percentile" for n in (90, 95, 99)
}

IDENTITY = (
    Column("run", TEXT, "", "the run's directory"),
    Column("label", TEXT, "", "what the run was called with --label"),
    Column("point", TEXT, "", "the point in the run"),
    Column("started", TEXT, "", "when the point began, ISO 8601"),
    Column("status", TEXT, "", "complete, interrupted, failed or incomplete"),
    Column("error", TEXT, "", "why the point failed"),
    Column("experiment", TEXT, "", "the experiment of the point"),
    Column("kind", TEXT, "", "its procedure: single, steps, matrix, ramp, search, curve, scaling, steady"),
    Column("role", TEXT, "", "point, or what else it was measured for: maximum, precondition"),
    Column("side", TEXT, "", "the name of the configuration, or the target"),
    Column("workload", TEXT, "", "the workload"),
    Column("target", TEXT, "", "what was measured"),
    Column("modelled", TRUTH, "", "whether the target is a model in virtual time"),
    Column("repeat", WHOLE, "", "which repeat, from 1"),
    Column("seed", WHOLE, "", "the seed of the point"),
)
LOAD = (
    Column("level", NUMBER, "", "the value of the option that the experiment varies"),
    Column("threads", WHOLE, "", "threads of all streams"),
    Column("queue_depth", WHOLE, "", "outstanding requests of a thread; empty where streams differ"),
    Column("arrival", TEXT, "", "closed, or how an open load arrives"),
    Column("offered_per_s", NUMBER, "1/s", "requests per second that were due in an open load"),
    Column("cache", TEXT, "", "what the caches held: cold, warm, as found"),
    Column("warmup_s", NUMBER, "s", "load before it was measured, as asked"),
    Column("duration_s", NUMBER, "s", "measured time, as asked"),
    Column("measured_s", NUMBER, "s", "measured time, as it was: the real time of a fixed amount of work"),
)
FIGURES = (
    Column("operation", TEXT, "", "read, write, … or all: every operation together"),
    Column("count", WHOLE, "", "completed requests"),
    Column("errors", WHOLE, "", "failed requests"),
    Column("iops", NUMBER, "1/s", "requests per second"),
    Column("iops_low", NUMBER, "1/s", "low end of its 95 % interval"),
    Column("iops_high", NUMBER, "1/s", "high end of its 95 % interval"),
    Column("mb_per_s", NUMBER, "MB/s", "bandwidth, in 10^6 bytes per second"),
    Column("mb_per_s_low", NUMBER, "MB/s", "low end of its 95 % interval"),
    Column("mb_per_s_high", NUMBER, "MB/s", "high end of its 95 % interval"),
    Column("request_kib", NUMBER, "KiB", "mean size of a request"),
    *(
        column
        for name in _BOUNDED
        for column in (
            Column(f"latency_{name}_ms", NUMBER, "ms", f"{_CALLED[name]} of latency, from the intended instant"),
            Column(f"latency_{name}_low_ms", NUMBER, "ms", "low end of its 95 % interval"),
            Column(f"latency_{name}_high_ms", NUMBER, "ms", "high end of its 95 % interval"),
        )
    ),
    Column("latency_max_ms", NUMBER, "ms", "the slowest request"),
    Column("latency_at_least", TRUTH, "", "whether a latency is a lower bound, because requests had no answer at the end"),
    Column("latency_stddev_ms", NUMBER, "ms", "standard deviation of latency; of single operations only"),
    Column("service_mean_ms", NUMBER, "ms", "mean service time, from submission; of single operations only"),
    Column("service_p99_ms", NUMBER, "ms", "its 99th percentile; of single operations only"),
    Column("outstanding", WHOLE, "", "requests without an answer when the measured time ended"),
)
VERDICTS = (
    Column("objective", TEXT, "", "the objective of the experiment"),
    Column("verdict", TEXT, "", "whether the point kept it: held, failed or undecided"),
    Column("is_mark", TRUTH, "", "whether the point stands at the level of the mark; empty where no mark was found"),
)
HOST = (
    Column("cpu_user_percent", NUMBER, "%", "CPU time in programs, of all CPUs together"),
    Column("cpu_system_percent", NUMBER, "%", "CPU time in the kernel"),
    Column("cpu_wait_percent", NUMBER, "%", "idle with I/O outstanding"),
    Column("cpu_idle_percent", NUMBER, "%", "idle without"),
    Column("cpu_steal_percent", NUMBER, "%", "given to other guests by the hypervisor"),
    Column("blocks_in_per_s", NUMBER, "1/s", f"blocks of {BLOCK_BYTES:,} bytes that all devices of the host read into memory"),
    Column("blocks_out_per_s", NUMBER, "1/s", f"blocks of {BLOCK_BYTES:,} bytes that they wrote"),
    Column("device_reads_per_s", NUMBER, "1/s", "reads that the target's devices completed, whoever asked"),
    Column("device_writes_per_s", NUMBER, "1/s", "writes that they completed"),
    Column("device_util_percent", NUMBER, "%", "time in which the busiest of them had requests"),
)
#: Empty but for analytics workflows.
WORKFLOWS = workflows.COLUMNS
DOUBTS = (
    Column("flags_invalid", WHOLE, "", "flags that say that a number does not mean what it says"),
    Column("flags_doubt", WHOLE, "", "flags that say that it may not"),
    Column("flags_note", WHOLE, "", "flags to know of when comparing"),
    Column("flags", TEXT, "", "their names, invalid ones first, separated by spaces"),
    Column("published_figures", WHOLE, "", "published figures that stand beside the point in its suite"),
    DERIVED,
    Column("plimsoll_version", TEXT, "", "the Plimsoll that measured it"),
)
PRICES = (
    Column("price", NUMBER, "", "what the side of the point costs, where that is known"),
    Column("currency", TEXT, "", "the currency of both prices"),
    Column("price_per_unit", NUMBER, "", "that over the headline of the side for this workload: its mark, its highest rate, its composite"),
    Column("priced_unit", TEXT, "", "what one of the headline is called: IOPS, MB/s, composite@SCALE"),
)
#: Every column in order; those of settings stand behind `LOAD`.
COLUMNS = (*IDENTITY, *LOAD, *FIGURES, *VERDICTS, *HOST, *WORKFLOWS, *DOUBTS, *PRICES)
#: What each CSV of such a table begins with.
BEGINNING = ",".join(column.name for column in IDENTITY).encode()


def points_table(runs: Sequence[StoredRun], priced: Mapping[tuple[str, str], Row] | None = None, by: By = "point") -> Table:
    """The table of every point of ``runs``. ``priced`` has the columns of `PRICES` by the path of a run and the id of its point."""
    if by not in SPLITS:
        raise InputError(f"by is {python_value(by)}; write one of {', '.join(SPLITS)}.")
    rows = [row for run in runs for row in _rows(run, priced or {}, by)]
    names = dict.fromkeys(name for row in rows for name in row if name.startswith(SET))
    split = (SPLIT[by],) if by in SPLIT else ()
    settings = (_of_setting(name, rows) for name in names)
    columns = (*IDENTITY, *split, *LOAD, *settings, *FIGURES, *VERDICTS, *HOST, *WORKFLOWS, *DOUBTS, *PRICES)
    return Table(columns, tuple(tuple(row.get(column.name) for column in columns) for row in rows))


def _of_setting(name: str, rows: Sequence[Row]) -> Column:
    """The column of a setting: numbers where every value is one."""
    values = [row[name] for row in rows if row.get(name) is not None]
    numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
    if not numbers:
        for row in rows:
            value = row.get(name)
            row[name] = None if value is None else str(value).lower() if isinstance(value, bool) else str(value)
    return Column(name, NUMBER if numbers else TEXT, "", f"the option {name.removeprefix(SET)}, where the experiment set it")


def _rows(run: StoredRun, priced: Mapping[tuple[str, str], Row], by: By) -> Iterator[Row]:
    objectives = {item["name"]: _objective(item.get("objective")) for item in run.meta.get("experiments") or []}
    marks = {
        (found["experiment"], found["workload"], found["configuration"]): mark["level"]
        for found in run.meta.get("conclusions") or []
        if (mark := found.get("mark"))
    }
    published = (run.meta.get("suite") or {}).get("published") or []
    of_workflows = workflows.workflow_rows([point.result for point in run.points])
    for point in run.points:
        result = point.result
        place = result.place
        at = marks.get((place.get("experiment", ""), place.get("subject", ""), place.get("configuration", "")))
        shared = {
            "run": run.name,
            "label": run.meta.get("label"),
            "point": point.id,
            **_asked(result),
            **_verdict(result, objectives.get(place.get("experiment", ""))),
            "is_mark": None if at is None else place.get("role", "point") == "point" and place.get("level") == at,
            **_host(result),
            **of_workflows.get(result.id, {}),
            **_doubts(result, published),
            **priced.get((run.path, point.id), {}),
        }
        for figures in _whole(result) if by == "point" else _split(result, by):
            yield {**shared, **figures}


def _objective(text: str | None) -> Objective | None:
    try:
        return parse_objective(text) if text else None
    except InputError:
        return None


def _asked(result: Result) -> Row:
    job, place = result.job, result.place
    settings = {f"{SET}{name}": _plain(value) for name, value in (place.get("settings") or {}).items()}
    return {
        "started": result.started,
        "status": result.status,
        "error": result.error,
        **{name: place.get(name) for name in ("experiment", "kind", "role", "level")},
        "side": place.get("configuration") or job.target,
        "modelled": result.modelled,
        **{name: getattr(job, name) for name in ("workload", "target", "repeat", "seed", "threads", "queue_depth", "arrival")},
        "warmup_s": job.warmup_s,
        "duration_s": job.duration_s,
        "measured_s": real_s(result),
        "offered_per_s": result.offered_per_s,
        "cache": result.cache.get("state"),
        **settings,
    }


def _plain(value: Any) -> Value:
    return value if isinstance(value, str | int | float) or value is None else json.dumps(value, ensure_ascii=False)


def _whole(result: Result) -> Iterator[Row]:
    """A row for all operations of the point, then one for each."""
    for op in (ALL, *(op for op in OPS if op in result.totals)):
        yield _figures(result, op)


def _split(result: Result, by: By) -> Iterator[Row]:
    """The same for each stream, or each part: of a target that has none, it is the whole; a point without figures has its one row."""
    of_parts = result.parts or ({result.job.target: result.totals} if result.totals else {})
    groups: Mapping[str, Totals] = result.streams if by == "stream" else of_parts
    if not groups:
        yield {"operation": ALL}
    drawn = drawn_by_stream(result.job.definition) if by == "stream" else {}
    for name, totals in groups.items():
        asked = [total for op, total in totals.items() if op in drawn.get(name, totals)]
        yield {by: name, **_shared_out(ALL, asked, list(totals.values()))}
        for op, total in totals.items():
            yield {by: name, **_shared_out(op, [total], [total]), **_single(total)}


def _shared_out(op: str, totals: list[OpTotals], every: list[OpTotals]) -> Row:
    """Figures from totals alone; ``every`` has what moved and failed along with those that were asked for."""
    count, moved = sum(total.count for total in totals), sum(total.bytes for total in every)
    row: Row = {
        "operation": op,
        "count": count,
        "errors": sum(total.errors for total in every),
        "request_kib": moved / count / _KIB if count and moved else None,
    }
    for name, (spelt, unit) in _SPELT.items():
        row |= _written(metric_of_totals(every if name == "bytes_per_s" else totals, name), spelt, unit)
    return row


def _figures(result: Result, op: str) -> Row:
    totals = together(result) if op == ALL else [result.totals[op]]
    every = list(result.totals.values()) if op == ALL else totals
    if not every:
        return {"operation": op}
    count, moved = sum(total.count for total in totals), sum(total.bytes for total in every)
    row: Row = {
        "operation": op,
        "count": count,
        "errors": sum(total.errors for total in every),
        "request_kib": moved / count / _KIB if count and moved else None,
        "outstanding": result.outstanding[op].count if op in result.outstanding else 0,
    }
    found = {name: metric(result, op, name) for name in _SPELT}
    for name, (spelt, unit) in _SPELT.items():
        row |= _written(found[name], spelt, unit)
    row["latency_at_least"] = any(one is not None and one.at_least for name, one in found.items() if name not in RATES)
    return row if op == ALL else {**row, **_single(result.totals[op])}


def _written(found: Estimate | None, spelt: str, unit: float) -> Row:
    """A metric with its bounds in columns called as ``spelt``."""
    if found is None:
        return {}
    values = {"": found.value, "_low": found.low, "_high": found.high}
    return {spelt.format(bound): None if value is None else value / unit for bound, value in values.items()}


def _single(total: OpTotals) -> Row:
    latency, service = total.latency_ns, total.service_ns
    return {
        "latency_stddev_ms": None if latency is None else latency.stddev / _MILLI_NS,
        "service_mean_ms": None if service is None else service.mean / _MILLI_NS,
        "service_p99_ms": None if service is None else service.p99 / _MILLI_NS,
    }


def _verdict(result: Result, objective: Objective | None) -> Row:
    if objective is None or result.place.get("role", "point") != "point":
        return {}
    judgement = judge(objective, result)
    return {"objective": objective.text, "verdict": "held" if judgement.holds else "undecided" if judgement.undecided else "failed"}


def _host(result: Result) -> Row:
    used = cast("Row", host_use(result) or {})
    devices = list((counters := result.monitor.get("devices") or {}).values())
    tops = counted_once(result.host.get("target"), counters)
    shares = ("user", "system", "idle", "wait", "steal")
    return {
        **{f"cpu_{name}_percent": used.get(f"{name}_percent") for name in shares},
        "blocks_in_per_s": used.get("blocks_in_per_s"),
        "blocks_out_per_s": used.get("blocks_out_per_s"),
        "device_reads_per_s": _over(tops, "r_per_s", sum),
        "device_writes_per_s": _over(tops, "w_per_s", sum),
        "device_util_percent": _over(devices, "util_percent", max),
    }


def _over(devices: Sequence[Mapping[str, Any]], counter: str, joined: Any) -> float | None:
    values = [device[counter] for device in devices if device.get(counter) is not None]
    return joined(values) if values else None


def _doubts(result: Result, published: Sequence[PublishedFigures]) -> Row:
    place = result.place
    beside = sum(
        len(rows_for(figures, result.job.workload, place.get("settings") or {}, place.get("configuration"))) for figures in published
    )
    severities = ("invalid", "doubt", "note")
    ordered = sorted(result.flags, key=lambda flag: severities.index(flag.severity))
    return {
        **{f"flags_{severity}": sum(flag.severity == severity for flag in result.flags) for severity in severities},
        "flags": " ".join(dict.fromkeys(flag.name for flag in ordered)),
        "published_figures": beside,
        "derived": derivation(result),
        "plimsoll_version": result.plimsoll_version,
    }
