"""Which candidates are tried: the same answer as trying all of them in their order, with fewer trials."""

from __future__ import annotations

from dataclasses import replace

import pytest

from plimsoll.choice.candidates import Candidate, Considered, candidates
from plimsoll.choice.ranking import Entry
from plimsoll.choice.search import Search
from plimsoll.choice.trial import HEALTHY, Outcome


def queue_of(series: dict[str, int], most: int = 20) -> list[Entry]:
    """Candidates of each series with 1 to ``most`` drives, the fewest first, as they are tried."""
    places = [(drives, name) for drives in range(1, most + 1) for name in series]
    return [Entry(Considered(Candidate(f"{name}-{drives}", f"array:{name}-{drives}", name), 1, 1, drives)) for drives, name in places]


def searched(queue: list[Entry], needs: dict[str, int], finalists: int, *, narrow: int = 0) -> tuple[list[Entry], int]:
    """All that is found, and how many trials it took; a candidate that lacks no more than ``narrow`` drives misses it narrowly."""
    search, trials = Search(queue, finalists), 0
    while places := search.next():
        for place in places:
            entry = queue[place]
            lacks = needs[entry.candidate.series] - entry.considered.drives
            outcome = Outcome(HEALTHY, lacks <= 0, 1.0, (), None, None, rejection="slow", far=lacks > narrow)
            search.learn(place, replace(entry, outcomes={HEALTHY: outcome}, simulated=True, rejected="slow" if lacks > 0 else None))
            trials += 1
    return search.entries(), trials


@pytest.mark.parametrize("finalists", [1, 2, 3])
@pytest.mark.parametrize(
    "needs", [{"a": 9}, {"a": 30, "b": 30}, {"a": 1, "b": 1}, {"a": 20, "b": 13, "c": 14}, {"a": 19, "b": 25, "c": 20}]
)
@pytest.mark.parametrize("narrow", [0, 2, 40])
def test_the_first_that_carry_it_are_those_that_trying_all_in_order_finds(needs: dict[str, int], finalists: int, narrow: int) -> None:
    queue = queue_of(needs)
    found, _ = searched(queue, needs, finalists, narrow=narrow)
    wanted = [entry.candidate.name for entry in queue if entry.considered.drives >= needs[entry.candidate.series]][:finalists]
    assert [entry.candidate.name for entry in found if entry.carries][:finalists] == wanted
    assert all(entry.rejected for entry in found if not entry.carries)


def test_series_of_which_none_carries_it_cost_two_trials_each() -> None:
    needs = {f"s{number}": 99 for number in range(50)}
    found, trials = searched(queue_of(needs), needs, 2)
    assert len(found) == 1_000
    assert trials <= 100 + 2
    assert found[53].rejected == "not simulated: fewer drives than s3-20, which misses it by far"


def test_nothing_is_concluded_from_a_narrow_miss() -> None:
    found, trials = searched(queue_of({"a": 0}), {"a": 21}, 1, narrow=99)
    assert trials == len(found) == 20


def test_candidates_without_an_axis_of_drives_exclude_none() -> None:
    queue = [Entry(Considered(Candidate(name, f"array:{name}"), 1, 1, drives)) for drives, name in ((4, "a"), (8, "b"))]
    search = Search(queue, 1)
    tried = []
    while places := search.next():
        for place in places:
            tried.append(place)
            outcome = Outcome(HEALTHY, False, 1.0, (), None, None, rejection="slow", far=True)
            search.learn(place, replace(queue[place], outcomes={HEALTHY: outcome}, simulated=True, rejected="slow"))
    assert tried == [0, 1]


def test_a_series_is_of_levels_whose_requests_fall_on_single_drives() -> None:
    found = candidates(["nearline-raid6?drives=4,6&level=raid6,raid10,raidz2", "nvme-raid10"])
    assert [one.series for one in found] == [
        *("nearline-raid6?level=raid6", "nearline-raid6?level=raid10", "", "nearline-raid6?level=raid6", "nearline-raid6?level=raid10", ""),
        "",
    ]
