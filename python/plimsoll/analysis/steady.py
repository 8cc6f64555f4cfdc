"""Was it steady? The measurement-window rule of the SNIA Solid State Storage Performance Test Specification 2.0.2.

Model: the measured phase is cut into five batches of equal length, SNIA's "rounds"; it is steady when (a) the largest and
smallest batch differ by at most 20 % of their average and (b) the least-squares line through them climbs or falls by at
most 10 % of the average across the window. Beside it the coefficient of variation of the intervals is given.
Limits: SNIA's rounds are a minute each; five batches of a short run see less. Fewer than five intervals give no verdict.

    verdict = steadiness([slice.rate_per_s for slice in series])
    verdict.steady, verdict.slope_percent
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import sqrt

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
