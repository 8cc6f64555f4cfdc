"""The account of the long suite counts what it is told, and a scale leaves at least one trial of everything."""

from __future__ import annotations

from long.settings import Scale
from long.tally import Tally


def test_the_account_counts_each_kind_and_their_sum() -> None:
    tally = Tally()
    tally.count("fault: lost", survived=True, named=True)
    tally.count("fault: lost", survived=True, named=False)
    tally.count("kill: run", survived=False, named=None)
    assert tally.lines() == [
        "kind         tried  survived  named",
        "fault: lost      2         2      1",
        "kill: run        1         0      –",
        "tried 3, survived 2, named 1 of 2 that could be named",
    ]


def test_what_processes_counted_side_by_side_is_one_account() -> None:
    one, another, whole = Tally(), Tally(), Tally()
    for tally in (one, whole):
        tally.count("fault: lost", survived=True, named=False)
    for tally in (another, whole):
        tally.count("kill: run", survived=False, named=None)
        tally.count("fault: lost", survived=False, named=True)
    both = Tally()
    for tally in (one, another, Tally()):
        both.add(tally.told())
    assert both.accounts == whole.accounts
    assert both.lines()[-1] == "tried 3, survived 1, named 1 of 2 that could be named"


def test_trials_go_on_after_one_that_fails_and_each_is_counted() -> None:
    tally, outcomes = Tally(), iter([None, "torn", None])

    def trial() -> None:
        said = next(outcomes)
        assert said is None, said

    assert [said.splitlines()[0] for said in tally.broken("store", 3, trial)] == ["torn"]
    assert tally.accounts["store"].cells() == ("3", "2", "–")


def test_nothing_is_printed_of_nothing() -> None:
    assert Tally().lines() == []


def test_a_scale_leaves_at_least_one() -> None:
    assert [Scale(factor).times(100) for factor in (1, 0.05, 0.001)] == [100, 5, 1]
    assert Scale(0.05).seconds(60, least=5) == 5
