"""Speed-up and the Universal Scalability Law: exact and noisy data of known parameters, a reference fit, inputs without a fit."""

from __future__ import annotations

import random

import pytest

from plimsoll.analysis.load_line.scaling import scaling_table, usl_fit

LEVELS = [1, 2, 4, 8, 16, 32, 64]


def law(level: float, one: float = 1000.0, sigma: float = 0.05, kappa: float = 0.001) -> float:
    return one * level / (1 + sigma * (level - 1) + kappa * level * (level - 1))


def test_the_parameters_of_exact_data_are_recovered() -> None:
    fit = usl_fit(LEVELS, [law(level) for level in LEVELS])
    assert fit is not None
    assert (fit.lambda_per_s.value, fit.sigma.value, fit.kappa.value) == (
        pytest.approx(1000, rel=1e-9),
        pytest.approx(0.05, rel=1e-9),
        pytest.approx(0.001, rel=1e-9),
    )
    # sqrt((1 - 0.05) / 0.001)
    assert fit.peak_level == pytest.approx(30.822, abs=1e-3)
    assert fit.r_squared == pytest.approx(1.0)
    assert fit.throughput(24) == pytest.approx(law(24))


def test_the_fit_is_that_of_a_reference_implementation() -> None:
    # scipy 1.17.1, optimize.curve_fit(f, N, X, p0=[1000, .01, .001], xtol=ftol=1e-14), its covariance, and stats.t.ppf(.975, 5).
    fit = usl_fit([1, 2, 4, 8, 16, 32, 48, 64], [995.0, 1890.0, 3480.0, 5700.0, 7600.0, 7500.0, 6800.0, 5900.0])
    assert fit is not None
    expected = ((1.02863491e03, 64.6775804), (5.11629652e-02, 1.11483943e-02), (1.73576413e-03, 1.30646829e-04))
    for estimate, (value, half_width) in zip((fit.lambda_per_s, fit.sigma, fit.kappa), expected, strict=True):
        assert estimate.value == pytest.approx(value, rel=1e-6)
        assert estimate.low is not None and estimate.high is not None
        assert (estimate.high - estimate.low) / 2 == pytest.approx(half_width, rel=1e-5)
    assert (fit.r_squared, fit.peak_level) == (pytest.approx(0.9992181643, rel=1e-9), pytest.approx(23.3803205, rel=1e-7))


def test_intervals_of_noisy_data_cover_the_parameters_in_95_of_100_cases() -> None:
    random_ = random.Random(11)
    covered = [0, 0, 0]
    for _ in range(400):
        fit = usl_fit(LEVELS, [law(level) + random_.gauss(0, 60) for level in LEVELS])
        assert fit is not None
        for index, (estimate, truth) in enumerate(((fit.lambda_per_s, 1000.0), (fit.sigma, 0.05), (fit.kappa, 0.001))):
            assert estimate.low is not None and estimate.high is not None
            covered[index] += estimate.low <= truth <= estimate.high
    # 380 expected, standard deviation 4.4.
    assert all(367 <= count <= 393 for count in covered), covered


def test_repeats_are_observations_of_their_own() -> None:
    noisy = [law(level) * (1.01 if index % 2 else 0.99) for index, level in enumerate(LEVELS * 4)]
    fit = usl_fit(LEVELS * 4, noisy)
    assert fit is not None and fit.lambda_per_s.batches == 28
    assert fit.lambda_per_s.value == pytest.approx(1000, rel=0.05)


@pytest.mark.parametrize(
    ("name", "throughputs", "sigma", "kappa"),
    [
        ("linear growth", [700.0 * level for level in LEVELS], 0.0, 0.0),
        ("growth faster than linear", [700.0 * level**1.2 for level in LEVELS], 0.0, 0.0),
        ("constant", [700.0] * 7, 1.0, 0.0),
        ("Amdahl's law", [law(level, kappa=0.0) for level in LEVELS], 0.05, 0.0),
    ],
)
def test_parameters_are_never_negative(name: str, throughputs: list[float], sigma: float, kappa: float) -> None:
    fit = usl_fit(LEVELS, throughputs)
    assert fit is not None, name
    assert (fit.sigma.value, fit.kappa.value) == (pytest.approx(sigma, abs=1e-9), pytest.approx(kappa, abs=1e-9))
    assert fit.sigma.low is not None and fit.sigma.low >= 0


def test_a_throughput_that_does_not_vary_has_no_explained_variance_and_no_peak() -> None:
    fit = usl_fit(LEVELS, [700.0] * 7)
    assert fit is not None
    assert (fit.r_squared, fit.peak_level) == (None, None)


