"""Pooling of repeats, and latencies bounded by outstanding requests.

Repeats: several results of one point become one estimate.

Model: the value is the mean of the repeats' values. With three repeats or more, the interval is Student's t interval of the values
themselves (Law, Simulation Modeling and Analysis, 5th ed., 9.4: independent replications): it contains what changes from run to run and
cannot be seen within one. It is never narrower than the repeats' own intervals allow. Two repeats know too little of each other (Student's
t with one degree of freedom is 12.7): their own intervals are combined, and the result is widened until it holds both values.
Rates and latencies are never negative, so a lower bound below 0 becomes 0.
Limits: a repeat without interval takes part with its value; two repeats without intervals have that 12.7. The repeats are taken to be
independent and of equal weight: same length, different seeds.

    pool_repeats([Estimate(10.0, 9.0, 11.0, 40), Estimate(11.0, 10.0, 12.0, 40)])      # 10.5, about ±0.71

Lower bounds: latencies that what was outstanding at the end raises are shown as lower bounds, and judged by what they could be.

Model: `plimsoll.analysis.point.summary` says between which values a metric lies. Where the lower one is more than `SHARE_MIN` above what
was measured, it takes the place of the estimate, which then has no interval: the scatter of what was measured says nothing about what was
not. Below that the few requests that any queue holds at any instant would take intervals away. A judgement looks at both values whatever
their distance is.

    with_lower_bounds(estimates, outstanding)["read"]["p99"].at_least        # True: it was at least .value
    lowest([result], "read", "p99"), highest([result], "read", "p99")      # nanoseconds; the second may be infinite
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import sqrt

from plimsoll.analysis.point.metric import ALL, LATENCIES, SCORE, metric
from plimsoll.analysis.point.score import PERCENTILE, weighed
from plimsoll.analysis.statistics.distributions import quantile
from plimsoll.result import Estimate, Estimates, Outstanding, Result

#: From this many repeats on, the differences between them say how far to trust their mean.
REPEATS_MIN = 3
_UPPER_PROBABILITY = 0.975


def pool_repeats(estimates: Sequence[Estimate]) -> Estimate:
    """One estimate of the same quantity from at least one."""
    if not estimates:
        raise ValueError("there is nothing to pool")
    if len(estimates) == 1:
        return estimates[0]
    values = [estimate.value for estimate in estimates]
    value = sum(values) / len(values)
    below, above = _within(estimates, upper=False), _within(estimates, upper=True)
    if below is None or above is None or len(estimates) >= REPEATS_MIN:
        between = _between(values, value)
        below, above = max(below or 0.0, between), max(above or 0.0, between)
    else:
        below, above = max(below, value - min(values)), max(above, max(values) - value)
    return Estimate(value, max(0.0, value - below), value + above, sum(estimate.batches for estimate in estimates))


def pooled_metric(results: Sequence[Result], op: str, name: str) -> Estimate | None:
    """The metric ``name`` of operation ``op`` over the repeats that have it; None when none has it."""
    found = [estimate for result in results if (estimate := metric(result, op, name)) is not None]
    if not found:
        return None
    at_least = any(estimate.at_least for estimate in found)
    if name == "max":
        # The slowest request of all repeats; a mean of maxima would be below what was seen.
        return Estimate(max(estimate.value for estimate in found), at_least=at_least)
    # With a repeat of which only a lower bound is known, the mean is one, too.
    return Estimate(pool_repeats(found).value, at_least=True) if at_least else pool_repeats(found)


def _within(estimates: Sequence[Estimate], *, upper: bool) -> float | None:
    """Half-width of the mean from the half-widths of independent parts; None when a part has none."""
    squares = 0.0
    for estimate in estimates:
        bound = estimate.high if upper else estimate.low
        if bound is None:
            return None
        squares += _reach(estimate, bound) ** 2
    return sqrt(squares) / len(estimates)


def _reach(estimate: Estimate, bound: float) -> float:
    """How far the interval reaches to one side. A lower bound of 0 may have been cut off there; the upper one was not."""
    if bound <= 0 and estimate.high is not None:
        return max(estimate.value - bound, estimate.high - estimate.value)
    return abs(bound - estimate.value)


def _between(values: Sequence[float], mean: float) -> float:
    """Half-width of the mean from the scatter of the values."""
    count = len(values)
    deviation = sqrt(sum((value - mean) ** 2 for value in values) / (count - 1))
    return quantile(_UPPER_PROBABILITY, count - 1) * deviation / sqrt(count)


#: By what share what was outstanding has to raise a latency to be shown in its place.
SHARE_MIN = 0.05


def with_lower_bounds(estimates: Estimates, outstanding: Mapping[str, Outstanding]) -> Estimates:
    """The estimates with those replaced that outstanding requests raise."""
    return {
        op: {**metrics, **_raised(metrics, outstanding[op])} if op in outstanding else metrics
        for op, metrics in {**{op: {} for op in outstanding}, **estimates}.items()
    }


def with_score(result: Result, scored: Estimate | None) -> Estimates:
    """The estimates of ``result`` with the score of its users: ``scored``, or a lower bound where requests without an answer raise it."""
    least = _least(result, ALL, SCORE)
    if scored is None and least is None:
        return result.estimates
    if scored is None or (least is not None and least > (1 + SHARE_MIN) * scored.value):
        scored = Estimate(least or 0.0, at_least=True)
    return {**result.estimates, ALL: {**result.estimates.get(ALL, {}), SCORE: scored}}


def _raised(metrics: Mapping[str, Estimate], owed: Outstanding) -> dict[str, Estimate]:
    bounds = {name: owed.at_least[name] for name in LATENCIES}
    return {
        name: Estimate(bound, at_least=True)
        for name, bound in bounds.items()
        if name not in metrics or bound > (1 + SHARE_MIN) * metrics[name].value
    }


def lowest(results: Sequence[Result], op: str, name: str) -> float | None:
    """What a latency of the repeats of a point was at least; None when nothing is known of it."""
    values = [value for result in results if (value := _least(result, op, name)) is not None]
    return _pooled(values, name)


def highest(results: Sequence[Result], op: str, name: str) -> float | None:
    """What it was at most; infinite when nothing bounds it, None when nothing is known."""
    values = [value for result in results if (value := _most(result, op, name)) is not None]
    return _pooled(values, name)


def unanswered(results: Sequence[Result], op: str) -> int:
    """Requests that never had an answer."""
    return sum(result.outstanding[op].unfinished for result in results if op in result.outstanding)


def _least(result: Result, op: str, name: str) -> float | None:
    if name == SCORE:
        return weighed(result, lambda task: _least(result, task, PERCENTILE))
    found, owed = metric(result, op, name), result.outstanding.get(op)
    known = [value for value in (found.value if found else None, owed.at_least[name] if owed else None) if value is not None]
    return max(known, default=None)


def _most(result: Result, op: str, name: str) -> float | None:
    if name == SCORE:
        return weighed(result, lambda task: _most(result, task, PERCENTILE))
    owed = result.outstanding.get(op)
    if owed is None:
        return _least(result, op, name)
    bound = owed.at_most[name]
    return float("inf") if bound is None else max(bound, _least(result, op, name) or 0.0)


def _pooled(values: Sequence[float], name: str) -> float | None:
    if not values:
        return None
    return max(values) if name == "max" else pool_repeats([Estimate(value) for value in values]).value
