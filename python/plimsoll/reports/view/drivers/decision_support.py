"""The section of decision support: metrics of each side, queries as bars, streams over time, and what limited them.

Model: a side is one configuration at one setting; of its runs the lower one is shown, with the metrics of the other beside it
(`plimsoll.analysis.decision.runs`). Times are seconds from the start of the point. A query alone has what storage did meanwhile; in
streams it has the mean of its times.
Limits: `LANES_MAX` streams are drawn, and the number of the others is told.

    decision_support(members)["sides"][0]["queries"][0]["alone_s"]
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypedDict, cast

from plimsoll.analysis.decision.limit import busy_share, limit, locks_share
from plimsoll.analysis.decision.runs import METRICS, Run, Standing, section, standings
from plimsoll.analysis.point.metric import ALL, metric
from plimsoll.decision import BANNER
from plimsoll.decision.queries import asks
from plimsoll.reports.view.experiments import Member
from plimsoll.reports.view.point import Settings
from plimsoll.result import Result
from plimsoll.stored import top_devices

LANES_MAX = 40
_REFRESHES = {"rf1": "orders that come", "rf2": "orders that go"}
_HOUR_S = 3600.0


class DecisionMetrics(TypedDict):
    """At the scale of the side; null for a test that was not carried out to its end."""

    power: float | None
    throughput: float | None
    composite: float | None


class DecisionStorage(TypedDict):
    """What the target's devices did meanwhile; null where nobody saw it."""

    bytes_read: float | None
    bytes_written: float | None
    spill_bytes: float | None
    read_request_bytes: float | None
    write_request_bytes: float | None
    r_await_ms: float | None
    w_await_ms: float | None
    queue_mean: float | None
    #: Of the time in which some task stood waiting for storage.
    waiting_share: float | None


class DecisionQuery(TypedDict):
    """A query or a refresh."""

    name: str
    asks: str
    alone_s: float | None
    #: The mean of all streams.
    beside_s: float | None
    #: While it was alone.
    storage: DecisionStorage
    #: User, system, iowait: percent of all processors' time.
    cpu: tuple[float, float, float] | None
    #: Null where nobody compared the answer.
    right: bool | None


class DecisionSpan(TypedDict):
    """A query under way."""

    name: str
    start_s: float
    end_s: float


class DecisionLane(TypedDict):
    """What one stream did, one query after the other."""

    name: str
    spans: list[DecisionSpan]


class DecisionPhase(TypedDict):
    """A test as a whole."""

    name: str
    seconds: float
    storage: DecisionStorage
    #: Of the time of sessions in which they waited for locks; null where the engine does not tell.
    locks_share: float | None
    #: Of all processors' time.
    busy_share: float | None
    limited_by: str | None


class DecisionSide(TypedDict):
    """One configuration at one setting."""

    configuration: int
    #: The point that is reported.
    point: int
    settings: Settings
    scale: float
    streams: int
    metrics: DecisionMetrics
    #: Of the other run; null where there was one.
    other: DecisionMetrics | None
    queries_per_hour: float | None
    mean_ns: float | None
    p95_ns: float | None
    load_s: float | None
    load_bytes: float | None
    data_bytes: float | None
    memory_bytes: float | None
    queries: list[DecisionQuery]
    lanes: list[DecisionLane]
    #: Streams that are not drawn.
    left_out: int
    phases: list[DecisionPhase]
    #: Kernel names of the target's devices.
    devices: list[str]


class DecisionSupport(TypedDict):
    """Decision support on all sides; ``banner`` has to stand wherever its figures do."""

    banner: str
    #: What each metric says.
    meanings: dict[str, str]
    sides: list[DecisionSide]


def decision_support(members: Sequence[Member]) -> DecisionSupport | None:
    """None where nothing was measured to its end."""
    places = {id(member.result): member for member in members}
    found: dict[int, list[Member]] = {}
    for member in members:
        found.setdefault(member.configuration, []).append(member)
    sides = [
        _side(standing, places[id(standing.reported.result)])
        for configuration in sorted(found)
        for standing in standings([member.result for member in found[configuration]])
    ]
    return {"banner": BANNER, "meanings": dict(METRICS), "sides": sides} if sides else None


