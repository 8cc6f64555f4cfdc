"""Percentiles, curves and heat-map bands of a report, on histograms whose answers are known."""

import random

import pytest

from plimsoll.histogram import Histogram, distribution
from plimsoll.reports.view.distribution import (
    BANDS_PER_DECADE,
    CURVE_STEPS,
    LEVELS,
    LONGEST_NS,
    Distribution,
    band_edges_ns,
    band_of,
)
from report.synthetic import histogram, plain_distribution

HUNDRED = [(ns, 1) for ns in range(1, 101)]


@pytest.mark.parametrize(("percent", "expected"), [(0, 1), (1, 1), (50, 50), (99, 99), (99.5, 100), (100, 100)])
def test_percentile_is_the_nearest_rank(percent, expected):
    assert Distribution(HUNDRED).value_at(percent) == expected


def test_percentiles_equal_those_of_the_histogram_they_came_from():
    drawn = histogram()
    draw = random.Random(7)
    for _ in range(20_000):
        drawn.record_value(int(draw.lognormvariate(13, 1)))
    found = plain_distribution([drawn.encode().decode()])
    for percent in (50, 90, 95, 99, 99.9, 99.99):
        assert found.value_at(percent) == drawn.get_value_at_percentile(percent)


def test_only_levels_that_an_io_lies_beyond_are_listed_and_the_maximum_is_last():
    assert Distribution(HUNDRED).levels(LEVELS) == [
        (0.0, 1),
        (10.0, 10),
        (25.0, 25),
        (50.0, 50),
        (75.0, 75),
        (90.0, 90),
        (95.0, 95),
        (99.0, 99),
        (100.0, 100),
    ]


def test_the_curve_runs_from_the_quickest_to_the_slowest_io_and_never_falls():
    points = Distribution([(1000 + step * 10, 5) for step in range(1000)]).curve(*CURVE_STEPS)
    assert points[0] == (0.0, 1000)
    assert points[-1][1] == 1000 + 999 * 10
    assert points == sorted(points)
    assert len(points) < 400


def test_the_curve_of_a_single_io_is_one_value():
    assert Distribution([(500, 1)]).curve(*CURVE_STEPS) == [(0.0, 500), (0.0, 500)]


@pytest.mark.parametrize(("latency_ns", "decade"), [(1, 0), (10, 1), (1_000, 3), (1_000_000, 6)])
def test_every_power_of_ten_begins_a_band(latency_ns, decade):
    assert band_of(latency_ns) == decade * BANDS_PER_DECADE
    assert latency_ns == 1 or band_of(latency_ns - 1) < decade * BANDS_PER_DECADE


def test_a_column_keeps_every_io():
    column = Distribution([(100, 2), (1_000, 3), (1_001, 4)]).bands(band_edges_ns())
    assert column[0] == 24
    assert sum(column[1:]) == 9
    assert Distribution([]).bands(band_edges_ns()) == []


def test_every_latency_is_in_the_band_whose_edges_enclose_it() -> None:
    draw = random.Random(3)
    for latency_ns in (0, 1, 2, 3, 10, LONGEST_NS, *(int(2 ** draw.uniform(0, 42)) for _ in range(2_000))):
        assert Distribution([(latency_ns, 5)]).bands(band_edges_ns()) == [band_of(latency_ns), 5]


def drawn_histograms(seed: int) -> list[str]:
    """Latencies of a few intervals as stored: of caches and disks, with an outlier, and one interval without any."""
    draw, made = random.Random(seed), []
    for count in (0, 1, 40, 3_000):
        one = Histogram()
        for _ in range(count):
            one.record(int(draw.lognormvariate(*draw.choice([(9, 0.3), (15, 1.2)]))))
        one.record_many(draw.choice([1, 7_000_000_000, LONGEST_NS]), count // 20)
        made.append(one.encode())
    return made


@pytest.mark.parametrize("seed", range(12))
def test_what_is_drawn_quickly_equals_the_plain_definition(seed: int) -> None:
    texts = drawn_histograms(seed)
    for some in (texts, texts[:1], texts[2:], []):
        quick, plain = distribution(some), plain_distribution(some)
        quick.add(distribution(texts[1:3]))
        plain.add(plain_distribution(texts[1:3]))
        for one, other in ((quick, plain), (distribution(some), plain_distribution(some))):
            assert one.buckets() == other.buckets()
            assert one.bands(band_edges_ns()) == other.bands(band_edges_ns())
            for percent in (0.0, 50.0, 90.0, 99.0, 99.9, 99.999, 100.0):
                assert one.value_at(percent) == other.value_at(percent)
            assert one.values_at(LEVELS) == other.values_at(LEVELS) and one.count == other.count
            if one.count:
                assert one.levels(LEVELS) == other.levels(LEVELS)
                for steps in (CURVE_STEPS, (0.05, 1.3), (0.0, 2.0)):
                    assert one.curve(*steps) == other.curve(*steps)
