"""The view model of a report: its points, and what the other files of this room add to them.

Model: a *point* is one stored result. Points of the same workload measured in the same *configuration* (run, target and, where one
run steps it, the level) are repeats of each other; a bar of the report is the mean of the repeats, its error bar their extremes.
Nothing is formatted here: values are bytes, nanoseconds and per-second rates exactly as stored, and the page turns them into words.
Latencies that requests without an answer raise are the lower bounds of `plimsoll.analysis.point.pooling`.
Limits: no statistics beyond mean, minimum and maximum of repeats; whether two configurations differ is not decided here.

    view([RunRecord("base", "complete", run_json, points)], decode)["points"][0]["totals"]["read"]["iops"]
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from plimsoll.analysis.point.array import component_sets
from plimsoll.analysis.point.metric import ALL, RATES, metric
from plimsoll.analysis.point.offered_load import elapsed
from plimsoll.reports.limits import busy_words, configuration_words, incident_labels, incident_words, limit_words
from plimsoll.reports.view.bars import GROUPS, groups, largest, slices
from plimsoll.reports.view.comparison import compare_configurations, published_figures, suite
from plimsoll.reports.view.experiments import Member, experiments, point_verdict
from plimsoll.reports.view.timeline import COLUMNS, Decoder, host_timeline, timeline
from plimsoll.result import OPS, Flag, JobRecord, Result

Json = Mapping[str, Any]

SCHEMA = "plimsoll.report/1"
_GROUP_ORDER = {name: position for position, name in enumerate(GROUPS)}
_JOB_KEYS = ("workload", "title", "target", "seed", "repeat", "duration_s", "warmup_s", "threads", "queue_depth", "arrival")
_RESULT_KEYS = ("id", "status", "error", "started", "modelled", "offered_per_s", "errors", "cache", "ended", "replay")
SEVERITIES = ("invalid", "doubt", "note")
#: Points whose course over time is kept as fine as the screen; with more of them, their courses share that room.
FINE_POINTS = 48
COLUMNS_MIN = 40


@dataclass(frozen=True)
class PointRecord:
    """One point as stored: its result and the lines of `intervals.jsonl` and `monitor.jsonl`, which are gone through twice and not kept."""

    result: Result
    intervals: Iterable[Json] = ()
    monitor: Iterable[Json] = ()


@dataclass(frozen=True)
class RunRecord:
    """One run as stored: what it is called, how it ended, `run.json`, its points."""

    label: str
    status: str
    meta: Json
    points: Sequence[PointRecord]


@dataclass(frozen=True)
class _Placed:
    """A point with its place in the report: indices of its run and of its configuration."""

    run: int
    configuration: int
    record: PointRecord


def view(runs: Sequence[RunRecord], decode: Decoder, comparison: Json | None = None) -> dict[str, Any]:
    """The whole report as JSON-ready data; `decode` turns a stored histogram into its buckets.

    ``comparison`` is a `plimsoll.analysis.comparison.comparison.Comparison` in its JSON form, shown instead of the report's own.
    """
    placed, configurations = _place(runs)
    columns = max(COLUMNS_MIN, min(COLUMNS, COLUMNS * FINE_POINTS // max(len(placed), 1)))
    metas = [run.meta for run in runs]
    labels = [configuration["label"] for configuration in configurations]
    members = [Member(index, point.run, point.configuration, point.record.result) for index, point in enumerate(placed)]
    verdicts = point_verdict(metas, members)
    points = [{**_point(index, point, decode, columns), "verdict": verdicts.get(index)} for index, point in enumerate(placed)]
    found = slices(points, len(configurations))
    return {
        "schema": SCHEMA,
        "runs": [_run(run) for run in runs],
        "configurations": configurations,
        "verdict": {**_verdict(points), "limits": _limits(points, labels)},
        "flags": _flags(points),
        "groups": largest(found)["groups"] if found else groups([], 0),
        "slices": found,
        "points": points,
        "suite": suite(metas),
        "experiments": experiments(metas, members),
        "published": published_figures(metas, members, labels),
        "comparison": comparison if comparison is not None else compare_configurations(metas, members, labels),
    }


def _place(runs: Sequence[RunRecord]) -> tuple[list[_Placed], list[dict[str, Any]]]:
    """Give every point its configuration; a configuration is named by whatever distinguishes it from the others."""
    keys: list[tuple[int, str, str]] = []
    records: list[tuple[int, PointRecord]] = []
    for index, run in enumerate(runs):
        stepped = _stepped(run)
        for record in run.points:
            job = record.result.job
            planned = record.result.place
            level = _level(job) if not planned and (job.target, job.workload) in stepped else ""
            keys.append((index, planned.get("configuration") or job.target, level))
            records.append((index, record))
    distinct = list(dict.fromkeys(keys))
    named = all(run.meta.get("label") for run in runs)
    labels = _labels([(runs[index].label, target, level) for index, target, level in distinct], named=named)
    modelled = {key for key, (_, record) in zip(keys, records, strict=True) if record.result.modelled}
    targets = {key: record.result.job.target for key, (_, record) in reversed(list(zip(keys, records, strict=True)))}
    configurations = [
        {"label": label, "run": key[0], "target": targets[key], "modelled": key in modelled}
        for key, label in zip(distinct, labels, strict=True)
    ]
    place = {key: position for position, key in enumerate(distinct)}
    placed = [_Placed(run, place[key], record) for key, (run, record) in zip(keys, records, strict=True)]
    return _side_by_side(placed), configurations


def _side_by_side(placed: Sequence[_Placed]) -> list[_Placed]:
    """Order by group and workload, so that what is to be compared stands together; workloads stay in the order they were run in."""
    workloads = list(dict.fromkeys(point.record.result.job.workload for point in placed))
    experiment_names = list(dict.fromkeys(point.record.result.place.get("experiment") for point in placed))

    def position(point: _Placed) -> tuple[float, ...]:
        job, place = point.record.result.job, point.record.result.place
        level = place.get("level")
        return (
            _GROUP_ORDER.get(job.group, len(GROUPS)),
            workloads.index(job.workload),
            experiment_names.index(place.get("experiment")),
            point.configuration,
            -math.inf if level is None else level,
            0 if place and not level else job.repeat,
        )

    return sorted(placed, key=position)


def _stepped(run: RunRecord) -> set[tuple[str, str]]:
    """The (target, workload) pairs that a run measured at more than one level."""
    seen: dict[tuple[str, str], set[str]] = {}
    for record in run.points:
        job = record.result.job
        seen.setdefault((job.target, job.workload), set()).add(_level(job))
    return {pair for pair, levels in seen.items() if len(levels) > 1}


def _level(job: JobRecord) -> str:
    return f"{job.threads} × {job.queue_depth or 'mixed'}"


def _labels(names: Sequence[tuple[str, str, str]], *, named: bool) -> list[str]:
    """The shortest labels out of (run, target, level) that differ: the run's when the user `named` every run, else the target's."""
    run, target, level = 0, 1, 2
    first, second = (run, target) if named else (target, run)
    for parts in ((first,), (second,), (first, level), (second, level), (first, second), (first, second, level)):
        labels = [" · ".join(name[part] for part in parts if name[part]) for name in names]
        if len(set(labels)) == len(names) and all(labels):
            return labels
    return [f"{' · '.join(filter(None, name))} ({position})" for position, name in enumerate(names, start=1)]


def _run(run: RunRecord) -> dict[str, Any]:
    first = run.points[0].result if run.points else None
    return {
        "label": run.label,
        "status": run.status,
        "created": run.meta.get("created"),
        "command": run.meta.get("command"),
        "host": run.meta.get("host") or {},
        "targets": {point.result.job.target: point.result.host.get("target") for point in run.points if point.result.host.get("target")},
        "versions": run.meta.get("versions") or (first.versions if first else {}),
        "calibration": first.calibration if first else None,
    }


def _point(index: int, placed: _Placed, decode: Decoder, columns: int) -> dict[str, Any]:
    result, job = placed.record.result, placed.record.result.job
    stored = asdict(result)
    sets = component_sets(result)
    return {
        "index": index,
        "run": placed.run,
        "configuration": placed.configuration,
        **{key: stored[key] for key in _RESULT_KEYS},
        **{key: stored["job"][key] for key in _JOB_KEYS},
        "group": job.group if job.group in GROUPS else "other",
        "purpose": job.definition.get("purpose"),
        "expect": job.definition.get("expect"),
        "totals": _raised(_by_op(stored["totals"]), result),
        "together": _together(result),
        "measured_s": elapsed(result),
        "streams": {name: _by_op(totals) for name, totals in stored["streams"].items()},
        "parts": {name: _by_op(totals) for name, totals in stored["parts"].items()},
        "flags": [asdict(flag) for flag in sorted(result.flags, key=_severity)],
        "timeline": timeline(placed.record.intervals, decode, columns),
        "host": host_timeline(placed.record.monitor, columns),
        "definition": job.definition,
        "options": job.options,
        "engine": _engine(result.engine),
        "components": [asdict(one) for one in sets],
        "limit": {"said": limit_words(sets), "busy": busy_words(sets)} if sets else None,
        "incidents": incident_words(result) or None,
        "incident_labels": incident_labels(result.engine),
        "estimates": _bounded(stored["estimates"]),
        "place": _place_of(result.place),
    }


def _together(result: Result) -> dict[str, float]:
    """The rates of all operations together; empty when nothing was measured."""
    found = {name: metric(result, ALL, name) for name in RATES}
    return {name: estimate.value for name, estimate in found.items() if estimate is not None}


def _bounded(estimates: Json) -> dict[str, Any]:
    """The estimates that have an interval; the others are in the totals."""
    return {
        op: {
            name: {key: estimate[key] for key in ("value", "low", "high")}
            for name, estimate in metrics.items()
            if estimate["low"] is not None
        }
        for op, metrics in estimates.items()
    }


def _place_of(place: Json) -> dict[str, Any] | None:
    return {key: place.get(key) for key in ("experiment", "kind", "role", "level", "settings")} if place else None


def _by_op(totals: Json) -> dict[str, Any]:
    """Totals in the order read, write, trim, flush, exactly as stored."""
    return {op: totals[op] for op in OPS if op in totals}


def _raised(totals: dict[str, Any], result: Result) -> dict[str, Any]:
    """Totals whose latencies are the lower bounds where requests without an answer raise them; ``at_least`` names these."""
    found = {}
    for op, total in totals.items():
        bounds = {name: one.value for name, one in result.estimates.get(op, {}).items() if one.at_least}
        latency = {**total["latency_ns"], **bounds} if total["latency_ns"] else total["latency_ns"]
        found[op] = {**total, "latency_ns": latency, "at_least": sorted(bounds)} if bounds else total
    return found


def _engine(engine: Json) -> dict[str, Any]:
    """What the engine says of itself; components have a table of their own."""
    shown = {
        key: engine[key] for key in ("backend", "engine", "cpu_ns", "verify", "journal", "stopped_by", "first_error") if engine.get(key)
    }
    if "engine" in shown:
        shown["engine"] = {key: value for key, value in shown["engine"].items() if key != "components"}
    return shown


def _severity(flag: Flag) -> int:
    return SEVERITIES.index(flag.severity)


def _verdict(points: Sequence[Json]) -> dict[str, Any]:
    """What the first sentences of the report are made of: counts, and which point holds each extreme."""
    flagged = dict.fromkeys(SEVERITIES, 0)
    # What a failed point measured stays in its row; nothing is the best of the run by it.
    stands = [point for point in points if point["status"] != "failed"]
    for point in points:
        for severity in {flag["severity"] for flag in point["flags"]}:
            flagged[severity] = flagged.get(severity, 0) + 1
    return {
        "points": len(points),
        "status": dict(Counter(point["status"] for point in points)),
        "modelled": sum(point["modelled"] for point in points),
        "errors": sum(total.get("errors") or 0 for point in points for total in point["totals"].values()),
        "flagged": flagged,
        "unflagged": sum(not point["flags"] for point in points),
        "highest_iops": _extreme(stands, "iops"),
        "highest_bytes_per_s": _extreme(stands, "bytes_per_s"),
        "lowest_p99_ns": _slowest(stands, lowest=True),
        "highest_p99_ns": _slowest(stands, lowest=False),
    }


def _limits(points: Sequence[Json], labels: Sequence[str]) -> list[str]:
    """Of each modelled configuration what limited its points, and what failed in it."""
    said: dict[int, list[str]] = {}
    for point in points:
        if point["limit"]:
            said.setdefault(point["configuration"], []).append(point["limit"]["said"])
    told = []
    for configuration in sorted(said):
        told.append(configuration_words(labels[configuration], said[configuration]))
        failed = [point["incidents"] for point in points if point["configuration"] == configuration and point["incidents"]]
        more = f" So at {len(failed)} of {len(said[configuration])} points." if len(failed) > 1 else ""
        told += [f"{labels[configuration]}, failures: {failed[0]}.{more}"] if failed else []
    return told


def _extreme(points: Sequence[Json], key: str) -> dict[str, Any] | None:
    sums = [(point["together"][key], -point["index"]) for point in points if key in point["together"]]
    return {"value": max(sums)[0], "point": -max(sums)[1]} if sums else None


def _slowest(points: Sequence[Json], *, lowest: bool) -> dict[str, Any] | None:
    values = [
        (total["latency_ns"]["p99"], point["index"], op, "p99" in total.get("at_least", ()))
        for point in points
        for op, total in point["totals"].items()
        if total.get("latency_ns") and total["latency_ns"].get("p99")
    ]
    if not values:
        return None
    value, index, op, at_least = min(values) if lowest else max(values)
    return {"value": value, "point": index, "op": op, "at_least": at_least}


def _flags(points: Sequence[Json]) -> list[dict[str, Any]]:
    """Every kind of flag once, the worst first, with the points that carry it."""
    kinds: dict[tuple[str, str], dict[str, Any]] = {}
    for point in points:
        for flag in point["flags"]:
            kind = kinds.setdefault(
                (flag["name"], flag["severity"]),
                {"name": flag["name"], "severity": flag["severity"], "points": []},
            )
            kind["points"].append({"point": point["index"], "message": flag["message"], "advice": flag["advice"]})
    return sorted(kinds.values(), key=lambda kind: SEVERITIES.index(kind["severity"]))
