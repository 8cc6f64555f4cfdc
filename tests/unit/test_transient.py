"""MSER-5 finds where a response settled, and is silent on noise."""

from __future__ import annotations

from math import exp, sqrt
from random import Random

import pytest

from plimsoll.analysis.statistics.steadiness import find_transient, truncation_point


def noise(random: Random, phi: float, count: int) -> list[float]:
    """A stationary AR(1) series of mean 100 and deviation 2 per noise."""
    value = random.gauss(0.0, 1.0) / sqrt(1.0 - phi * phi)
    values = []
    for _ in range(count):
        values.append(100.0 + 2.0 * value)
        value = phi * value + random.gauss(0.0, 1.0)
    return values


def test_a_step_is_cut_off_where_it_ends() -> None:
    values = [50.0] * 20 + [100.0, 101.0, 99.0] * 40
    assert truncation_point(values) == 20
    found = find_transient(values)
    assert found is not None and found.significant
    assert (found.length, found.before, found.after) == (20, 50.0, pytest.approx(100.0))


def test_a_constant_series_is_cut_nowhere() -> None:
    assert truncation_point([7.0] * 100) == 0
    assert find_transient([7.0] * 100) is None


def test_the_rule_is_whites_on_a_worked_example() -> None:
    # Ten fives 0, 6, 10, 11, 9, 10, 11, 9, 10, 10. Squares about the mean over (number)²: cutting none 104.4 / 100 = 1.04, one 18.2 / 81 =
    # 0.226, two 4 / 64 = 0.0625, three 4 / 49 = 0.0816, four 2.83 / 36 = 0.0787. Least at two fives: ten values.
    fives = [0.0, 6.0, 10.0, 11.0, 9.0, 10.0, 11.0, 9.0, 10.0, 10.0]
    assert truncation_point([value for value in fives for _ in range(5)]) == 10


@pytest.mark.parametrize("values", [[], [1.0] * 39, [float(index) for index in range(200)]])
def test_short_or_never_settling_series_have_no_point(values: list[float]) -> None:
    assert truncation_point(values) is None
    assert find_transient(values) is None


@pytest.mark.parametrize("count", [60, 240])
@pytest.mark.parametrize("phi", [0.0, 0.3, 0.6, 0.9])
def test_stationary_noise_rarely_looks_like_a_transient(count: int, phi: float) -> None:
    random = Random(f"{count} {phi}")
    found = [find_transient(noise(random, phi, count)) for _ in range(400)]
    assert sum(transient is not None and transient.significant for transient in found) <= 8  # 2 %


@pytest.mark.parametrize("count", [60, 240])
def test_a_transient_of_several_deviations_is_found_through_noise(count: int) -> None:
    random, found = Random(count), 0
    for _ in range(100):
        values = [value - 15.0 * exp(-index / (0.05 * count)) for index, value in enumerate(noise(random, 0.0, count))]
        transient = find_transient(values)
        found += transient is not None and transient.significant and transient.before < transient.after
    assert found >= 80
