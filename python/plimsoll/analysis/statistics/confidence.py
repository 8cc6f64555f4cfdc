"""Confidence interval of a mean when neighbouring values resemble each other.

Model: values of neighbouring slices of time are correlated, and an interval that ignores it is too narrow by a multiple. The values are
described as a first-order autoregression, x[t] - μ = φ (x[t-1] - μ) + noise, whose likelihood is exact and needs five sums. φ is not
estimated once and then believed (that is biased towards 0 and forgets its own error, which makes intervals of short series too narrow:
M. G. Kendall, "Note on bias in the estimation of autocorrelation", Biometrika 41, 1954); it is averaged over: given φ, the mean has a
Student t distribution with n-1 degrees of freedom, and these are weighted by the likelihood of φ with mean and variance integrated out
(the restricted likelihood; Cheang and Reinsel, "Bias reduction of autoregressive estimates in time series regression model through
restricted maximum likelihood", Journal of the American Statistical Association 95, 2000) times the reference prior 1/√(1-φ²) (Berger
and Yang, "Noninformative priors and Bayesian testing for the AR(1) model", Econometric Theory 10, 1994). The factor (1-φ)^0.3 on it is
ours: it brings the coverage at φ = 0.9 down from 98 to 95 % and changes the others by some tenths of a percent.

Where a first-order autoregression does not describe the values (test of Ljung and Box, Biometrika 65, 1978, on what it leaves over),
neighbours are averaged in pairs until it does, as in the batch means methods ASAP3 and Skart (Steiger, Lada, Wilson and others, ACM
TOMACS 15, 2005; Tafazzoli, Wilson, Lada and Steiger, INFORMS Journal on Computing 23, 2011).

Limits: fewer than `VALUES_MIN` values give no interval. From 6 to 20 values intervals are wide, because φ is hardly known, and cover 95 to
98 % at mild correlation; at φ = 0.9 they cover 80 to 92 %, as so few values cannot show it. A series that has not settled looks like a
strongly correlated one, and gets a wide interval. Long memory beyond the length of the series cannot be seen in it.

    mean_interval([slice.rate_per_s for slice in series])      # Estimate(value, low, high, batches)
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate, pairwise
from math import exp, log, pi, sin, sqrt
from operator import mul

from plimsoll.analysis.statistics.distributions import quick_two_sided_p
from plimsoll.records import dataclass
from plimsoll.result import Estimate

#: Fewer values give no interval.
VALUES_MIN = 6
#: Longer series are averaged in groups first.
VALUES_MAX = 1024
#: Pairs are not averaged when fewer values than this would be left.
_BATCHES_MIN = 16
#: Points at which the likelihood of φ is evaluated, equally spaced in arcsin φ, where the reference prior is uniform.
_NODES = 64
_PRIOR_POWER = 0.3
#: Nodes with a smaller share of the greatest weight are left out.
_SHARE_MIN = 1e-5
#: Significance of the test for what the autoregression leaves over.
_LEFT_OVER_QUANTILE = 2.3263  # of the normal distribution at 99 %
_LAGS_MAX = 10
_STEPS_MAX = 60
_LOGARITHM_ERROR_MAX = 1e-6


def mean_interval(values: Sequence[float], confidence: float = 0.95) -> Estimate:
    """The mean of ``values`` in order of time, with the interval that covers the true mean with probability ``confidence``."""
    count = len(values)
    if not count:
        raise ValueError("no values have no mean")
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"a confidence lies between 0 and 1, not at {confidence}")
    value = sum(values) / count
    if count < VALUES_MIN:
        return Estimate(value, batches=count)
    deviations = _grouped([value_ - value for value_ in values], -(-count // VALUES_MAX))
    mixture = _mixture(deviations)
    while len(deviations) >= 2 * _BATCHES_MIN and _leaves_structure(deviations, mixture.correlation):
        deviations = _grouped(deviations, 2)
        mixture = _mixture(deviations)
    half = mixture.half_width(1.0 - confidence)
    return Estimate(value, value - half, value + half, len(deviations))


@dataclass(frozen=True)
class _Mixture:
    """Student t distributions of the mean's error, weighted by how likely their φ is; ``correlation`` is the mean φ."""

    parts: tuple[tuple[float, float], ...]  # weight, scale
    degrees_of_freedom: int
    correlation: float

    def half_width(self, beyond: float) -> float:
        """The distance that the error exceeds with probability ``beyond``."""
        if not self.parts:
            return 0.0
        low, high = 0.0, self.parts[len(self.parts) // 2][1]
        at_low, at_high = -log(beyond), self._excess(high, beyond)
        while at_high > 0.0:
            low, at_low = high, at_high
            high *= 2.0
            at_high = self._excess(high, beyond)
        # False position with Illinois' halving (Dowell and Jarratt, BIT 11, 1971) on the logarithm, which is nearly straight.
        side = 0
        for _ in range(_STEPS_MAX):
            middle = (low * at_high - high * at_low) / (at_high - at_low)
            found = self._excess(middle, beyond)
            if abs(found) < _LOGARITHM_ERROR_MAX:
                return middle
            if found > 0.0:
                low, at_low, at_high = middle, found, at_high / 2 if side > 0 else at_high
                side = 1
            else:
                high, at_high, at_low = middle, found, at_low / 2 if side < 0 else at_low
                side = -1
        return high

    def _excess(self, distance: float, beyond: float) -> float:
        """Logarithm of how many times more often than ``beyond`` the error exceeds ``distance``."""
        degrees = self.degrees_of_freedom
        share = sum(weight * quick_two_sided_p(distance / scale, degrees) for weight, scale in self.parts)
        return log(max(share, 1e-300) / beyond)


@lru_cache(maxsize=1)
def _correlations() -> tuple[float, ...]:
    return tuple(sin(pi * ((node + 0.5) / _NODES - 0.5)) for node in range(_NODES))


def _mixture(deviations: Sequence[float]) -> _Mixture:
    """Of values whose mean is 0."""
    count, first, last = len(deviations), deviations[0], deviations[-1]
    squares = sum(map(mul, deviations, deviations))
    neighbours = sum(map(mul, deviations, deviations[1:]))
    if squares <= 0.0:
        return _Mixture((), count - 1, 0.0)
    nodes = []
    for phi in _correlations():
        # Information on the mean is (1 - φ) × mass, in units of the noise; the residual is that of generalised least squares.
        mass = (1.0 + phi) + (count - 1) * (1.0 - phi)
        shift = (1.0 - phi) * (phi * (first + last)) ** 2 / mass
        residual = (1.0 + phi * phi) * squares - phi * phi * (first * first + last * last) - 2.0 * phi * neighbours - shift
        residual = max(residual, 1e-12 * squares)
        information = (1.0 - phi) * mass
        weight = 0.5 * log((1.0 - phi * phi) / information) - (count - 1) / 2 * log(residual) + _PRIOR_POWER * log(1.0 - phi)
        nodes.append((weight, sqrt(residual / ((count - 1) * information)), phi))
    greatest = max(weight for weight, _, _ in nodes)
    kept = [(exp(weight - greatest), scale, phi) for weight, scale, phi in nodes]
    kept = [node for node in kept if node[0] >= _SHARE_MIN]
    total = sum(weight for weight, _, _ in kept)
    parts = tuple((weight / total, scale) for weight, scale, _ in kept)
    return _Mixture(parts, count - 1, sum(weight * phi for weight, _, phi in kept) / total)


def _leaves_structure(deviations: Sequence[float], correlation: float) -> bool:
    """Whether what the autoregression does not explain is still correlated (Ljung and Box's test)."""
    left = [after - correlation * before for before, after in pairwise(deviations)]
    count = len(left)
    squares = sum(map(mul, left, left))
    if squares <= 0.0:
        return False
    lags = min(_LAGS_MAX, count // 4)
    statistic = 0.0
    for lag in range(1, lags + 1):
        coefficient = sum(map(mul, left, left[lag:])) / squares
        statistic += coefficient * coefficient / (count - lag)
    # The coefficient that was fitted costs one degree of freedom.
    return count * (count + 2) * statistic > _chi_square_limit(lags - 1)


def _chi_square_limit(degrees_of_freedom: int) -> float:
    """Quantile of chi-square (Wilson and Hilferty, Proceedings of the National Academy of Sciences 17, 1931)."""
    part = 2.0 / (9.0 * degrees_of_freedom)
    return degrees_of_freedom * (1.0 - part + _LEFT_OVER_QUANTILE * sqrt(part)) ** 3


def _grouped(deviations: Sequence[float], size: int) -> list[float]:
    """Means of groups of ``size`` neighbours, about their own mean; what does not fill a group at the start is left out."""
    start = len(deviations) % size
    if size > 1:
        sums = [0.0, *accumulate(deviations[start:])]
        deviations = [(after - before) / size for before, after in pairwise(sums[::size])]
    mean = sum(deviations) / len(deviations)
    return [value - mean for value in deviations]
