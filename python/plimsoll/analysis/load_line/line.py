"""The load line with its knee and its saturation.

The load line: response time against throughput, one point per level of load, with its confidence band.

Model: the results of one subject (a workload in a configuration) are grouped by the level of load they were measured at; repeats of a
level are pooled (`plimsoll.analysis.point.repeats`). The throughput is that of the whole workload, also where the response is one
operation's, because the question is how much load the storage carries while, say, its reads stay fast. The band consists of the 95 %
intervals of the response at each level.
Source: response time against throughput is the SPC-1 ramp's and Vdbench's curve; Jain, "The Art of Computer Systems Performance
Analysis" (1991), 3.3, for the terms.
Limits: points for conditioning, for the maximum and of rounds are no part of the line. A point that ended early is used only where its
level has none that is complete; a failed one never. Without levels, points are told apart by their settings or definition, and their
place on the line is their throughput.

    line = load_line(results, op="read", metric="p99")
    [(point.iops.value, point.response.low, point.response.high) for point in line.points]

The knee: where more load starts to cost more in response than it brings in throughput.

Model: the *power* of a point is its throughput over its response (Kleinrock, "Power and deterministic rules of thumb for probabilistic
problems in computer communications", ICC 1979); the knee is where it is largest. In an M/M/1 queue the power is λ(μ−λ), so the knee
is at half the capacity, exactly. Between levels the largest power is where the parabola through the best point and its two neighbours
in throughput has its vertex, which is exact for M/M/1, too.
Limits: with the largest power at the lowest or highest level, the knee lies at or beyond that end of the line; ``at_edge`` says so. The
knee is a property of the curve alone; whether the response is acceptable there is the objective's business.

    knee(load_line(results)).iops

Saturation: the throughput that more load does not raise.

Model: three signs, in this order. *offered*: the highest open loads completed less than 97 % of what was due, so the target could not
keep up (`plimsoll.analysis.point.offered_load`, METHODOLOGY, flag ``rate_not_achieved``). *plateau*: the throughputs of two or more of the
highest levels cannot be told apart, that is, each lies within 5 % of the last one's and within the 95 % interval of the difference
(half-widths in quadrature). *maximum*: neither; the largest throughput seen, which more load might still raise when it is the highest
level's. The levels that show the sign are pooled into one estimate.
Source: saturation as the asymptote of throughput, Jain, "The Art of Computer Systems Performance Analysis" (1991), 3.3 ("usable
capacity", "knee capacity"); Denning and Buzen, "The Operational Analysis of Queueing Network Models" (1978), for the bound itself.
Limits: a plateau wants levels that differ enough: two nearly equal levels always look like one. Without intervals the 5 % decide alone.

    saturation(load_line(results)).iops.value
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from math import sqrt
from typing import Any, Literal

from plimsoll.analysis.point import offered_load
from plimsoll.analysis.point.metric import ALL
from plimsoll.analysis.point.repeats import pool_repeats, pooled_metric
from plimsoll.records import dataclass
from plimsoll.result import Estimate, Result
from plimsoll.stored import Json


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

    A level that was measured again, because it had too few requests or lay too near to the limit, is what it was then.
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
    """The repeats of a level without those before it was measured again, for longer or more precisely."""
    last = max(int(result.place.get("again") or 0) for result in group)
    if last:
        return [result for result in group if result.place.get("again") == last]
    # Earlier versions only set a duration then.
    asked = [result for result in group if "duration" in (result.place.get("settings") or {})]
    longest_s = max((result.job.duration_s for result in asked), default=0.0)
    return [result for result in asked if result.job.duration_s == longest_s] or list(group)


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


METHOD = "largest throughput over response (power, Kleinrock 1979)"


@dataclass(frozen=True)
class Knee:
    """``level`` is the measured level with the largest power, ``iops`` the throughput of the knee.

    ``at_edge`` is ``lowest`` or ``highest`` when that is the end of the line, else None.
    """

    level: float
    iops: float
    at_edge: Literal["lowest", "highest"] | None

    def to_json(self) -> Json:
        """For pages and programs."""
        return {**asdict(self), "method": METHOD}


def knee(line: LoadLine) -> Knee | None:
    """The knee; None with fewer than three levels, which have no inside."""
    points = [point for point in line.points if point.response.value > 0]
    if len(points) < 3:
        return None
    best = max(range(len(points)), key=lambda index: power(points[index]))
    point = points[best]
    if best in (0, len(points) - 1):
        return Knee(point.level, point.iops.value, "lowest" if best == 0 else "highest")
    return Knee(point.level, _vertex(points[best - 1 : best + 2]), None)


def power(point: LoadPoint) -> float:
    """Throughput over response, per second and nanosecond."""
    return point.iops.value / point.response.value


def _vertex(points: Sequence[LoadPoint]) -> float:
    """The throughput at the vertex of the parabola through three powers; the middle one's where throughput does not rise through them."""
    (x0, y0), (x1, y1), (x2, y2) = ((point.iops.value, power(point)) for point in points)
    if not x0 < x1 < x2:
        return x1
    # Newton's divided differences.
    first = (y1 - y0) / (x1 - x0)
    second = ((y2 - y1) / (x2 - x1) - first) / (x2 - x0)
    return x1 if second >= 0 else (x0 + x1) / 2 - first / (2 * second)


Sign = Literal["offered", "plateau", "maximum"]

#: How far the throughputs of a plateau may lie apart.
PLATEAU_SHARE = 0.05


@dataclass(frozen=True)
class Saturation:
    """``iops`` from ``level`` up; ``sign`` says what it was recognised by, ``reached`` whether more load is known to bring no more."""

    iops: Estimate
    level: float
    sign: Sign
    reached: bool

    def to_json(self) -> Json:
        """For pages and programs."""
        return asdict(self)


def saturation(line: LoadLine) -> Saturation | None:
    """The saturation throughput; None when nothing was measured."""
    points = line.points
    if not points:
        return None
    behind = _behind(points)
    if behind:
        return Saturation(pool_repeats([point.iops for point in behind]), behind[0].level, "offered", reached=True)
    plateau = _plateau(points)
    if len(plateau) > 1:
        return Saturation(pool_repeats([point.iops for point in plateau]), plateau[0].level, "plateau", reached=True)
    best = max(points, key=lambda point: point.iops.value)
    return Saturation(best.iops, best.level, "maximum", reached=best is not points[-1])


def achieved(point: LoadPoint) -> bool:
    """Whether the target may have kept up with what was offered; a closed loop always does."""
    return offered_load.achieved(point.repeats)


def _behind(points: Sequence[LoadPoint]) -> list[LoadPoint]:
    """The highest levels, downwards for as long as none was achieved."""
    reached = [index for index, point in enumerate(points) if achieved(point)]
    return list(points[reached[-1] + 1 if reached else 0 :])


def _plateau(points: Sequence[LoadPoint]) -> list[LoadPoint]:
    """The highest levels, downwards for as long as each is like the last. An open load that is achieved is no plateau: it was asked for."""
    last = points[-1]
    plateau = [last]
    for point in reversed(points[:-1]):
        if point.offered_per_s or not _alike(point.iops, last.iops):
            break
        plateau.insert(0, point)
    return plateau


def _alike(one: Estimate, other: Estimate) -> bool:
    apart = abs(one.value - other.value)
    if apart > PLATEAU_SHARE * other.value:
        return False
    halves = [(estimate.high - estimate.low) / 2 for estimate in (one, other) if estimate.low is not None and estimate.high is not None]
    return len(halves) < 2 or apart <= sqrt(sum(half**2 for half in halves))
