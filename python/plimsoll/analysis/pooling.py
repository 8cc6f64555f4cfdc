"""Several repeats of one point become one estimate.

Model: the value is the mean of the repeats' values. With three repeats or more, the interval is Student's t interval of the values
themselves (Law, Simulation Modeling and Analysis, 5th ed., 9.4: independent replications): it contains what changes from run to run and
cannot be seen within one. It is never narrower than the repeats' own intervals allow. Two repeats know too little of each other (Student's
t with one degree of freedom is 12.7): their own intervals are combined, and the result is widened until it holds both values.
Rates and latencies are never negative, so a lower bound below 0 becomes 0.
Limits: a repeat without interval takes part with its value; two repeats without intervals have that 12.7. The repeats are taken to be
independent and of equal weight: same length, different seeds.

    pooled([Estimate(10.0, 9.0, 11.0, 40), Estimate(11.0, 10.0, 12.0, 40)])      # 10.5, about ±0.71
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

from plimsoll.analysis.metric import metric
from plimsoll.analysis.statistics.distributions import quantile
from plimsoll.result import Estimate, Result

#: From this many repeats on, the differences between them say how far to trust their mean.
REPEATS_MIN = 3
_UPPER_PROBABILITY = 0.975


def pooled(estimates: Sequence[Estimate]) -> Estimate:
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
    return Estimate(pooled(found).value, at_least=True) if at_least else pooled(found)


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
