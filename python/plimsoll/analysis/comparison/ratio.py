"""Ratios of two sides, corrected for many questions, and sides measured in turn.

A ratio: how many times the one the other is, with an interval and a probability; Holm's correction for asking many times.

Model: everything happens on logarithms, where a ratio is a difference. What is known of a point's error has two parts: within a repeat the
estimate's own interval (several combined, degrees of freedom as Welch and Satterthwaite do, Biometrics Bulletin 2, 1946), between repeats
their scatter (`plimsoll.analysis.comparison.scatter`). The one that says less counts. Ratios of values with lopsided intervals, such as
marks, are formed edge by edge (Donner and Zou, "Closed-form confidence intervals for functions of the normal mean and standard deviation",
Statistical Methods in Medical Research 21, 2012).
Limits: values of 0 and below have no ratio. Points measured once say nothing of what changes between runs.

    common = Common.of(points)                                        # of the whole table
    ratio(repeats_of_b, repeats_of_a, common.at(points[0]))           # Ratio(value=1.21, low=1.15, high=1.27, p=3e-9)

Turns: whether the sides of a point were measured A B A B, as interleaved experiments do.

Model: results of one run are numbered in the order measured. Sides were measured in turn if all have equally many repeats, at least two,
and the first of every side came before the second of any, and so on. Where a repeat has failed or ended early, turns are not complete.

    in_turn([[a1, a2, a3], [b1, b2, b3]])
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import ceil, erfc, exp, inf, log, sqrt

from plimsoll.analysis.comparison.scatter import Scatter, degrees_of_freedom, standard_error
from plimsoll.analysis.point.repeats import REPEATS_MIN
from plimsoll.analysis.statistics.distributions import quantile, two_sided_p
from plimsoll.records import dataclass
from plimsoll.result import Estimate, Result

_UPPER = 0.975
_NORMAL = 1.959963984540054
#: An interval that hides differences of more than about a quarter in either direction does not answer the question.
DECISIVE_MAX = 1.6
#: Standard errors between 1 and a difference that is shown at 5 % in four of five cases (Cohen, "Statistical Power Analysis", 1988).
_ERRORS_APART = _NORMAL + 0.8416
#: Nobody is told to measure for less than twice as long.
LONGER_MIN = 2.0
#: Nobody measures longer to tell apart what differs by less.
_APART_MIN = log(1.05)


@dataclass(frozen=True)
class Ratio:
    """A ratio with its 95 % interval and the two-sided probability of being as far from 1 by chance.

    Interval and probability are None where nothing says how far to trust the values. ``error`` is the standard error of its logarithm.
    """

    value: float
    low: float | None
    high: float | None
    p: float | None
    error: float | None = None

    @property
    def lacking(self) -> float | None:
        """How many times as much time would show this ratio, or one of 1.05 where it is nearer to 1; None where scatter is not known."""
        if self.error is None:
            return None
        return (self.error * _ERRORS_APART / max(abs(log(self.value)), _APART_MIN)) ** 2


def repeats_needed(repeats: int, longer: float | None) -> int:
    """How often points of one length would have to be measured, of which ``repeats`` were too few; ``longer`` as `Ratio.lacking`."""
    return max(REPEATS_MIN, ceil(repeats * max(longer or 0.0, LONGER_MIN)))


def decides(low: float | None, high: float | None) -> bool:
    """Whether the interval is narrow enough to rule out differences that matter, so that *no difference shown* is an answer."""
    return low is not None and high is not None and low > 0 and high <= DECISIVE_MAX * low


def ratio(one: Sequence[Estimate], other: Sequence[Estimate], scatter: Scatter | None = None) -> Ratio | None:
    """How many times ``other`` is ``one``, both the repeats of a point; None when a value is not above 0."""
    if not one or not other or min(estimate.value for estimate in (*one, *other)) <= 0:
        return None
    apart = _centre(one) - _centre(other)
    found = []
    if all(standard_error(estimate) is not None for estimate in (*one, *other)):
        parts = [part for group in (one, other) for part in _within(group)]
        variance, spread = sum(share for share, _ in parts), sum(share**2 / degrees for share, degrees in parts)
        found.append(_judged(apart, sqrt(variance), variance**2 / spread if spread > 0 else inf))
    if scatter is not None and scatter.degrees_of_freedom:
        error = sqrt(scatter.variance * (1 / len(one) + 1 / len(other)))
        found.append(_judged(apart, error, scatter.degrees_of_freedom))
    return max(found, key=lambda ratio: (ratio.high or 0.0) / (ratio.low or 1.0), default=Ratio(exp(apart), None, None, None))


def ratio_of_edges(one: Estimate, other: Estimate) -> Ratio | None:
    """How many times ``other`` is ``one``, from their intervals, which may be lopsided."""
    if min(one.value, other.value) <= 0:
        return None
    apart = log(one.value / other.value)
    edges = (one.low, one.high, other.low, other.high)
    if any(edge is None or edge <= 0 for edge in edges):
        return Ratio(exp(apart), None, None, None)
    low_one, high_one, low_other, high_other = (log(edge) for edge in edges if edge is not None)
    centre_one, centre_other = log(one.value), log(other.value)
    below = sqrt((centre_one - low_one) ** 2 + (high_other - centre_other) ** 2)
    above = sqrt((high_one - centre_one) ** 2 + (centre_other - low_other) ** 2)
    towards = below if apart > 0 else above
    p = 1.0 if apart == 0 else 0.0 if towards == 0 else erfc(_NORMAL * abs(apart) / towards / sqrt(2))
    return Ratio(exp(apart), exp(apart - below), exp(apart + above), p, (below + above) / (2 * _NORMAL))


def holm(probabilities: Sequence[float | None]) -> list[float | None]:
    """Adjusted so that 5 % is the chance of any false alarm among all (Holm, Scandinavian Journal of Statistics 6, 1979)."""
    order = sorted((index for index, p in enumerate(probabilities) if p is not None), key=lambda index: probabilities[index] or 0.0)
    adjusted: list[float | None] = [None] * len(probabilities)
    largest = 0.0
    for position, index in enumerate(order):
        largest = max(largest, min(1.0, (len(order) - position) * (probabilities[index] or 0.0)))
        adjusted[index] = largest
    return adjusted


def _judged(apart: float, error: float, degrees: float) -> Ratio:
    t = quantile(_UPPER, degrees)
    p = two_sided_p(apart / error, degrees) if error > 0 else 1.0 if apart == 0 else 0.0
    return Ratio(exp(apart), exp(apart - t * error), exp(apart + t * error), p, error)


def _centre(group: Sequence[Estimate]) -> float:
    return sum(log(estimate.value) for estimate in group) / len(group)


def _within(group: Sequence[Estimate]) -> list[tuple[float, float]]:
    """Each repeat's share in the variance of the mean logarithm, with its degrees of freedom."""
    return [((standard_error(estimate) or 0.0) ** 2 / len(group) ** 2, degrees_of_freedom(estimate)) for estimate in group]


def in_turn(sides: Sequence[Sequence[Result]]) -> bool:
    """Of the repeats of one point, side by side; all are results of one run."""
    counts = {len(side) for side in sides}
    if len(sides) < 2 or len(counts) > 1 or max(counts) < 2:
        return False
    if any(result.status != "complete" for side in sides for result in side):
        return False
    numbers = [[_number(result) for result in side] for side in sides]
    if any(number is None for side in numbers for number in side):
        return False
    turns = list(zip(*numbers, strict=True))
    return all(max(before) < min(after) for before, after in pairwise(turns))


def _number(result: Result) -> int | None:
    """Its place in its run, with which its name begins."""
    digits, _, _ = result.id.partition("-")
    return int(digits) if digits.isdecimal() else None
