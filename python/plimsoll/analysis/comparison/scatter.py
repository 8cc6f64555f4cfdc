"""Scatter of repeats, on logarithms.

The error of a logarithm, where ratios are differences, from an estimate's interval.

Model: the delta method: the standard error of log x is that of x over x.

    standard_error(Estimate(1000, 990, 1010, batches=30))    # 0.00489

Repeats: how much those of a point differ, and what the points of a comparison know of it together.

Model: everything is a variance of logarithms. Two or three repeats know their variance badly, so the points of a comparison lend each other
what they know. What is expected of a point is the mean variance of its repeats by their own intervals and a component between repeats
that all points share (Searle, Casella and McCulloch, "Variance Components", 1992, 3.6). How far points depart from that is estimated from
their variances in units of what is expected of each, as a scaled inverse chi-square distribution (G. Smyth, "Linear models and empirical
Bayes methods", Statistical Applications in Genetics and Molecular Biology 3, 2004, section 6.2): s₀² and d₀ degrees of freedom. A point
with variance s² of d degrees of freedom is given (d₀ s₀² + d s²)/(d₀ + d), or its own where that is larger, with d₀ + d degrees. One that
scatters so much more that chance makes it so seldom (F test, `UNLIKE`) has nothing to do with the others and stands alone.

Where sides were measured in turn, A B A B, a turn is one repeat of each, and what makes a whole turn faster or slower says nothing of their
ratio. If turns differ (F test over all points, at the level of `TURNS_DIFFER`), s² is of what is left when the means of sides and of
turns are taken out (randomised blocks), at the cost of the turns' degrees of freedom. Two turns are too few to tell.
Limits: a turn is taken out of each point by itself; that all points of a turn may share its drift is not used. Two repeats per side
know little where points scatter differently: METHODOLOGY.md says how often a difference is shown that is none.

    points = [Repeats([repeats_of_a, repeats_of_b], in_turn=True), …]
    common = Common.of(points)
    common.at(points[0])     # Scatter(variance=…, degrees_of_freedom=…)
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, inf, log

from plimsoll.analysis.statistics.distributions import digamma, inverse_trigamma, quantile, trigamma, upper_p
from plimsoll.records import dataclass
from plimsoll.result import Estimate

_UPPER = 0.975


def standard_error(estimate: Estimate) -> float | None:
    """Of the logarithm of its value; None without an interval."""
    if estimate.low is None or estimate.high is None:
        return None
    # On the logarithm where that exists; else relative, which is the same to first order, and of the side that is not cut off at 0.
    width = log(estimate.high / estimate.low) if estimate.low > 0 else 2 * (estimate.high - estimate.value) / estimate.value
    return width / (2 * quantile(_UPPER, degrees_of_freedom(estimate)))


def degrees_of_freedom(estimate: Estimate) -> float:
    """With which its interval was made."""
    return estimate.batches - 1 if estimate.batches > 1 else inf


#: Below this probability turns are taken for different.
TURNS_DIFFER = 0.05
_TURNS_MIN = 3
#: Below this probability of scattering so much, a point is unlike the others.
UNLIKE = 0.05
#: A variance that happens to be 0 has no logarithm.
_SHARE_MIN = 1e-6


@dataclass(frozen=True)
class Repeats:
    """The repeats of one point, side by side; ``in_turn`` if the sides were measured turn by turn."""

    sides: Sequence[Sequence[Estimate]]
    in_turn: bool = False


@dataclass(frozen=True)
class Scatter:
    """How much repeats of a point differ: variance of the logarithm, and the degrees of freedom it is known with; 0: not at all."""

    variance: float = 0.0
    degrees_of_freedom: float = 0.0


@dataclass(frozen=True)
class Common:
    """What all points together say of the scatter of one.

    ``between`` is the variance that they have beyond their own intervals; ``share`` what their variances are in units of what is expected
    of each, known with ``prior_degrees`` of freedom for a point that says nothing itself; ``degrees_of_freedom`` those of all points.
    ``by_turn``: turns differ, so that they are taken out.
    """

    between: float = 0.0
    share: float = 1.0
    prior_degrees: float = 0.0
    degrees_of_freedom: float = 0.0
    by_turn: bool = False

    @classmethod
    def of(cls, points: Sequence[Repeats]) -> Common:
        """Of all points of a comparison."""
        by_turn = _turns_differ(points)
        known = [(own, _within_mean(point)) for point in points if (own := _own(point, by_turn)).degrees_of_freedom]
        total = sum(own.degrees_of_freedom for own, _ in known)
        if not total:
            return cls()
        excess = sum(own.degrees_of_freedom * (own.variance - within) for own, within in known) / total
        between = max(0.0, excess)
        if not all(between + within for _, within in known):
            return cls(by_turn=by_turn)
        shares = [Scatter(own.variance / (between + within), own.degrees_of_freedom) for own, within in known]
        share, prior_degrees = _prior(shares)
        return cls(between, share, prior_degrees, total, by_turn)

    def at(self, point: Repeats) -> Scatter:
        """The scatter of one point, given its own repeats."""
        own = _own(point, self.by_turn)
        prior = self.share * (self.between + _within_mean(point))
        if not self.prior_degrees:
            return own
        if self.prior_degrees == inf:
            return Scatter(max(own.variance, prior), self.degrees_of_freedom)
        if own.degrees_of_freedom and upper_p(own.variance / prior, own.degrees_of_freedom, self.prior_degrees) < UNLIKE:
            return own
        degrees = self.prior_degrees + own.degrees_of_freedom
        variance = (self.prior_degrees * prior + own.degrees_of_freedom * own.variance) / degrees
        return Scatter(max(own.variance, variance), min(degrees, self.degrees_of_freedom))


def _prior(known: Sequence[Scatter]) -> tuple[float, float]:
    """The variance that all have beside their own, and what it is worth in degrees of freedom: 0 of one alone, infinity of equal ones."""
    degrees = sum(own.degrees_of_freedom for own in known)
    mean = sum(own.degrees_of_freedom * own.variance for own in known) / degrees
    if len(known) < 2 or not mean:
        return mean, 0.0
    halves = [own.degrees_of_freedom / 2 for own in known]
    logarithms = [log(max(own.variance, mean * _SHARE_MIN)) - digamma(half) + log(half) for own, half in zip(known, halves, strict=True)]
    centre = sum(logarithms) / len(known)
    apart = sum((value - centre) ** 2 for value in logarithms) / (len(known) - 1) - sum(map(trigamma, halves)) / len(known)
    if apart <= 0.0:
        return mean, inf
    half = inverse_trigamma(apart)
    return exp(centre + digamma(half) - log(half)), 2 * half


def _own(point: Repeats, by_turn: bool) -> Scatter:
    """What one point's repeats say themselves, over all sides."""
    logarithms = _logarithms(point)
    left = _left_of_sides(logarithms)
    degrees = sum(len(values) - 1 for values in logarithms)
    if by_turn and _has_turns(point):
        turns = _turn_means(left)
        left = [[value - mean for value, mean in zip(values, turns, strict=True)] for values in left]
        degrees -= len(turns) - 1
    return Scatter(_squares(left) / degrees, degrees) if degrees else Scatter()


