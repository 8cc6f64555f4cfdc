"""Power, throughput, composite and price per composite, held to figures published in 2005 and to sums by hand."""

from __future__ import annotations

import math
from decimal import Decimal

import pytest

from plimsoll.decision.metrics import (
    Metrics,
    composite,
    counted,
    power,
    price_per_composite,
    rounded,
    spec_price,
    spec_rounded,
    spec_seconds,
    streams_min,
    throughput,
)


@pytest.mark.parametrize(
    ("price", "powers", "reported", "nearest", "ceil", "published"),
    [
        # Report 000, TPC-H at 300 GB: the first price is rounded up, the second to the nearest; the report mixes both.
        (288751, (15504.0, 9157.2), "11915.3", "24.23", "24.24", "24.24"),
        (254586, (11511.2, 6181.1), "8435.2", "30.18", "30.19", "30.18"),
    ],
)
def test_published_composites_and_prices_come_out_in_either_rounding(price, powers, reported, nearest, ceil, published) -> None:
    found = composite(*powers)
    each = price_per_composite(price, found)
    assert rounded(found, 1) == Decimal(reported)
    assert (rounded(each, 2), rounded(each, 2, "ceil")) == (Decimal(nearest), Decimal(ceil))
    assert (spec_price(each), spec_price(each, "ceil")) == (Decimal(nearest), Decimal(ceil))
    assert Decimal(published) in (rounded(each, 2), rounded(each, 2, "ceil"))


def test_power_is_the_hour_over_the_geometric_mean_of_queries_and_refreshes() -> None:
    # 24 times of 2 s: 3600 · 10 / 2.
    assert power(10.0, [2.0] * 22, [2.0, 2.0]) == pytest.approx(18000.0)
    # 22 times of 1 s and two of 2^12 s: the geometric mean is 2.
    assert power(1.0, [1.0] * 22, [4096.0, 4096.0]) == pytest.approx(1800.0)


def test_without_refreshes_the_mean_is_of_the_queries() -> None:
    assert power(1.0, [4.0, 1.0]) == pytest.approx(1800.0)


def test_times_of_days_and_of_microseconds_do_not_overflow() -> None:
    assert power(100000.0, [1e6] * 22, [1e6, 1e6]) == pytest.approx(360.0)
    assert power(0.01, [1e-6] * 22, [1e-6, 1e-6]) == pytest.approx(3.6e7)


def test_a_query_counts_as_a_thousandth_of_the_longest_at_least() -> None:
    assert counted([0.5, 2000.0, 3.0]) == [2.0, 2000.0, 3.0]
    assert counted([2.0, 2000.0, 3.0]) == [2.0, 2000.0, 3.0]
    assert power(1.0, [0.5, 2000.0]) == pytest.approx(3600 / math.sqrt(2.0 * 2000.0))


def test_a_refresh_counts_as_it_is() -> None:
    assert power(1.0, [2000.0], [0.5]) == pytest.approx(3600 / math.sqrt(2000.0 * 0.5))
    assert power(1.0, [1.0], [2000.0]) == pytest.approx(3600 / math.sqrt(2000.0))


def test_throughput_counts_the_queries_of_all_streams() -> None:
    # Six streams of 22 queries in an hour, at scale 300.
    assert throughput(300.0, 6 * 22, 3600.0) == pytest.approx(39600.0)


@pytest.mark.parametrize("call", [lambda: power(1.0, []), lambda: power(1.0, [0.0]), lambda: throughput(1.0, 22, 0.0)])
def test_a_time_of_nothing_is_a_mistake(call) -> None:
    with pytest.raises(ValueError, match="above zero"):
        call()


@pytest.mark.parametrize(
    ("seconds", "counts"), [(0.0004, 0.1), (0.04, 0.1), (0.05, 0.1), (0.149, 0.1), (0.15, 0.2), (0.25, 0.3), (12.34, 12.3), (12.35, 12.4)]
)
def test_the_specification_counts_tenths_of_a_second_and_at_least_one(seconds: float, counts: float) -> None:
    assert spec_seconds(seconds) == counts


def test_the_specification_rounds_figures_to_tenths() -> None:
    assert spec_rounded(Metrics(1.25, 2.34, 1.7)) == Metrics(1.3, 2.3, 1.7)
    assert spec_rounded(Metrics(1.25)) == Metrics(1.3)


@pytest.mark.parametrize(
    ("scale", "streams"),
    [
        (0.01, 2),
        (1, 2),
        (9.9, 2),
        (10, 3),
        (30, 4),
        (100, 5),
        (300, 6),
        (999, 6),
        (1000, 7),
        (3000, 8),
        (10000, 9),
        (30000, 10),
        (100000, 11),
    ],
)
def test_the_least_number_of_streams_grows_with_the_scale(scale: float, streams: int) -> None:
    assert streams_min(scale) == streams