def _side(standing: Standing, member: Member) -> DecisionSide:
    result = standing.reported.result
    said: Mapping[str, Any] = section(result) or {}
    load = said.get("load") or {}
    records = sorted([*(said.get("queries") or ()), *(said.get("refreshes") or ())], key=lambda record: record["start_ns"])
    lanes = list(_lanes(records))
    return {
        "configuration": member.configuration,
        "point": member.index,
        "settings": dict(standing.settings),
        "scale": standing.scale,
        "streams": int(said.get("streams") or 0),
        "metrics": _metrics(standing.reported),
        "other": None if standing.other is None else _metrics(standing.other),
        "queries_per_hour": _per_hour(standing),
        "mean_ns": _of_all(result, "mean"),
        "p95_ns": _of_all(result, "p95"),
        "load_s": load.get("load_s"),
        "load_bytes": load.get("bytes_written"),
        "data_bytes": load.get("data_bytes"),
        "memory_bytes": said.get("memory_bytes"),
        "queries": _queries(records),
        "lanes": lanes[:LANES_MAX],
        "left_out": max(len(lanes) - LANES_MAX, 0),
        "phases": [_phase(phase) for phase in said.get("phases") or ()],
        "devices": [str(device["name"]) for device in top_devices(result.host.get("target"))],
    }


def _metrics(run: Run) -> DecisionMetrics:
    return {"power": run.power, "throughput": run.throughput, "composite": run.composite}


def _per_hour(standing: Standing) -> float | None:
    """Of the streams where they came to their end, else of the queries alone."""
    run = standing.reported
    if run.throughput is not None:
        return run.throughput / standing.scale
    rate = metric(run.result, ALL, "iops")
    return None if rate is None else rate.value * _HOUR_S


def _of_all(result: Result, name: str) -> float | None:
    found = metric(result, ALL, name)
    return None if found is None else found.value


def _queries(records: Sequence[Mapping[str, Any]]) -> list[DecisionQuery]:
    """In the order of their numbers, refreshes last."""
    by_name: dict[tuple[int, str], list[Mapping[str, Any]]] = {}
    for record in records:
        by_name.setdefault((int(record.get("number", 100)), _name(record)), []).append(record)
    return [_query(name, by_name[number, name]) for number, name in sorted(by_name)]


def _query(name: str, records: Sequence[Mapping[str, Any]]) -> DecisionQuery:
    alone = next((record for record in records if record["phase"] == "power"), None)
    beside = [float(record["seconds"]) for record in records if record["phase"] == "throughput"]
    first = records[0]
    cpu = (alone or {}).get("cpu")
    return {
        "name": name,
        "asks": asks(int(first["number"])) if "number" in first else _REFRESHES[str(first["refresh"])],
        "alone_s": None if alone is None else float(alone["seconds"]),
        "beside_s": sum(beside) / len(beside) if beside else None,
        "storage": _storage(alone or {}),
        "cpu": None if cpu is None else (cpu["user_percent"], cpu["system_percent"], cpu["iowait_percent"]),
        "right": first.get("validated"),
    }


def _storage(seen: Mapping[str, Any]) -> DecisionStorage:
    return cast("DecisionStorage", {name: seen.get(name) for name in DecisionStorage.__annotations__})


def _name(record: Mapping[str, Any]) -> str:
    return str(record["refresh"]).upper() if "refresh" in record else f"Q{record['number']}"


def _lanes(records: Sequence[Mapping[str, Any]]) -> Iterator[DecisionLane]:
    """Power first, then the streams by number, the refresh stream last."""
    lanes: dict[tuple[int, str], list[DecisionSpan]] = {}
    for record in records:
        stream = record["stream"]
        key = (0, "alone") if record["phase"] == "power" else (10**6, "refreshes") if stream is None else (int(stream), f"stream {stream}")
        span: DecisionSpan = {"name": _name(record), "start_s": record["start_ns"] / 1e9, "end_s": record["end_ns"] / 1e9}
        lanes.setdefault(key, []).append(span)
    for key in sorted(lanes):
        yield {"name": key[1], "spans": lanes[key]}


def _phase(phase: Mapping[str, Any]) -> DecisionPhase:
    found = limit(phase)
    return {
        "name": str(phase["name"]),
        "seconds": float(phase["seconds"]),
        "storage": _storage(phase),
        "locks_share": locks_share(phase),
        "busy_share": busy_share(phase),
        "limited_by": None if found is None else found.words(),
    }
