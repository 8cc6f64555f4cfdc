"""Confidence intervals of correlated series cover the true mean as often as they say.

A thousand series of each kind are tried here, of which a correct interval covers between 93 and 97 % but for once in 270;
`PLIMSOLL_REPLICATIONS=2000` tries more, as `make test-long` does (`tests/long/test_known_seeds.py`). The seeds are fixed, so what passes once
passes everywhere.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterator, Sequence
from itertools import accumulate, islice
from math import log, sqrt
from random import Random

import pytest

from plimsoll.analysis.statistics.confidence import VALUES_MIN, mean_interval
from plimsoll.result import Estimate

REPLICATIONS = int(os.environ.get("PLIMSOLL_REPLICATIONS", "1000"))


def normal(random: Random, count: int) -> list[float]:
    """Independent draws of the standard normal distribution."""
    return [random.gauss(0.0, 1.0) for _ in range(count)]


def correlated(noise: Sequence[float], phi: float) -> list[float]:
    """A stationary AR(1) series of mean 0, as long as the noise that drives it."""
    first = noise[0] / sqrt(1.0 - phi * phi)
    return list(accumulate(islice(noise, 1, None), lambda value, one: phi * value + one, initial=first))


def autoregression(random: Random, phi: float, count: int) -> list[float]:
    """Such a series with noise of its own."""
    return correlated(normal(random, count), phi)


@pytest.fixture(scope="module")
def noises() -> list[array[float]]:
    """Noise for every series of a replication, since drawing it takes longer than what is tried."""
    random = Random("coverage")
    return [array("d", normal(random, 1000)) for _ in range(REPLICATIONS)]


def coverage(series: Iterator[list[float]], mean: float) -> float:
    """The share of intervals that hold ``mean``; every series has to get one."""
    held = count = 0
    for values in series:
        found = mean_interval(values)
        assert found.low is not None and found.high is not None
        held += found.low <= mean <= found.high
        count += 1
    return held / count


@pytest.mark.parametrize("phi", [-0.3, 0.0, 0.3, 0.6, 0.9])
@pytest.mark.parametrize("count", [50, 100, 300, 1000])
def test_nominal_95_percent_cover_93_to_97_percent_of_autocorrelated_series(noises: list[array[float]], count: int, phi: float) -> None:
    found = coverage((correlated(noise[:count], phi) for noise in noises), 0.0)
    assert 0.93 <= found <= 0.97


@pytest.mark.parametrize("count", [10, 20, 40])
@pytest.mark.parametrize("phi", [0.0, 0.3])
def test_ten_intervals_of_mild_correlation_suffice_and_err_on_the_wide_side(noises: list[array[float]], count: int, phi: float) -> None:
    found = coverage((correlated(noise[:count], phi) for noise in noises), 0.0)
    assert 0.93 <= found <= 0.985


def test_an_interval_that_ignores_correlation_would_not_cover() -> None:
    # The guard of the tests above: Student's interval of the same series covers far less.
    random = Random(3)
    held = 0
    for _ in range(500):
        values = autoregression(random, 0.6, 100)
        mean = sum(values) / 100
        error = sqrt(sum((value - mean) ** 2 for value in values) / 99 / 100)
        held += abs(mean) <= 1.984 * error
    assert held / 500 < 0.75


def waiting_times(random: Random, load: float, count: int, per_batch: int) -> list[float]:
    """Batch means of waiting times in M/M/1 with service rate 1, from Lindley's recursion, begun in steady state."""
    wait = random.expovariate(1.0 - load) if random.random() < load else 0.0
    means = []
    for _ in range(count):
        total = 0.0
        for _ in range(per_batch):
            total += wait
            wait = max(0.0, wait - log(1.0 - random.random()) - random.expovariate(load))
        means.append(total / per_batch)
    return means


def test_skewed_means_of_a_queue_are_covered_nearly_as_often() -> None:
    # M/M/1 at ρ = 0.5: the mean wait is ρ / (1 - ρ) = 1 (Kleinrock, Queueing Systems I, 3.2).
    random = Random(11)
    found = coverage((waiting_times(random, 0.5, 40, 100) for _ in range(400)), 1.0)
    assert 0.91 <= found <= 0.98


def moving_average(random: Random, count: int) -> list[float]:
    """Not an autoregression: each value is the mean of nine successive noises."""
    noise = [random.gauss(0.0, 1.0) for _ in range(count + 8)]
    return [sum(noise[start : start + 9]) / 9 for start in range(count)]


def test_what_is_no_autoregression_is_averaged_until_it_looks_like_one() -> None:
    random = Random(12)
    series = [moving_average(random, 400) for _ in range(500)]
    found = [mean_interval(values) for values in series]
    assert sum(estimate.batches < 400 for estimate in found) > 490
    assert 0.92 <= coverage(iter(series), 0.0) <= 0.98


def test_the_interval_is_as_narrow_as_the_truth_allows() -> None:
    random = Random(13)
    widths = [_half(mean_interval(autoregression(random, 0.0, 1000))) for _ in range(50)]
    assert sum(widths) / 50 == pytest.approx(1.96 / sqrt(1000), rel=0.05)
    with_neighbours = [_half(mean_interval(autoregression(random, 0.6, 1000))) for _ in range(50)]
    # The standard error of the mean of an AR(1) series with unit noise is 1 / ((1 - φ) √n).
    assert sum(with_neighbours) / 50 == pytest.approx(1.96 / 0.4 / sqrt(1000), rel=0.08)


def test_more_confidence_is_wider() -> None:
    values = autoregression(Random(14), 0.3, 200)
    widths = [_half(mean_interval(values, confidence)) for confidence in (0.5, 0.9, 0.95, 0.99)]
    assert widths == sorted(widths) and widths[0] < widths[-1] / 3


def test_the_value_is_the_plain_mean_of_all_values() -> None:
    values = autoregression(Random(15), 0.3, 3001)
    found = mean_interval(values)
    assert found.value == pytest.approx(sum(values) / 3001, abs=1e-12)
    assert found.batches <= 1024


def test_constant_values_have_no_width() -> None:
    assert mean_interval([5.0] * 20) == Estimate(5.0, 5.0, 5.0, 20)


def test_alternating_values_are_known_well() -> None:
    found = mean_interval([1.0, 3.0] * 40)
    assert found.value == 2.0 and _half(found) < 0.2


def test_too_few_values_give_no_interval() -> None:
    values = autoregression(Random(16), 0.0, VALUES_MIN)
    assert mean_interval(values).low is not None
    assert mean_interval(values[1:]) == Estimate(sum(values[1:]) / (VALUES_MIN - 1), batches=VALUES_MIN - 1)
    with pytest.raises(ValueError, match="no values"):
        mean_interval([])


def test_a_climb_that_never_settles_is_not_known_well() -> None:
    climb = [100.0 + index for index in range(50)]
    assert _half(mean_interval(climb)) > 15.0


def _half(found: Estimate) -> float:
    assert found.low is not None and found.high is not None
    return (found.high - found.low) / 2
