"""Steadiness of a series of values, and how long it took to settle.

Steadiness: the measurement-window rule of the SNIA Solid State Storage Performance Test Specification 2.0.2.

Model: the measured phase is cut into five batches of equal length, SNIA's "rounds"; it is steady when (a) the largest and
smallest batch differ by at most 20 % of their average and (b) the least-squares line through them climbs or falls by at
most 10 % of the average across the window. Beside it the coefficient of variation of the intervals is given.
Limits: SNIA's rounds are a minute each; five batches of a short run see less. Fewer than five intervals give no verdict.

    verdict = steadiness([slice.rate_per_s for slice in series])
    verdict.steady, verdict.slope_percent

Settling: the truncation point of MSER-5.

Model: the series is averaged in fives; of all beginnings that could be cut off, the one is chosen that leaves the smallest standard error
of the mean of what remains: cutting more removes bias, cutting too much removes data (K. P. White, "An effective truncation heuristic for
bias reduction in simulation output", Simulation 69, 1997; White, Cobb and Spratt, "A comparison of five steady-state truncation
heuristics for simulation", Winter Simulation Conference 2000). A choice in the later half means that the series did not settle.
The rule always finds some best cut, in pure noise as well. So a `Transient` says how many standard errors apart the cut part and the rest
are, with the correlation of neighbours taken into account; it is `significant` beyond `ERRORS_MIN`, which the best of many cuts of a
stationary series reaches in about 1 of 100 series or less.
Limits: `FIVES_MIN` fives at least; a series that climbs throughout is for `steady` to find.

    transient = find_transient([slice.rate_per_s for slice in series])
    if transient is not None and transient.significant: ...
    transient.length, transient.before, transient.after
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from math import inf, sqrt

from plimsoll.analysis.statistics.confidence import mean_interval
from plimsoll.analysis.statistics.distributions import quantile
from plimsoll.records import dataclass

SOURCE = "five-round window of SNIA SSS PTS 2.0.2"
ROUNDS = 5
EXCURSION_PERCENT_MAX = 20.0
SLOPE_PERCENT_MAX = 10.0


@dataclass(frozen=True)
class Steadiness:
    """The verdict with its numbers, all in percent of the average."""

    excursion_percent: float
    slope_percent: float
    variation_percent: float

    @property
    def steady(self) -> bool:
        """Both limits hold."""
        return self.excursion_percent <= EXCURSION_PERCENT_MAX and abs(self.slope_percent) <= SLOPE_PERCENT_MAX


def steadiness(values: Sequence[float]) -> Steadiness | None:
    """The verdict on values of equally long slices of time; None when there are fewer than five or all are zero."""
    if len(values) < ROUNDS:
        return None
    verdict = window_verdict(_batch_means(values))
    return verdict and replace(verdict, variation_percent=100.0 * _deviation(values) / (sum(values) / len(values)))


def window_verdict(rounds: Sequence[float]) -> Steadiness | None:
    """The verdict on the values of a window's rounds; the variation is theirs. None for fewer than two, or when all are zero."""
    if len(rounds) < 2:
        return None
    average = sum(rounds) / len(rounds)
    if average <= 0:
        return None
    return Steadiness(
        excursion_percent=100.0 * (max(rounds) - min(rounds)) / average,
        slope_percent=100.0 * _slope(rounds) * (len(rounds) - 1) / average,
        variation_percent=100.0 * _deviation(rounds) / average,
    )


def _batch_means(values: Sequence[float]) -> list[float]:
    edges = [round(index * len(values) / ROUNDS) for index in range(ROUNDS + 1)]
    batches = [values[start:end] for start, end in pairwise(edges)]
    return [sum(batch) / len(batch) for batch in batches]


def _slope(values: Sequence[float]) -> float:
    """Of the least-squares line, per step."""
    middle = (len(values) - 1) / 2
    average = sum(values) / len(values)
    rise = sum((index - middle) * (value - average) for index, value in enumerate(values))
    return rise / sum((index - middle) ** 2 for index in range(len(values)))


def _deviation(values: Sequence[float]) -> float:
    average = sum(values) / len(values)
    return sqrt(sum((value - average) ** 2 for value in values) / (len(values) - 1))


FIVES_MIN = 8
ERRORS_MIN = 4.0
_FIVE = 5
_UPPER_PROBABILITY = 0.975


@dataclass(frozen=True)
class Transient:
    """The first ``length`` values, their mean, the mean of the rest, and how many standard errors lie between."""

    length: int
    before: float
    after: float
    errors: float

    @property
    def significant(self) -> bool:
        """Whether chance does not explain the difference."""
        return self.errors >= ERRORS_MIN


def truncation_point(values: Sequence[float]) -> int | None:
    """How many values MSER-5 cuts off at the start; None when the series is too short or did not settle in its first half."""
    fives = [sum(values[start : start + _FIVE]) / _FIVE for start in range(0, len(values) - _FIVE + 1, _FIVE)]
    if len(fives) < FIVES_MIN:
        return None
    best, best_at = inf, 0
    total = squares = 0.0
    # Deviations from the last value: sums of squares of large close numbers would lose their digits.
    for at in range(len(fives) - 1, -1, -1):
        deviation = fives[at] - fives[-1]
        total, squares, kept = total + deviation, squares + deviation * deviation, len(fives) - at
        error = (squares - total * total / kept) / kept**2
        # The last few are alike by chance; they are no candidates (White, Cobb and Spratt leave out five).
        if kept > _FIVE and error <= best:
            best, best_at = error, at
    return best_at * _FIVE if best_at <= len(fives) // 2 else None


def find_transient(values: Sequence[float]) -> Transient | None:
    """The beginning that MSER-5 cuts off; None when it cuts nothing or cannot tell."""
    length = truncation_point(values)
    if not length:
        return None
    rest = mean_interval(values[length:])
    before = sum(values[:length]) / length
    if rest.low is None or rest.high is None:
        return None
    count = len(values) - length
    error = (rest.high - rest.low) / 2 / quantile(_UPPER_PROBABILITY, max(1, rest.batches - 1))
    # The error of a mean falls with the root of how many values it is of.
    apart = error * sqrt(1 + count / length)
    distance = abs(before - rest.value)
    errors = distance / apart if apart > 0 else (inf if distance > 0 else 0.0)
    return Transient(length, before, rest.value, errors)
