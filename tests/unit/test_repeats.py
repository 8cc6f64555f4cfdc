"""Repeats of one point become one estimate."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt
from random import Random

import pytest

from plimsoll.analysis.point.repeats import pool_repeats, pooled_metric
from plimsoll.measure import Job, unfinished
from plimsoll.result import Estimate, Result
from plimsoll.target import Target
from support.scripted_engine import ScriptedEngine


def test_one_repeat_stays_as_it_is() -> None:
    one = Estimate(10.0, 9.0, 12.0, 40)
    assert pool_repeats([one]) == one


def test_two_repeats_are_known_better_than_one() -> None:
    found = pool_repeats([Estimate(10.0, 9.0, 11.0, 40), Estimate(10.5, 9.5, 11.5, 40)])
    # √(1² + 1²) / 2.
    assert found == Estimate(10.25, pytest.approx(10.25 - sqrt(2) / 2), pytest.approx(10.25 + sqrt(2) / 2), 80)


def test_two_repeats_that_differ_more_than_they_admit_widen_the_interval_to_both() -> None:
    found = pool_repeats([Estimate(10.0, 9.9, 10.1, 40), Estimate(12.0, 11.9, 12.1, 40)])
    assert (found.value, found.low, found.high) == (11.0, 10.0, 12.0)


def test_the_asymmetry_of_a_percentile_is_kept() -> None:
    found = pool_repeats([Estimate(10.0, 9.0, 14.0, 40), Estimate(10.0, 9.0, 14.0, 40)])
    assert found.low == pytest.approx(10 - sqrt(2) / 2) and found.high == pytest.approx(10 + 4 * sqrt(2) / 2)


def test_three_repeats_have_students_interval() -> None:
    # Mean 11, deviation 1, t(0.975; 2) = 4.30265: 4.30265 / √3.
    found = pool_repeats([Estimate(10.0), Estimate(11.0), Estimate(12.0)])
    assert found.low == pytest.approx(11 - 4.302652730 / sqrt(3)) and found.high == pytest.approx(11 + 4.302652730 / sqrt(3))


def test_repeats_that_agree_by_chance_are_not_believed_beyond_their_own_intervals() -> None:
    found = pool_repeats([Estimate(10.0, 9.0, 11.0, 40)] * 3)
    assert found.low == pytest.approx(10 - 1 / sqrt(3)) and found.high == pytest.approx(10 + 1 / sqrt(3))


def test_two_repeats_without_intervals_know_little() -> None:
    # Deviation √2 / 2 × t(0.975; 1) = 12.7062 / √2.
    found = pool_repeats([Estimate(10.0), Estimate(11.0)])
    assert found.high == pytest.approx(10.5 + 12.7062047 / 2)


def test_a_lower_bound_is_never_below_0() -> None:
    found = pool_repeats([Estimate(1.0), Estimate(10.0)])
    assert found.low == 0.0 and found.high == pytest.approx(5.5 + 12.7062047 * 9 / 2)


def test_a_bound_that_was_cut_off_at_0_is_not_taken_for_a_narrow_one() -> None:
    # Each reaches 1.5 up and, before it was cut off, 1.5 down: 1.5 × √4 / 4 either way, not 1 / √4 down.
    found = pool_repeats([Estimate(1.0, 0.0, 2.5, 40)] * 4)
    assert (found.low, found.high) == (pytest.approx(0.25), pytest.approx(1.75))


def test_nothing_cannot_be_pooled() -> None:
    with pytest.raises(ValueError, match="nothing"):
        pool_repeats([])


@pytest.mark.parametrize(("repeats", "between"), [(3, 0.0), (3, 2.0), (5, 1.0), (8, 0.5)])
def test_the_pooled_interval_covers_what_differs_from_run_to_run(repeats: int, between: float) -> None:
    # Every run has a mean of its own (deviation ``between``), measured with deviation 1 and a true interval of ±1.96.
    random, held = Random(repeats), 0
    for _ in range(1000):
        values = [random.gauss(100.0, between) + random.gauss(0.0, 1.0) for _ in range(repeats)]
        found = pool_repeats([Estimate(value, value - 1.96, value + 1.96, 40) for value in values])
        assert found.low is not None and found.high is not None
        held += found.low <= 100.0 <= found.high
    assert held / 1000 >= 0.93


def _result(estimates: dict[str, dict[str, Estimate]]) -> Result:
    engine = ScriptedEngine()
    workload = engine.check_workload({"stream": [{"name": "main"}]}, "small.toml")
    job = Job("0001-small", workload, engine.check_job({"duration": 1}), Target("queue:"), {"target": {}})
    return replace(unfinished(job), estimates=estimates)


def test_a_metric_is_pooled_over_the_results_that_have_it() -> None:
    results = [_result({"read": {"mean": Estimate(value, value - 1, value + 1, 40)}}) for value in (10.0, 12.0)]
    found = pooled_metric([*results, _result({})], "read", "mean")
    assert found is not None and found.value == 11.0
    assert pooled_metric(results, "write", "mean") is None


def test_the_maximum_of_repeats_is_the_greatest() -> None:
    results = [_result({"all": {"max": Estimate(value)}}) for value in (10.0, 30.0, 20.0)]
    assert pooled_metric(results, "all", "max") == Estimate(30.0)
