"""The knee of a load line: where more load starts to cost more in response than it brings in throughput.

Model: the *power* of a point is its throughput over its response (Kleinrock, "Power and deterministic rules of thumb for probabilistic
problems in computer communications", ICC 1979); the knee is where it is largest. In an M/M/1 queue the power is λ(μ−λ), so the knee
is at half the capacity, exactly. Between levels the largest power is where the parabola through the best point and its two neighbours
in throughput has its vertex, which is exact for M/M/1, too.
Limits: with the largest power at the lowest or highest level, the knee lies at or beyond that end of the line; ``at_edge`` says so. The
knee is a property of the curve alone; whether the response is acceptable there is the objective's business.

    knee(load_line(results)).iops
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from plimsoll.analysis.load_line import LoadLine, LoadPoint

Json = dict[str, Any]

METHOD = "largest throughput over response (power, Kleinrock 1979)"


@dataclass(frozen=True)
class Knee:
    """``level`` is the measured level with the largest power, ``iops`` the throughput of the knee.

    ``at_edge`` is ``lowest`` or ``highest`` when that is the end of the line, else None.
    """

    level: float
    iops: float
    at_edge: str | None

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
