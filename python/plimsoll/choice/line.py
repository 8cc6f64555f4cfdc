"""How much of a demand's load a candidate carries: its load line, from the demanded rate on.

Model: a ramp by the same trials as that of the demand (`plimsoll.choice.trial`): the rate rises by a third a step until an objective fails,
or to eight times the demand; then the limit is narrowed in to a tenth. Where not even the demanded rate holds, the rate falls instead.
Limits: healthy arrays. Caps of several demands hold, so a capped one does not rise above its cap.

    ascent = ascend(Trial("array:nvme-raid10", load))
    line_of(load, ascent).held_per_s
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from plimsoll.analysis.load_line.mark import Mark, mark_of
from plimsoll.choice.demand import DemandedLoad
from plimsoll.choice.trial import Trial, is_latency, judged, limit_of, measured, point_of, responses
from plimsoll.engine.block import native
from plimsoll.result import Result
from plimsoll.target import target_of

#: The load line rises by so much a step, and is known to a tenth.
STEP = 1.35
_RESOLUTION = 1.1
FACTOR_MAX = 8.0


@dataclass(frozen=True)
class LinePoint:
    """A rate, whether all objectives held at it, and the worst latency over its limit; None where no objective has one."""

    rate_per_s: float
    holds: bool
    over_limit: float | None


@dataclass(frozen=True)
class Line:
    """A load line: the highest rate at which all objectives held, its mark where there is one demand, and the points at which it was
    measured."""

    mark: Mark | None
    held_per_s: float | None
    points: tuple[LinePoint, ...]
    limited_by: str | None
    at_least: bool


@dataclass(frozen=True)
class Ascent:
    """The points of a load line by factor of the demand: the highest that held, and the lowest that did not; None where there is none."""

    results: Mapping[float, Result]
    low: float | None
    high: float | None


def ascend(trial: Trial) -> Ascent:
    """Measure the points; the rate rises, then the limit is narrowed in."""
    engine, target = native(), target_of(trial.target)
    results: dict[float, Result] = {}

    def holds(factor: float) -> bool:
        if factor not in results:
            results[factor] = measured(point_of(trial, target, trial.load.at(factor)), engine, factor * trial.load.rate_per_s)
        return judged(trial.load, results[factor])[0]

    low, high = (1.0, None) if holds(1.0) else (None, 1.0)
    while high is None and low is not None and low < FACTOR_MAX:
        step = min(low * STEP, FACTOR_MAX)
        low, high = (step, None) if holds(step) else (low, step)
    while low is None and high is not None and high > 1 / FACTOR_MAX:
        step = high / STEP
        low, high = (step, high) if holds(step) else (None, step)
    while low is not None and high is not None and high / low > _RESOLUTION:
        middle = (low * high) ** 0.5
        low, high = (middle, high) if holds(middle) else (low, middle)
    return Ascent(results, low, high)


def line_of(load: DemandedLoad, ascent: Ascent) -> Line:
    """The load line that the points are."""
    results, high = ascent.results, ascent.high
    ordered = [results[factor] for factor in sorted(results)]
    mark = mark_of(ordered, load.objective) if len(load.parts) == 1 else None
    points = tuple(_point(load, factor, results[factor]) for factor in sorted(results))
    last = results[high] if high is not None else ordered[-1]
    held = None if ascent.low is None else sum(total.iops for total in results[ascent.low].totals.values())
    return Line(mark, held, points, limit_of(last)[0] or limit_of(last)[1], at_least=high is None)


def _point(load: DemandedLoad, factor: float, result: Result) -> LinePoint:
    shares = [one.value / one.limit for one in responses(load, result) if is_latency(one) and one.value is not None and one.limit]
    return LinePoint(factor * load.rate_per_s, judged(load, result)[0], max(shares, default=None))
