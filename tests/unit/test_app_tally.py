"""A cell's latencies are the same whether they are kept one by one or counted."""

import pytest

from plimsoll.apps.tally import FEW, Tally
from plimsoll.histogram import Histogram


@pytest.mark.parametrize("count", [0, 1, FEW, FEW + 1, 3 * FEW])
def test_few_and_many_are_told_alike(count: int) -> None:
    tally, counted = Tally(), Histogram()
    for number in range(count):
        tally.record(number * 1_234_567)
        counted.record(number * 1_234_567)
    assert (tally.count, tally.histogram().encode()) == (count, counted.encode())


def test_what_was_kept_is_counted_with_what_is_told_as_text_and_with_what_was_counted_before() -> None:
    tally = Tally()
    tally.record(1_000)
    tally.record_text("2000*3 50000*1")
    tally.record(1_000)
    assert tally.histogram().buckets() == [(1_000, 2), (2_000, 3), (50_015, 1)]
    assert Tally(tally.histogram()).count == 6


def test_asking_changes_nothing() -> None:
    tally = Tally()
    tally.record(7)
    assert [tally.histogram().count for _ in range(2)] == [1, 1]
