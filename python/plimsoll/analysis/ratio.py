"""How many times the one the other is, with an interval and a probability; and Holm's correction for asking many times.

Model: everything happens on logarithms, where a ratio is a difference (delta method: the standard error of log x is that of x over x).
What is known of a point's error has two parts. Within a repeat it is the estimate's own interval (several combined, degrees of freedom
as Welch and Satterthwaite do, Biometrics Bulletin 2, 1946). Between repeats it is their scatter. Two or three repeats know their scatter
badly, so the points of a comparison lend each other what they know: what scatters beyond the repeats' own intervals is one variance
component for all (Searle, Casella and McCulloch, "Variance Components", 1992, 3.6), and a point's own scatter counts where it is
larger. That holds where all points scatter alike. Where the statistic of Bartlett's test (Proceedings of the Royal Society A 160, 1937)
is above its median, a point either stands alone (Student's t of its own repeats) or is given the largest scatter of all points, whichever
says more. Of the errors within and between, the one that says less counts. Ratios of values with lopsided intervals, such as marks, are
formed edge by edge (Donner and Zou, "Closed-form confidence intervals for functions of the normal mean and standard deviation",
Statistical Methods in Medical Research 21, 2012).
Limits: values of 0 and below have no ratio. Points measured once say nothing of what changes between runs.

    common = Common.of([[repeats_of_a, repeats_of_b], …])                       # all points
    ratio(repeats_of_b, repeats_of_a, common.at([repeats_of_a, repeats_of_b]))   # Ratio(value=1.21, low=1.15, high=1.27, p=3e-9)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import erfc, exp, inf, log, sqrt

from plimsoll.analysis.student import quantile, two_sided_p
from plimsoll.result import Estimate

_UPPER = 0.975
_NORMAL = 1.959963984540054
#: A variance that happens to be 0 has no logarithm.
_SHARE_MIN = 1e-6

#: The repeats of one point on every side.
Groups = Sequence[Sequence[Estimate]]


@dataclass(frozen=True)
class Ratio:
    """A ratio with its 95 % interval and the two-sided probability of being as far from 1 by chance.

    Interval and probability are None where nothing says how far to trust the values.
    """

    value: float
    low: float | None
    high: float | None
    p: float | None


@dataclass(frozen=True)
class Scatter:
    """How much repeats of a point differ: variance of the logarithm, and the degrees of freedom it is known with; 0: not at all."""

    variance: float = 0.0
    degrees_of_freedom: float = 0.0


@dataclass(frozen=True)
class Common:
    """What all points together say of the scatter of one.

    ``variance`` is what they have beyond their own intervals, ``largest`` the largest of any; ``alike`` whether they may share one.
    """

    variance: float
    largest: float
    degrees_of_freedom: int
    alike: bool

    @classmethod
    def of(cls, points: Sequence[Groups]) -> Common:
        """``points`` hold the repeats of each point, side by side."""
        known = [(own, _within_mean(groups)) for groups in points if (own := _own(groups)).degrees_of_freedom]
        total = sum(own.degrees_of_freedom for own, _ in known)
        if not total:
            return cls(0.0, 0.0, 0, alike=False)
        excess = sum(own.degrees_of_freedom * (own.variance - within) for own, within in known) / total
        variance = max(0.0, excess)
        expected = [variance + within for _, within in known]
        alike = all(expected) and _are_alike([(own, mean) for (own, _), mean in zip(known, expected, strict=True)])
        return cls(variance, max(own.variance for own, _ in known), int(total), alike)

    def at(self, groups: Groups) -> Scatter:
        """The scatter of one point, given its own repeats."""
        own = _own(groups)
        if self.alike:
            return Scatter(max(own.variance, self.variance + _within_mean(groups)), self.degrees_of_freedom)
        # The largest of all is too much for most points, but well known; the point's own is right, but little known.
        safe = Scatter(max(self.largest, self.variance + _within_mean(groups)), self.degrees_of_freedom)
        return min((own, safe), key=_reach)


def ratio(one: Sequence[Estimate], other: Sequence[Estimate], scatter: Scatter = Scatter()) -> Ratio | None:
    """How many times ``other`` is ``one``, both the repeats of a point; None when a value is not above 0."""
    if not one or not other or min(estimate.value for estimate in (*one, *other)) <= 0:
        return None
    apart = _centre(one) - _centre(other)
    found = []
    if all(_error(estimate) is not None for estimate in (*one, *other)):
        parts = [part for group in (one, other) for part in _within(group)]
        variance, spread = sum(share for share, _ in parts), sum(share**2 / degrees for share, degrees in parts)
        found.append(_judged(apart, sqrt(variance), variance**2 / spread if spread > 0 else inf))
    if scatter.degrees_of_freedom:
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
    return Ratio(exp(apart), exp(apart - below), exp(apart + above), p)


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
    return Ratio(exp(apart), exp(apart - t * error), exp(apart + t * error), p)


def _reach(scatter: Scatter) -> float:
    """How wide an interval the scatter makes."""
    if not scatter.degrees_of_freedom:
        return inf
    return quantile(_UPPER, scatter.degrees_of_freedom) * sqrt(scatter.variance)


def _own(groups: Groups) -> Scatter:
    """What one point's repeats say themselves, over all sides."""
    repeated = [[log(estimate.value) for estimate in group if estimate.value > 0] for group in groups]
    degrees = sum(len(values) - 1 for values in repeated if values)
    if not degrees:
        return Scatter()
    squares = sum(sum((value - sum(values) / len(values)) ** 2 for value in values) for values in repeated if values)
    return Scatter(squares / degrees, degrees)


def _are_alike(points: Sequence[tuple[Scatter, float]]) -> bool:
    """Whether Bartlett's statistic of the variances, in units of what is expected of each, is below its median (Wilson and Hilferty)."""
    if len(points) < 2:
        return False
    degrees = [own.degrees_of_freedom for own, _ in points]
    shares = [max(own.variance / expected, _SHARE_MIN) for own, expected in points]
    total, others = sum(degrees), len(points) - 1
    mean = sum(weight * share for weight, share in zip(degrees, shares, strict=True)) / total
    apart = total * log(mean) - sum(weight * log(share) for weight, share in zip(degrees, shares, strict=True))
    correction = 1 + (sum(1 / weight for weight in degrees) - 1 / total) / (3 * others)
    return apart / correction < others * (1 - 2 / (9 * others)) ** 3


def _within_mean(groups: Groups) -> float:
    """The mean variance of a repeat by its own interval."""
    squares = [(_error(estimate) or 0.0) ** 2 for group in groups for estimate in group if estimate.value > 0]
    return sum(squares) / len(squares) if squares else 0.0


def _centre(group: Sequence[Estimate]) -> float:
    return sum(log(estimate.value) for estimate in group) / len(group)


def _within(group: Sequence[Estimate]) -> list[tuple[float, float]]:
    """Each repeat's share in the variance of the mean logarithm, with its degrees of freedom."""
    return [((_error(estimate) or 0.0) ** 2 / len(group) ** 2, _degrees(estimate)) for estimate in group]


def _error(estimate: Estimate) -> float | None:
    """The standard error of the logarithm that the interval implies."""
    if estimate.low is None or estimate.high is None:
        return None
    # On the logarithm where that exists; else relative, which is the same to first order, and of the side that is not cut off at 0.
    width = log(estimate.high / estimate.low) if estimate.low > 0 else 2 * (estimate.high - estimate.value) / estimate.value
    return width / (2 * quantile(_UPPER, _degrees(estimate)))


def _degrees(estimate: Estimate) -> float:
    return estimate.batches - 1 if estimate.batches > 1 else inf
