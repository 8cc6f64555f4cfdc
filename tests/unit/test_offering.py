"""Whether an open load was carried, told from the requests that were due, which in a short measurement are fewer than the rate says."""

from __future__ import annotations

from dataclasses import replace

import pytest

from plimsoll.analysis.load_line.line import achieved as reached
from plimsoll.analysis.load_line.line import load_line
from plimsoll.analysis.objective.judgement import judge, parse_objective
from plimsoll.analysis.point.offered_load import achieved, due_per_s, saturated, share
from plimsoll.result import Estimate, Flag, Result
from support.made_results import Load, Setting, made

MS = 1e6
RATED = Setting(options={"arrival": "poisson", "rate": 1000.0})
ACHIEVED = parse_objective("achieved >= 97%")


def open_load(offered: float, completed: float, unfinished: int | None) -> Result:
    """Ten seconds of an open load."""
    setting = Setting(options={"arrival": "poisson", "rate": offered})
    return replace(made(Load(completed, MS), setting=setting), unfinished=unfinished)


@pytest.mark.parametrize(
    ("iops", "unfinished", "due"),
    [
        (83.0, 0, 83.0),  # nothing was left undone: 17 of 100 never fell due
        (83.0, 5, 83.5),  # 0.5 per second over 10 s
        (83.0, 400, 100.0),  # never more than was offered
        (83.0, None, 100.0),  # not known: the offered rate stands for it
        (104.0, 30, 100.0),  # more than the rate says is no more than was asked for
    ],
)
def test_what_was_due_lies_between_completed_and_offered(iops: float, unfinished: int | None, due: float) -> None:
    assert due_per_s(100.0, iops=iops, unfinished=unfinished, elapsed_s=10.0) == due


def test_few_arrivals_in_a_short_measurement_are_no_saturation() -> None:
    assert judge(ACHIEVED, open_load(100, 83, unfinished=1)).holds


def test_a_target_that_owes_requests_at_the_end_did_not_achieve_the_rate() -> None:
    judgement = judge(ACHIEVED, open_load(1000, 940, unfinished=600))
    assert not judgement.holds
    assert judgement.clauses[0].estimate is not None and judgement.clauses[0].estimate.value == pytest.approx(94)


def test_without_a_count_of_unfinished_requests_the_offered_rate_decides() -> None:
    assert not judge(ACHIEVED, open_load(100, 83, unfinished=None)).holds


def test_the_interval_of_the_share_follows_that_of_the_rate() -> None:
    # 950 ± 40 of 1000 with 100 owed over 10 s: 910 of 920, 950 of 960, 990 of 1000.
    found = share(open_load(1000, 950, unfinished=100), Estimate(950, 910, 990, 40), 1000)
    assert (found.low, found.value, found.high) == pytest.approx((910 / 920, 950 / 960, 0.99))


def test_saturation_and_objectives_rest_on_the_same_share() -> None:
    # 83 of 100 completed with one request owed: saturation called this the offered kind while 'achieved >= 97%' held.
    carried = [replace(open_load(100, 83, unfinished=1), place={"level": 100.0})]
    assert all(map(reached, load_line(carried).points)) and judge(ACHIEVED, carried).holds
    behind = [replace(open_load(1000, 940, unfinished=600), place={"level": 1000.0})]
    assert not any(map(reached, load_line(behind).points)) and not judge(ACHIEVED, behind).holds


def test_a_share_whose_interval_reaches_97_percent_may_have_been_carried() -> None:
    assert achieved([replace(made(Load(965, MS, spread=0.02), setting=RATED), unfinished=350)])  # 96.5 % [94.6, 98.4]
    assert not achieved([replace(made(Load(940, MS, spread=0.01), setting=RATED), unfinished=600)])


def test_a_closed_loop_is_always_carried() -> None:
    assert achieved([made(Load(10, MS), 4)])


def test_a_flag_alone_says_that_latencies_grow_with_the_duration() -> None:
    flag = Flag("rate_not_achieved", "doubt", "m", "a")
    assert saturated([replace(open_load(100, 99, unfinished=0), flags=[flag])])


@pytest.mark.parametrize(
    ("arrival", "offered", "completed", "carried"),
    [
        ("poisson", 7.5, 6.9, True),
        ("poisson", 7.5, 5.0, False),
        ("constant", 7.5, 6.9, False),
        ("poisson", 750.0, 690.0, False),
    ],
)
def test_drawn_arrivals_may_be_fewer_than_the_rate_by_their_standard_deviation(
    arrival: str, offered: float, completed: float, carried: bool
) -> None:
    # In 10 s 75 are due on average, give or take 8.7; of 7,500 a shortfall of 600 is no chance.
    setting = Setting(options={"arrival": arrival, "rate": offered})
    assert achieved([made(Load(completed, MS, spread=None), setting=setting)]) is carried
