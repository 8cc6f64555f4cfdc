"""The load line: response time against throughput, one point per level of load, with its confidence band.

Model: the results of one subject (a workload in a configuration) are grouped by the level of load they were measured at; repeats of a
level are pooled (`plimsoll.analysis.point.pooling`). The throughput is that of the whole workload, also where the response is one
operation's, because the question is how much load the storage carries while, say, its reads stay fast. The band consists of the 95 %
intervals of the response at each level.
Source: response time against throughput is the SPC-1 ramp's and Vdbench's curve; Jain, "The Art of Computer Systems Performance
Analysis" (1991), 3.3, for the terms.
Limits: points for conditioning, for the maximum and of rounds are no part of the line. A point that ended early is used only where its
level has none that is complete; a failed one never. Without levels, points are told apart by their settings or definition, and their
place on the line is their throughput.

    line = load_line(results, op="read", metric="p99")
    [(point.iops.value, point.response.low, point.response.high) for point in line.points]
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from plimsoll.analysis.point.metric import ALL
from plimsoll.analysis.point.pooling import pooled_metric
from plimsoll.result import Estimate, Result

Json = dict[str, Any]


@dataclass(frozen=True)
class LoadPoint:
    """One level of load: what was carried, and how fast it was answered (nanoseconds). ``repeats`` are the results it rests on."""

    level: float
    iops: Estimate
    bytes_per_s: Estimate
    response: Estimate
    offered_per_s: float | None
    repeats: tuple[Result, ...]


@dataclass(frozen=True)
class LoadLine:
    """Points in the order of their level; ``op`` and ``metric`` say whose response it is."""

    points: tuple[LoadPoint, ...]
    op: str
    metric: str

    def to_json(self) -> Json:
        """For pages and programs; rates per second, response in nanoseconds."""
        return {"op": self.op, "metric": self.metric, "points": [_point_json(point) for point in self.points]}


def load_line(results: Iterable[Result], op: str = ALL, metric: str = "mean") -> LoadLine:
    """The line through every level that has a response of ``op``; levels without one are left out."""
    measured = [(level, usable(group)) for level, group in by_level(results)]
    points = [_point(level, group, op, metric) for level, group in measured if group]
    return LoadLine(tuple(point for point in points if point is not None), op, metric)


def by_level(results: Iterable[Result]) -> list[tuple[float, tuple[Result, ...]]]:
    """The results of one subject, failed ones included, by level of load, lowest first.

    A level that was measured again for longer, because it had too few requests, is what it was then.
    """
    taken = [result for result in results if result.place.get("role", "point") == "point"]
    groups: dict[Any, list[Result]] = {}
    levelled = [result for result in taken if result.place.get("level") is not None]
    for result in levelled or taken:
        groups.setdefault(result.place["level"] if levelled else _settings(result), []).append(result)
    kept = {level: longest(group) for level, group in groups.items()} if levelled else groups
    placed = [(float(level) if levelled else _throughput(group), tuple(group)) for level, group in kept.items()]
    return sorted(placed, key=lambda entry: entry[0])


def longest(group: Sequence[Result]) -> list[Result]:
    """The repeats of a level without those before it was measured again for longer."""
    longest_s = max(result.job.duration_s for result in group)
    return [result for result in group if result.job.duration_s == longest_s]


def usable(group: Sequence[Result]) -> tuple[Result, ...]:
    """The repeats that a figure may rest on: the complete ones, or else those that ended early with something measured."""
    complete = tuple(result for result in group if result.status == "complete" and result.totals)
    return complete or tuple(result for result in group if result.status != "failed" and result.totals)


def _point(level: float, group: Sequence[Result], op: str, metric: str) -> LoadPoint | None:
    iops, bytes_per_s = (pooled_metric(group, ALL, name) for name in ("iops", "bytes_per_s"))
    response = pooled_metric(group, op, metric)
    if iops is None or bytes_per_s is None or response is None:
        return None
    offered = [result.offered_per_s for result in group if result.offered_per_s is not None]
    return LoadPoint(
        level=level,
        iops=iops,
        bytes_per_s=bytes_per_s,
        response=response,
        offered_per_s=sum(offered) / len(offered) if offered else None,
        repeats=tuple(group),
    )


def _settings(result: Result) -> str:
    """Equal for repeats of one point."""
    told_apart = result.place.get("settings") or result.job.definition
    return json.dumps([result.job.workload, result.job.target, told_apart], sort_keys=True, default=str)


def _throughput(group: Sequence[Result]) -> float:
    iops = pooled_metric(usable(group), ALL, "iops") if usable(group) else None
    return iops.value if iops is not None else 0.0


def _point_json(point: LoadPoint) -> Json:
    return {
        "level": point.level,
        "iops": asdict(point.iops),
        "bytes_per_s": asdict(point.bytes_per_s),
        "response": asdict(point.response),
        "offered_per_s": point.offered_per_s,
        "repeats": len(point.repeats),
    }
