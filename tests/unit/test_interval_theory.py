"""Confidence intervals against the mixture that they are meant to be, computed here in another way, and what is left over against its table.

Model: values x are normal with the covariance matrix of a stationary AR(1) series, φ^|i-j| / (1 - φ²) times the variance of the noise. Given φ
the generalised least squares estimate of the mean, its variance and the residual come from that matrix by elimination, not from sums; the
restricted likelihood is |V|^-½ (1'V⁻¹1)^-½ r^-(n-1)/2; the tail of Student's t is its finite series (Abramowitz and Stegun 26.7.3 and 26.7.4);
φ is integrated over by midpoints in arcsin φ, and the half-width is bisected.
"""

from __future__ import annotations

from itertools import pairwise
from math import atan, cos, exp, log, pi, sin, sqrt
from random import Random

import pytest

from plimsoll.analysis.statistics.confidence import mean_interval
from plimsoll.analysis.statistics.distributions import two_sided_p

#: Rates of six, eight and twelve seconds.
SIX = [101.0, 98.0, 103.0, 99.0, 97.0, 104.0]
EIGHT = [*SIX, 100.0, 96.0]
TWELVE = [100.0, 101.0, 103.0, 104.0, 103.0, 105.0, 102.0, 101.0, 99.0, 98.0, 100.0, 99.0]
#: What the integral is taken to be with as many midpoints as the code has, and with so many that more change nothing.
_AS_CODED, _EXACT = 64, 2000
#: Of 33 values that are left over the code looks at eight lags, so at seven degrees of freedom: their 99th percentile, from any table.
_LAGS, _CHI_SQUARE_7 = 8, 18.475


def tail(t: float, degrees: int) -> float:
    """The probability that Student's t lies further from 0 than ``t``."""
    theta = atan(t / sqrt(degrees))
    term, total = (cos(theta), 0.0) if degrees % 2 else (1.0, 1.0)
    if degrees % 2:
        for k in range(1, degrees - 1, 2):
            total += term
            term *= cos(theta) ** 2 * (k + 1) / (k + 2)
        return 1.0 - 2.0 / pi * (theta + sin(theta) * total)
    for k in range(1, degrees - 2, 2):
        term *= cos(theta) ** 2 * k / (k + 1)
        total += term
    return 1.0 - sin(theta) * total


def solved(matrix: list[list[float]], *sides: list[float]) -> tuple[float, list[list[float]]]:
    """The logarithm of the determinant, and the solution for each right side (elimination; the matrix is positive definite)."""
    rows = [[*row, *(side[index] for side in sides)] for index, row in enumerate(matrix)]
    size, determinant = len(rows), 0.0
    for pivot in range(size):
        determinant += log(rows[pivot][pivot])
        for row in rows[pivot + 1 :]:
            factor = row[pivot] / rows[pivot][pivot]
            for column in range(pivot, len(row)):
                row[column] -= factor * rows[pivot][column]
    for pivot in reversed(range(size)):
        for column in range(size, len(rows[pivot])):
            known = sum(rows[pivot][other] * rows[other][column] for other in range(pivot + 1, size))
            rows[pivot][column] = (rows[pivot][column] - known) / rows[pivot][pivot]
    return determinant, [[row[size + number] for row in rows] for number in range(len(sides))]


def given(values: list[float], phi: float) -> tuple[float, float]:
    """The logarithm of the weight of φ, and the standard error of the mean there."""
    count = len(values)
    matrix = [[phi ** abs(i - j) / (1.0 - phi * phi) for j in range(count)] for i in range(count)]
    determinant, (weights, whitened) = solved(matrix, [1.0] * count, values)
    information = sum(weights)
    mean = sum(whitened) / information
    residual = sum(value * white for value, white in zip(values, whitened, strict=True)) - mean * mean * information
    # The uniform midpoints in arcsin φ are the reference prior; (1 - φ)^0.3 is ours.
    weight = -0.5 * (determinant + log(information)) - (count - 1) / 2 * log(residual) + 0.3 * log(1.0 - phi)
    return weight, sqrt(residual / ((count - 1) * information))


def mixture(values: list[float], midpoints: int) -> list[tuple[float, float, float]]:
    """Weight, standard error and φ; the weights add up to 1."""
    mean = sum(values) / len(values)
    phis = [sin(pi * ((node + 0.5) / midpoints - 0.5)) for node in range(midpoints)]
    found = [(*given([value - mean for value in values], phi), phi) for phi in phis]
    greatest = max(weight for weight, _, _ in found)
    total = sum(exp(weight - greatest) for weight, _, _ in found)
    return [(exp(weight - greatest) / total, scale, phi) for weight, scale, phi in found]


def half_width(values: list[float], midpoints: int) -> float:
    parts = mixture(values, midpoints)
    low, high = 0.0, 1e3
    for _ in range(60):
        middle = (low + high) / 2
        outside = sum(weight * tail(middle / scale, len(values) - 1) for weight, scale, _ in parts)
        low, high = (middle, high) if outside > 0.05 else (low, middle)
    return low


@pytest.mark.parametrize(("midpoints", "off"), [(_AS_CODED, 1e-5), (_EXACT, 0.01)])
@pytest.mark.parametrize("values", [SIX, EIGHT, TWELVE], ids=len)
def test_short_series_have_the_interval_of_the_mixture(values: list[float], midpoints: int, off: float) -> None:
    found = mean_interval(values)
    assert found.low is not None and found.high is not None
    assert (found.high - found.low) / 2 == pytest.approx(half_width(values, midpoints), rel=off)
    assert (found.high + found.low) / 2 == pytest.approx(sum(values) / len(values))


@pytest.mark.parametrize("degrees", [1, 2, 3, 5, 6, 11, 30])
@pytest.mark.parametrize("t", [0.3, 1.0, 2.5, 7.0])
def test_the_tail_of_student_is_its_finite_series(t: float, degrees: int) -> None:
    assert two_sided_p(t, degrees) == pytest.approx(tail(t, degrees), rel=1e-9)


def left_over(values: list[float]) -> float:
    """Ljung and Box's statistic of what the mean φ does not explain, as their paper writes it."""
    mean = sum(values) / len(values)
    phi = sum(weight * phi for weight, _, phi in mixture(values, _AS_CODED))
    left = [(after - mean) - phi * (before - mean) for before, after in pairwise(values)]
    squares = sum(value * value for value in left)
    lags = [sum(left[at] * left[at - lag] for at in range(lag, len(left))) / squares for lag in range(1, _LAGS + 1)]
    return len(left) * (len(left) + 2) * sum(found**2 / (len(left) - lag) for lag, found in enumerate(lags, start=1))


def test_neighbours_are_averaged_when_what_is_left_over_is_beyond_its_table() -> None:
    # Noise, and more and more of a swing of five values that no first-order autoregression has.
    random = Random(5)
    noise = [random.gauss(0.0, 1.0) for _ in range(34)]
    near = 0
    for step in range(24):
        values = [value + step / 12 * sin(2 * pi * at / 5) for at, value in enumerate(noise)]
        beyond = left_over(values) / _CHI_SQUARE_7 - 1
        # The limit of the code is an approximation, right within 0.5 %.
        if abs(beyond) > 0.005:
            assert (mean_interval(values).batches < len(values)) == (beyond > 0), beyond
        near += 0 < beyond < 0.08
    assert near, "no statistic lies just beyond the limit, where that of one more degree of freedom does not"
