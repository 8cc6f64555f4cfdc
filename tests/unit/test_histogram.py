"""Histograms answer alike whether they are folded or not."""

from __future__ import annotations

import sys

from hypothesis import given
from hypothesis import strategies as st

from plimsoll.analysis.point.observation import Batches, Portion
from plimsoll.histogram import Histogram, distribution

#: From 0, which counts with the shortest, to beyond the longest that is told apart (2^42 ns).
LATENCIES = st.lists(st.integers(min_value=0, max_value=1 << 43), min_size=1, max_size=60)


def histogram_of(values: list[int]) -> Histogram:
    made = Histogram()
    for value in values:
        made.record(value)
    return made


def answers(histogram: Histogram) -> tuple[object, ...]:
    percentiles = [histogram.percentile(percent) for percent in (0.0, 1.0, 50.0, 99.0, 99.9, 100.0)]
    figures = (histogram.count, histogram.mean, histogram.min, histogram.max, histogram.stddev)
    return (*figures, percentiles, histogram.buckets(), histogram.encode())


@given(LATENCIES)
def test_a_folded_histogram_answers_as_before(values: list[int]) -> None:
    histogram = histogram_of(values)
    before = answers(histogram)
    histogram.fold()
    assert answers(histogram) == before


@given(LATENCIES, LATENCIES, st.booleans(), st.booleans())
def test_folded_histograms_add_like_others(left: list[int], right: list[int], folds_left: bool, folds_right: bool) -> None:
    total, addend = histogram_of(left), histogram_of(right)
    if folds_left:
        total.fold()
    if folds_right:
        addend.fold()
    total.add(addend)
    assert answers(total) == answers(histogram_of(left + right))


def test_an_empty_histogram_can_be_folded() -> None:
    histogram = Histogram()
    histogram.fold()
    assert (histogram.count, histogram.buckets()) == (0, [])
    histogram.record(7)
    assert histogram.buckets() == [(7, 1)]


def test_the_batches_of_a_long_run_take_little_memory() -> None:
    """A histogram of every batch used to take 270 KiB: a long run 17 MiB of them."""
    batches = Batches()
    for index in range(1000):
        batches.add(1.0, {"read": Portion(3, 3 * 4096, 6_000.0, histogram_of([1_000 + index, 2_000, 3_000]))})
    kept = [batch.portions["read"].latency for batch in batches.equal()]
    assert len(kept) >= 32
    assert sum(sys.getsizeof(histogram) for histogram in kept) < 64 << 10


def test_buckets_of_several_are_those_of_all_values_together() -> None:
    both, parts = Histogram(), [Histogram(), Histogram()]
    for value in (100, 100_000, 100_001, 5_000_000, 7):
        both.record(value)
        parts[value % 2].record(value)
    assert distribution(part.encode() for part in parts).buckets() == both.buckets()
    assert distribution([]).buckets() == []
