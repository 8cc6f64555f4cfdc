"""A point of a report: one stored result, with its course over time.

Model: values are bytes, nanoseconds and per-second rates exactly as stored. Latencies that requests without an answer raise are the lower
bounds of `plimsoll.analysis.point.repeats`. What other files of this room use of a point, too, is declared here: estimates, verdicts,
groups.
Limits: what the engine and the host say of themselves is handed on as it was stored, without a type.

    point_view(0, Placed(0, 0, record), decode, 240)["totals"]["read"]["iops"]
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any, Generic, Literal, NotRequired, TypedDict, TypeVar, cast

from plimsoll.analysis.point.array import ComponentSet, component_sets
from plimsoll.analysis.point.metric import ALL, RATES, metric, rate_noun, spoken
from plimsoll.analysis.point.offered_load import elapsed
from plimsoll.analysis.point.replay import Replay
from plimsoll.records import dataclass
from plimsoll.reports.limits import IncidentLabel, busy_words, incident_labels, incident_words, limit_words
from plimsoll.reports.view.distribution import Decoder
from plimsoll.reports.view.timeline import HostTimeline, Records, Timeline, host_timeline, timeline
from plimsoll.result import OPS, Estimate, Estimates, Flag, HostResult, LatencySummary, Op, OpTotals, Result, Severity, Status, Totals
from plimsoll.stored import Coordinates, Interval, Sample

Made = TypeVar("Made")
#: What an experiment gave a point, by option.
Settings = dict[str, Any]

GroupName = Literal["sequential", "random", "combined", "other"]
#: The access patterns that have bars of their own, in their order.
GROUPS: tuple[GroupName, ...] = ("sequential", "random", "combined")
SEVERITIES: tuple[Severity, ...] = ("invalid", "doubt", "note")


class Written(dict[str, Any], Generic[Made]):
    """An instance of a data class as JSON has it: its fields by name."""


class EstimateView(TypedDict):
    """A figure with its 95 % confidence interval, where there is one."""

    value: float
    low: float | None
    high: float | None
    #: The value is a lower bound, because requests had no answer.
    at_least: NotRequired[bool]


class LatencyView(TypedDict):
    """A distribution of times, in nanoseconds."""

    mean: float
    min: float
    p50: float
    p90: float
    p95: float
    p99: float
    p999: float
    max: float
    stddev: float


class Total(TypedDict):
    """One operation over the measured time."""

    count: int
    iops: float
    bytes: int
    bytes_per_s: float
    errors: int
    latency_ns: LatencyView | None
    service_ns: LatencyView | None
    #: The latencies that are lower bounds, because requests had no answer when the measured time ended.
    at_least: NotRequired[list[str]]


class Together(TypedDict, total=False):
    """Rates of all operations together."""

    iops: float
    bytes_per_s: float


class FlagView(TypedDict):
    """A doubt about a point."""

    name: str
    severity: Severity
    message: str
    advice: str


class CacheState(TypedDict):
    """What the caches held when the point began."""

    state: str
    how: str


class Ended(TypedDict):
    """Why the measured time ended where it did."""

    by: str
    how: str
    #: What was to be reached before the limit, and how long it took to settle.
    goal: NotRequired[str]
    settled_s: NotRequired[float]


class Limit(TypedDict):
    """What limited a modelled array, and how busy its components were, in words."""

    said: str
    busy: str


class CoordinatesView(TypedDict):
    """Where a point stands in its experiment."""

    experiment: str
    kind: str
    role: str
    level: float | None
    settings: Settings
    #: How often the level was measured anew, in place of what it was.
    again: NotRequired[int]


class ObjectiveVerdict(TypedDict):
    """Whether an objective holds."""

    objective: str
    holds: bool
    #: Whether the 95 % interval lies on one side of the limit.
    settled: bool
    failed_by: str | None
    #: Nothing keeps it from holding but what is not known: requests without an answer, or too few of them.
    undecided: NotRequired[bool]


class HostView(TypedDict):
    """What one host of several had to do with a point."""

    name: str
    status: str
    error: str | None
    target: str
    totals: dict[Op, Total]
    #: How long after the common instant its last thread began.
    skew_ns: int | None
    #: How far its clock is ahead of the one that started all, and how far from the truth that can be.
    offset_ns: int | None
    offset_bound_ns: int | None
    #: What carrying the gang cost it meanwhile: percent of one processor, and memory.
    gang_cpu_percent: float | None
    gang_memory_bytes: int | None


class PointView(TypedDict):
    """One stored result."""

    index: int
    run: int
    configuration: int
    id: str
    status: Status
    error: str | None
    started: str
    modelled: bool
    offered_per_s: float | None
    errors: dict[str, dict[str, int]]
    cache: CacheState
    ended: Ended
    #: One entry for each stream that replays a trace.
    replay: list[Replay]
    workload: str
    title: str
    target: str
    seed: int
    repeat: int
    duration_s: float
    warmup_s: float
    threads: int
    queue_depth: int | None
    arrival: str
    group: GroupName
    purpose: str | None
    expect: str | None
    totals: dict[Op, Total]
    #: Rates of all operations together, without those that merely come with others; empty when nothing was measured.
    together: Together
    #: What people call the rate of this load, and in how many seconds of it one is done: `IOPS` and 1.
    rate_noun: str
    rate_factor: float
    #: The time that the totals cover; null when nothing was measured.
    measured_s: float | None
    streams: dict[str, dict[Op, Total]]
    parts: dict[str, dict[Op, Total]]
    #: The hosts that measured together; empty for a point of one host.
    hosts: list[HostView]
    flags: list[FlagView]
    timeline: Timeline | None
    host: HostTimeline | None
    definition: dict[str, Any]
    options: dict[str, Any]
    engine: dict[str, Any]
    #: Of a modelled array: equal components put together, the busiest first.
    components: list[Written[ComponentSet]]
    #: Null of storage.
    limit: Limit | None
    #: What failed in a modelled array, when, and how long it was rebuilt, in words.
    incidents: str | None
    #: The same for lines in its time charts.
    incident_labels: list[IncidentLabel]
    #: By operation (`all` for all together) and metric.
    estimates: dict[str, dict[str, EstimateView]]
    place: CoordinatesView | None
    verdict: ObjectiveVerdict | None


@dataclass(frozen=True)
class PointRecord:
    """One point as stored: its result and the lines of `intervals.jsonl` and `monitor.jsonl`, which are gone through once and not kept."""

    result: Result
    intervals: Records[Interval] = ()
    monitor: Records[Sample] = ()


@dataclass(frozen=True)
class Placed:
    """A point with its place in the report: indices of its run and of its configuration."""

    run: int
    configuration: int
    record: PointRecord


@dataclass(frozen=True)
class Drawing:
    """How courses are drawn: how histograms are read, and how many columns a phase has at most."""

    decode: Decoder
    columns: int


class Course(TypedDict):
    """What of a point is seen over time."""

    timeline: Timeline | None
    host: HostTimeline | None


def course(record: PointRecord, drawing: Drawing) -> Course:
    """The point and its host over time."""
    return {
        "timeline": timeline(record.intervals, drawing.decode, drawing.columns),
        "host": host_timeline(record.monitor, drawing.columns),
    }


def point_view(index: int, placed: Placed, verdict: ObjectiveVerdict | None) -> PointView:
    """Everything about a point but its course; ``verdict`` is that of the objective of its experiment."""
    result, job = placed.record.result, placed.record.result.job
    sets = component_sets(result)
    return {
        "index": index,
        "run": placed.run,
        "configuration": placed.configuration,
        "id": result.id,
        "status": result.status,
        "error": result.error,
        "started": result.started,
        "modelled": result.modelled,
        "offered_per_s": result.offered_per_s,
        "errors": result.errors,
        "cache": cast("CacheState", result.cache),
        "ended": cast("Ended", result.ended),
        "replay": cast("list[Replay]", result.replay),
        "workload": job.workload,
        "title": job.title,
        "target": job.target,
        "seed": job.seed,
        "repeat": job.repeat,
        "duration_s": job.duration_s,
        "warmup_s": job.warmup_s,
        "threads": job.threads,
        "queue_depth": job.queue_depth,
        "arrival": job.arrival,
        "group": group_of(job.group),
        "purpose": job.definition.get("purpose"),
        "expect": job.definition.get("expect"),
        "totals": _totals(result.totals, result.estimates),
        "together": _together(result),
        "rate_noun": rate_noun([result]),
        "rate_factor": spoken(1.0, rate_noun([result])),
        "measured_s": elapsed(result),
        "streams": {name: _totals(totals, {}) for name, totals in result.streams.items()},
        "parts": {name: _totals(totals, {}) for name, totals in result.parts.items()},
        "hosts": [_host(host) for host in result.hosts],
        "flags": [_flag(flag) for flag in sorted(result.flags, key=lambda flag: SEVERITIES.index(flag.severity))],
        "timeline": None,
        "host": None,
        "definition": dict(job.definition),
        "options": dict(job.options),
        "engine": _engine(result.engine),
        "components": [cast("Written[ComponentSet]", asdict(one)) for one in sets],
        "limit": {"said": limit_words(sets), "busy": busy_words(sets)} if sets else None,
        "incidents": incident_words(result) or None,
        "incident_labels": incident_labels(result.engine),
        "estimates": _with_intervals(result.estimates),
        "place": _place(result.place),
        "verdict": verdict,
    }


def _host(host: HostResult) -> HostView:
    gang = host.gang or {}
    seconds = float(gang.get("seconds") or 0.0)
    return {
        "name": host.name,
        "status": host.status,
        "error": host.error,
        "target": host.target,
        "totals": _totals(host.totals, {}),
        "skew_ns": host.skew_ns,
        "offset_ns": host.offset_ns,
        "offset_bound_ns": host.offset_bound_ns,
        "gang_cpu_percent": 100 * float(gang["cpu_ns"]) / 1e9 / seconds if seconds > 0 else None,
        "gang_memory_bytes": gang.get("memory_bytes"),
    }


def group_of(name: str) -> GroupName:
    """The group of bars in which workloads of the group ``name`` stand."""
    return next((group for group in GROUPS if group == name), "other")


def estimate_view(estimate: Estimate) -> EstimateView:
    """As the page has it: only a lower bound says what it is."""
    view: EstimateView = {"value": estimate.value, "low": estimate.low, "high": estimate.high}
    return {**view, "at_least": True} if estimate.at_least else view


def _together(result: Result) -> Together:
    found = {name: metric(result, ALL, name) for name in RATES}
    return cast("Together", {name: estimate.value for name, estimate in found.items() if estimate is not None})


def _with_intervals(estimates: Estimates) -> dict[str, dict[str, EstimateView]]:
    """The estimates that have an interval; the others are in the totals."""
    return {
        op: {
            name: {"value": estimate.value, "low": estimate.low, "high": estimate.high}
            for name, estimate in metrics.items()
            if estimate.low is not None
        }
        for op, metrics in estimates.items()
    }


def _place(place: Coordinates) -> CoordinatesView | None:
    if not place:
        return None
    view: CoordinatesView = {
        "experiment": place["experiment"],
        "kind": place["kind"],
        "role": place["role"],
        "level": place.get("level"),
        "settings": place.get("settings") or {},
    }
    return {**view, "again": place["again"]} if place.get("again") else view


def _totals(totals: Totals, estimates: Estimates) -> dict[Op, Total]:
    """Totals in the order of `OPS`, their latencies raised to the lower bounds among ``estimates``; ``at_least`` names these."""
    return {op: _total(totals[op], estimates.get(op, {})) for op in OPS if op in totals}


def _total(total: OpTotals, estimates: Mapping[str, Estimate]) -> Total:
    bounds: dict[str, Any] = {name: one.value for name, one in estimates.items() if one.at_least}
    view: Total = {
        "count": total.count,
        "iops": total.iops,
        "bytes": total.bytes,
        "bytes_per_s": total.bytes_per_s,
        "errors": total.errors,
        "latency_ns": _latency(replace(total.latency_ns, **bounds)) if total.latency_ns else None,
        "service_ns": _latency(total.service_ns) if total.service_ns else None,
    }
    return {**view, "at_least": sorted(bounds)} if bounds else view


def _latency(summary: LatencySummary) -> LatencyView:
    return {
        "mean": summary.mean,
        "min": summary.min,
        "p50": summary.p50,
        "p90": summary.p90,
        "p95": summary.p95,
        "p99": summary.p99,
        "p999": summary.p999,
        "max": summary.max,
        "stddev": summary.stddev,
    }


def _flag(flag: Flag) -> FlagView:
    return {"name": flag.name, "severity": flag.severity, "message": flag.message, "advice": flag.advice}


def _engine(engine: Mapping[str, Any]) -> dict[str, Any]:
    """What the engine says of itself; components have a table of their own."""
    shown = {
        key: engine[key] for key in ("backend", "engine", "cpu_ns", "verify", "journal", "stopped_by", "first_error") if engine.get(key)
    }
    if "engine" in shown:
        shown["engine"] = {key: value for key, value in shown["engine"].items() if key != "components"}
    return shown