def test_a_plateau_shows_no_peak() -> None:
    # Eight servers: linear up to 8, level from there on. The fitted κ is above 0, but its interval reaches 0.
    fit = usl_fit(LEVELS, [993.0, 1992.0, 3988.0, 7980.0, 7980.0, 7980.0, 7980.0])
    assert fit is not None and fit.kappa.value > 0
    assert (fit.kappa.low, fit.peak_level) == (0.0, None)


@pytest.mark.parametrize(
    ("levels", "throughputs"),
    [
        ([], []),
        ([1, 2, 4], [100.0, 190.0, 350.0]),
        ([1, 2, 4, 4, 4], [100.0, 190.0, 350.0, 351.0, 352.0]),
        ([8] * 6, [100.0, 101.0, 99.0, 100.0, 100.0, 100.0]),
        (LEVELS, [0.0] * 7),
        ([0, 1, 2, 4, 8], [1.0, 2.0, 3.0, 4.0, 5.0]),
    ],
)
def test_too_few_levels_or_no_throughput_have_no_fit(levels: list[float], throughputs: list[float]) -> None:
    assert usl_fit(levels, throughputs) is None


def test_speed_up_and_efficiency_are_against_the_lowest_level() -> None:
    rows = scaling_table([2, 4, 2, 8], [180.0, 300.0, 220.0, 400.0])
    # Two workers carry 200 on average: 300 of 400 is an efficiency of 0.75, 400 of 800 one of 0.5.
    assert [(row.level, row.throughput, row.speed_up, row.efficiency) for row in rows] == [
        (2, 200.0, 1.0, 1.0),
        (4, 300.0, 1.5, 0.75),
        (8, 400.0, 2.0, 0.5),
    ]


def test_nothing_at_the_lowest_level_gives_no_table() -> None:
    assert scaling_table([1, 2], [0.0, 100.0]) == ()
    assert scaling_table([], []) == ()


#: Processors and throughput of the ray tracer of Gunther, "Guerrilla Capacity Planning" (2007); also the data set `raytracer` of R's usl.
RAY_TRACING = {1: 20.0, 4: 78.0, 8: 130.0, 12: 170.0, 16: 190.0, 20: 210.0, 24: 220.0, 28: 245.0, 32: 255.0, 48: 280.0, 64: 310.0}


def test_a_published_curve_has_its_published_contention_and_no_peak() -> None:
    fit = usl_fit(list(RAY_TRACING), list(RAY_TRACING.values()))
    assert fit is not None and fit.misfit is None
    # Published by the package: σ = 5.002e-2 ± 3.2e-3, κ = 4.7e-6 ± 6.9e-5, with λ held at the throughput of one; here λ is fitted as well.
    assert fit.sigma.low is not None and fit.sigma.high is not None and fit.sigma.low < 5.002e-2 < fit.sigma.high
    assert fit.kappa.value < 6.923e-5 and (fit.kappa.low, fit.peak_level) == (0.0, None)


def test_a_law_that_describes_what_was_measured_is_no_misfit() -> None:
    random_ = random.Random(5)
    for _ in range(50):
        fit = usl_fit(LEVELS * 2, [law(level) * random_.gauss(1, 0.03) for level in LEVELS * 2])
        assert fit is not None and fit.misfit is None


@pytest.mark.parametrize(
    ("name", "throughputs", "level"),
    [
        # Of the largest throughput: at 2 workers the law is twice as far, but that is too little to count.
        ("growth faster than linear", [700.0 * level**1.2 for level in LEVELS], 4),
        ("a limit with a sharp bend", [1000.0 * min(level, 8) for level in LEVELS], 1),
    ],
)
def test_what_the_law_cannot_describe_is_said_with_the_level(name: str, throughputs: list[float], level: float) -> None:
    for repeats in (1, 2):
        fit = usl_fit(LEVELS * repeats, throughputs * repeats)
        assert fit is not None and fit.misfit is not None, name
        assert fit.misfit.level == level and fit.misfit.share > 0.2
        # Without repeats nothing says how far chance reaches; repeats that agree leave nothing to it.
        assert fit.misfit.chance == (None if repeats == 1 else 0.0)
        assert fit.misfit.words().startswith(f"The Universal Scalability Law does not describe this: at level {level} it is ")


def test_scatter_of_repeats_is_no_misfit() -> None:
    levels, low, high = [1, 2, 4, 8], [100.0, 200.0, 330.0, 900.0], [140.0, 280.0, 470.0, 1500.0]
    fit = usl_fit(levels * 2, [*low, *high])
    assert fit is not None and fit.misfit is None
    # The same means, without anything that says how far apart repeats would be.
    alone = usl_fit(levels, [(one + other) / 2 for one, other in zip(low, high, strict=True)])
    assert alone is not None and alone.misfit is not None and alone.misfit.level == 4
