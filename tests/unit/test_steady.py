"""The five-round window of SNIA SSS PTS, and series in bounded memory."""

from __future__ import annotations

import pytest

from plimsoll.analysis.point.observation import Series, Slice
from plimsoll.analysis.statistics.steadiness import steadiness


def test_constant_values_are_steady() -> None:
    verdict = steadiness([1000.0] * 40)
    assert verdict is not None and verdict.steady
    assert (verdict.excursion_percent, verdict.slope_percent, verdict.variation_percent) == (0.0, 0.0, 0.0)


def test_a_climb_of_a_tenth_is_the_limit() -> None:
    # Five rounds 95, 97.5, 100, 102.5, 105: the fitted line climbs by 10 % of its average across the window.
    verdict = steadiness([95.0, 97.5, 100.0, 102.5, 105.0])
    assert verdict is not None
    assert verdict.slope_percent == pytest.approx(10.0)
    assert verdict.steady
    steeper = steadiness([94.0, 97.0, 100.0, 103.0, 106.0])
    assert steeper is not None and not steeper.steady


def test_an_excursion_beyond_a_fifth_is_not_steady() -> None:
    # The drop is in the middle, so the fitted line stays level: max - min = 25 of an average of 95.
    verdict = steadiness([100.0, 100.0, 75.0, 100.0, 100.0])
    assert verdict is not None
    assert verdict.slope_percent == pytest.approx(0.0)
    assert verdict.excursion_percent == pytest.approx(100 * 25 / 95)
    assert not verdict.steady


def test_noise_that_averages_out_within_a_round_is_steady() -> None:
    verdict = steadiness([80.0, 120.0] * 50)
    assert verdict is not None and verdict.steady
    assert verdict.variation_percent == pytest.approx(20.1, abs=0.1)


@pytest.mark.parametrize("values", [[], [1.0] * 4, [0.0] * 10])
def test_too_little_gives_no_verdict(values: list[float]) -> None:
    assert steadiness(values) is None


def test_a_full_series_halves_its_resolution_and_loses_no_total() -> None:
    series = Series(capacity=8)
    for index in range(100):
        series.add(Slice(seconds=1.0, count=index, latency_sum_ns=10.0))
    assert len(series) < 8
    kept = list(series)
    # 100 points of which the last few may still wait for their neighbours.
    assert sum(point.count for point in kept) == sum(range(96))
    assert {point.seconds for point in kept} == {16.0}


def test_rates_of_a_series_are_per_second() -> None:
    merged = Slice(1.0, 100, 5e6) + Slice(3.0, 300, 15e6)
    assert (merged.rate_per_s, merged.mean_ns) == (100.0, 50_000.0)
