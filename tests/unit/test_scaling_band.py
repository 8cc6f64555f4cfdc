"""The band around a scaling fit covers the law that made the data, as often as it says."""

import random

import pytest

from plimsoll.analysis.load_line.scaling import band, usl_fit

LEVELS = [1, 2, 4, 8, 16, 32, 64] * 3


def law(level: float) -> float:
    """Gunther's law with λ = 1000, σ = 0.03, κ = 0.0005."""
    return 1000 * level / (1 + 0.03 * (level - 1) + 0.0005 * level * (level - 1))


@pytest.mark.parametrize("level", [1.0, 10.0, 64.0])
def test_the_band_covers_the_truth_in_about_95_of_100_data_sets(level):
    covered = 0
    for seed in range(200):
        random_ = random.Random(seed)
        throughputs = [law(each) + random_.gauss(0, 150) for each in LEVELS]
        fit = usl_fit(LEVELS, throughputs)
        low, high = band(fit, LEVELS, throughputs, level)
        covered += low <= law(level) <= high
    # 95 % of 200 is 190; five standard deviations of a binomial are 15.
    assert 175 <= covered <= 200


def test_the_band_contains_the_fit_and_vanishes_on_exact_data():
    throughputs = [law(each) for each in LEVELS]
    fit = usl_fit(LEVELS, throughputs)
    low, high = band(fit, LEVELS, throughputs, 20.0)
    assert low <= fit.throughput(20.0) <= high
    assert high - low < 1e-3 * law(20.0)


def test_as_many_parameters_as_observations_leave_no_band():
    levels = [1, 2, 4, 8]
    fit = usl_fit(levels, [law(each) for each in levels])
    assert band(fit, levels[:3], [law(each) for each in levels[:3]], 4.0) is None
