"""Saturation: the throughput that more load does not raise.

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

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import sqrt
from typing import Any, Literal

from plimsoll.analysis.load_line import LoadLine, LoadPoint
from plimsoll.analysis.point import offered_load
from plimsoll.analysis.point.pooling import pooled
from plimsoll.result import Estimate

Json = dict[str, Any]
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
        return Saturation(pooled([point.iops for point in behind]), behind[0].level, "offered", reached=True)
    plateau = _plateau(points)
    if len(plateau) > 1:
        return Saturation(pooled([point.iops for point in plateau]), plateau[0].level, "plateau", reached=True)
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
