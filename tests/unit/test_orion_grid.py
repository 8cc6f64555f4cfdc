"""ORION's point lists: counts as published, order, and how points become loads."""

from __future__ import annotations

import pytest

from plimsoll.errors import InputError
from plimsoll.experiments.orion import grid, orion
from plimsoll.experiments.plan import Ask
from support.synthetic_result import Answer, conducted


@pytest.mark.parametrize(
    ("name", "disks", "points"),
    [
        # block-tools reference 2c: 7d + 1 and (5d + 1)(2d + 1); ORION announces points + 1 minutes at 60 s (9, 44 and 19 minutes).
        ("basic", 1, 8),
        ("simple", 1, 8),
        ("basic", 6, 43),
        ("detailed", 1, 18),
        ("normal", 2, 55),
        ("oltp", 1, 21),
        ("oltp", 3, 23),
    ],
)
def test_a_grid_has_as_many_points_as_orion_announces(name: str, disks: int, points: int) -> None:
    listed = grid(name, disks)
    assert len(listed) == len(set(listed)) == points
    assert listed[0] == (0, 0)


@pytest.mark.parametrize("disks", [1, 2, 5, 12])
def test_grids_grow_with_the_disks_by_their_formulas(disks: int) -> None:
    assert len(grid("basic", disks)) == 7 * disks + 1
    assert len(grid("detailed", disks)) == (5 * disks + 1) * (2 * disks + 1)
    assert len(grid("row", disks, num_large=1)) == 5 * disks + 1
    assert len(grid("column", disks, num_small=3)) == 2 * disks + 1


def test_the_basic_grid_steps_small_alone_and_then_large_alone() -> None:
    assert grid("basic", 1) == [(0, 0), (1, 0), (2, 0), (3, 0), (4, 0), (5, 0), (0, 1), (0, 2)]


def test_the_detailed_grid_is_the_full_product_row_by_row() -> None:
    assert grid("detailed", 1)[:7] == [(0, 0), (1, 0), (2, 0), (3, 0), (4, 0), (5, 0), (0, 1)]


def test_a_row_holds_the_large_and_a_column_the_small_requests() -> None:
    assert grid("row", 1, num_large=2) == [(0, 2), (1, 2), (2, 2), (3, 2), (4, 2), (5, 2)]
    assert grid("row", 1, num_large=0)[1] == (1, 0)
    assert grid("column", 1, num_small=4) == grid("col", 1, num_small=4) == [(4, 0), (4, 1), (4, 2)]
    assert grid("point", 1, num_small=4, num_large=2) == [(4, 2)]


def test_oltp_goes_one_by_one_to_the_disks_and_then_in_multiples_of_them() -> None:
    assert [small for small, _ in grid("oltp", 3)] == [0, 1, 2, *range(3, 61, 3)]
    assert [small for small, _ in grid("oltp", 1)] == list(range(21))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"name": "basik", "disks": 1}, "write one of basic, detailed"),
        ({"name": "dss", "disks": 1}, "not published"),
        ({"name": "max", "disks": 1}, "not published"),
        ({"name": "basic", "disks": 0}, "how many disks"),
        ({"name": "row", "disks": 1}, "num_large"),
        ({"name": "column", "disks": 1}, "num_small"),
        ({"name": "point", "disks": 1, "num_large": 1}, "num_small"),
    ],
)
def test_a_grid_that_cannot_be_listed_is_refused_with_what_is_missing(arguments, words: str) -> None:
    with pytest.raises(InputError, match=words):
        grid(**arguments)


def test_the_empty_point_is_skipped_and_that_is_said() -> None:
    conclusion, asks = conducted(orion(grid("basic", 1), "random", "scan", repeat=2), lambda ask: Answer())
    assert len(asks) == 2 * 7
    assert asks[0].settings == {"random.queue_depth": 1, "scan.queue_depth": 0}
    assert [ask.repeat for ask in asks] == [1] * 7 + [2] * 7
    assert "The point without any request, which ORION counts, was skipped: it asks nothing." in conclusion.sentences


def test_the_conclusion_is_orions_summary() -> None:
    def answer(ask: Ask) -> Answer:
        few, many = ask.settings["random.queue_depth"], ask.settings["scan.queue_depth"]
        streams = {name: rate for name, rate in (("random", 100.0 * few), ("scan", 200.0 * many)) if rate}
        return Answer(iops=sum(streams.values()), mean_ms={"read": 1.0 + few}, streams=streams)

    figures = conducted(orion(grid("detailed", 1), "random", "scan"), answer)[0].figures
    assert figures["small_alone"] == {"outstanding": 5, "iops": 500}
    assert figures["large_alone"] == {"outstanding": 2, "bytes_per_s": 400 * 4096}
    assert figures["latency"] == {"outstanding": 1, "mean_ns": 2e6}


def test_a_failed_point_is_named_by_its_place_in_the_grid() -> None:
    conclusion, asks = conducted(orion([(1, 0), (0, 1)], "random", "scan"), lambda ask: Answer(error="gone"))
    assert len(asks) == 2
    assert conclusion.sentences == ("The point at small 1, large 0 failed: gone.", "The point at small 0, large 1 failed: gone.")