def _turns_differ(points: Sequence[Repeats]) -> bool:
    """Whether turns differ by more than what is left of them, over all points that were measured in turn."""
    between = left = 0.0
    above = below = 0
    for point in filter(_has_turns, points):
        deviations = _left_of_sides(_logarithms(point))
        turns, sides = _turn_means(deviations), len(deviations)
        squares = sides * sum(mean**2 for mean in turns)
        between, left = between + squares, left + _squares(deviations) - squares
        above, below = above + len(turns) - 1, below + (sides - 1) * (len(turns) - 1)
    if not above or between <= 0.0:
        return False
    return left <= 0.0 or upper_p(between / above / (left / below), above, below) < TURNS_DIFFER


def _has_turns(point: Repeats) -> bool:
    counts = {len(side) for side in point.sides}
    positive = all(estimate.value > 0 for side in point.sides for estimate in side)
    return point.in_turn and positive and len(point.sides) > 1 and len(counts) == 1 and max(counts) >= _TURNS_MIN


def _logarithms(point: Repeats) -> list[list[float]]:
    """Of the values of each side that has some."""
    found = [[log(estimate.value) for estimate in side if estimate.value > 0] for side in point.sides]
    return [values for values in found if values]


def _left_of_sides(logarithms: Sequence[Sequence[float]]) -> list[list[float]]:
    """What is left when the mean of each side is taken out."""
    return [[value - sum(values) / len(values) for value in values] for values in logarithms]


def _turn_means(left: Sequence[Sequence[float]]) -> list[float]:
    return [sum(values) / len(values) for values in zip(*left, strict=True)]


def _squares(deviations: Sequence[Sequence[float]]) -> float:
    return sum(value**2 for values in deviations for value in values)


def _within_mean(point: Repeats) -> float:
    """The mean variance of a repeat by its own interval."""
    squares = [(standard_error(estimate) or 0.0) ** 2 for side in point.sides for estimate in side if estimate.value > 0]
    return sum(squares) / len(squares) if squares else 0.0
