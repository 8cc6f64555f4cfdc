"""The mark: what held, what failed, and where between them the limit is crossed."""

from __future__ import annotations

import json
import random
from dataclasses import replace

import pytest

from plimsoll.analysis.load_line.line import load_line
from plimsoll.analysis.load_line.mark import Mark, crossing, mark_of
from plimsoll.analysis.objective.judgement import parse_objective
from plimsoll.result import Estimate, Result
from support.made_results import Load, Setting, failed, made

MU = 1000.0
MS = 1_000_000


def mm1(rate: float, spread: float | None = 0.02, error: float = 1.0) -> Result:
    """One level of an open M/M/1 queue that serves 1000 per second: the mean response is 1/(μ-λ)."""
    setting = Setting(options={"arrival": "poisson", "rate": rate})
    return made(Load(rate, error * 1e9 / (MU - rate), spread=spread), level=rate, setting=setting)


def found(results: list[Result], objective: str) -> Mark:
    mark = mark_of(results, parse_objective(objective))
    assert mark is not None
    return mark


@pytest.mark.parametrize(("objective", "analytic"), [("mean <= 5ms", 800.0), ("mean <= 20ms", 950.0), ("p99 <= 20ms", 769.75)])
def test_closely_bisected_levels_have_the_mark_of_mm1_within_2_percent(objective: str, analytic: float) -> None:
    # Mean 1/(μ-λ), and p99 = ln(100) = 4.605 times it: 1000 - 1/0.005, 1000 - 1/0.02, 1000 - 4.605/0.02.
    levels = [100, 200, 400, 700, *[analytic * share for share in (0.97, 0.985, 1.002, 1.015)], 990]
    mark = found([mm1(level) for level in levels], objective)
    assert mark.iops == pytest.approx(analytic, rel=0.02)
    assert mark.iops <= analytic
    assert mark.crossing == pytest.approx(analytic, rel=1e-3)
    assert mark.interval is not None and mark.interval[0] < analytic < mark.interval[1]


def test_the_crossing_of_mm1_is_exact_also_between_distant_levels() -> None:
    mark = found([mm1(rate) for rate in (100, 500, 900)], "read mean <= 5ms")
    assert (mark.iops, mark.next_level) == (500, 900)
    assert mark.crossing == pytest.approx(800.0, rel=1e-9)
    assert crossing(load_line([mm1(rate) for rate in (100, 500, 900)]), 5 * MS) == pytest.approx(800.0, rel=1e-9)


def test_the_interval_is_that_of_the_band_with_the_throughputs_own_added() -> None:
    mark = found([mm1(rate, spread=0.02) for rate in (700, 798, 820, 950)], "mean <= 5ms")
    # The upper edge 1.02/(μ-λ) crosses 5 ms at 796, the lower edge 0.98/(μ-λ) at 804; the throughput of 798 has ±15.96 of its own.
    apart = (4**2 + 15.96**2) ** 0.5
    assert mark.interval == (pytest.approx(800 - apart, abs=0.01), pytest.approx(800 + apart, abs=0.01))


def test_the_interval_contains_the_mark_also_where_levels_are_coarse() -> None:
    mark = found([mm1(rate, spread=0.001) for rate in (100, 500, 990)], "mean <= 5ms")
    assert mark.interval is not None
    assert mark.interval[0] == 500 and mark.interval[1] >= 800


def test_intervals_of_noisy_lines_cover_the_analytic_mark() -> None:
    # Errors of the response with a standard deviation of 2 %, reported with the 95 % half-width that belongs to it.
    random_ = random.Random(5)
    covered = 0
    for _ in range(300):
        results = [mm1(rate, spread=0.0392, error=1 + random_.gauss(0, 0.02)) for rate in (600, 760, 790, 805, 830, 950)]
        interval = found(results, "mean <= 5ms").interval
        covered += interval is not None and interval[0] <= 800 <= interval[1]
    assert covered >= 285


def test_the_mark_is_the_last_level_before_the_first_failure_and_says_when_a_higher_one_held() -> None:
    results = [made(Load(iops, mean * MS), level) for level, iops, mean in ((1, 100, 5), (2, 200, 21), (4, 300, 19), (8, 320, 40))]
    mark = found(results, "read mean <= 20ms")
    assert (mark.iops, mark.bytes_per_s, mark.level) == (100, 100 * 4096, 1)
    assert (mark.failed_by, mark.next_level, mark.objective) == ("read mean <= 20ms", 2, "read mean <= 20ms")
    assert mark.notes == ("The objective failed at level 2 but held again at level 4; the mark stays below the failure.",)


def test_no_level_that_holds_has_no_mark() -> None:
    assert mark_of([mm1(900), mm1(950)], parse_objective("mean <= 5ms")) is None
    assert mark_of([], parse_objective("mean <= 5ms")) is None


def test_a_line_that_never_fails_has_a_mark_without_upper_end() -> None:
    mark = found([mm1(100), mm1(500)], "mean <= 5ms")
    assert (mark.iops, mark.failed_by, mark.next_level, mark.interval, mark.crossing) == (500, None, None, None, None)
    assert mark.notes == ("No level failed: the mark is at least this. Measure higher levels to find it.",)


def test_a_level_that_failed_to_run_ends_the_line_without_a_crossing() -> None:
    mark = found([mm1(500), mm1(600), failed(700)], "mean <= 5ms")
    assert (mark.level, mark.next_level, mark.crossing, mark.interval) == (600, 700, None, None)
    assert mark.failed_by == "the point failed: no space left on device"


def test_a_failure_that_is_not_of_latency_is_bounded_by_the_levels_that_certainly_held_and_failed() -> None:
    def offered(rate: float, iops: float) -> Result:
        return made(Load(iops, MS), rate, setting=Setting(options={"arrival": "poisson", "rate": rate}))

    mark = found([offered(800, 800), offered(900, 900), offered(1000, 930)], "achieved >= 97%")
    assert (mark.level, mark.crossing, mark.failed_by) == (900, None, "achieved >= 97%")
    assert mark.interval == (pytest.approx(891), pytest.approx(939.3))


def test_the_first_of_several_limits_to_be_crossed_bounds_the_load() -> None:
    # p99 is 4.605 times the mean: 18 ms are crossed at 1000 - 4.605/0.018 = 744, 5 ms of mean at 800.
    mark = found([mm1(rate) for rate in (700, 900)], "mean <= 5ms and p99 <= 18ms")
    assert mark.crossing == pytest.approx(744.17, abs=0.05)


def test_repeats_of_a_level_are_judged_together() -> None:
    slow, fast = (made(Load(500, mean * MS), 4, repeat) for repeat, mean in ((1, 21), (2, 17)))
    mark = found([made(Load(200, 5 * MS), 1), slow, fast], "mean <= 20ms")
    assert (mark.level, mark.iops) == (4, 500)


def test_a_repeat_that_failed_makes_its_level_fail() -> None:
    mark = found([mm1(500), mm1(600), replace(failed(600), job=mm1(600).job)], "mean <= 5ms")
    assert (mark.level, mark.next_level) == (500, 600)


def test_a_lower_limit_on_the_rate_does_not_end_the_line_at_its_beginning() -> None:
    mark = found([mm1(rate) for rate in (100, 300, 500, 900)], "iops >= 250 and mean <= 5ms")
    assert (mark.level, mark.next_level, mark.failed_by) == (500, 900, "read mean <= 5ms")
    assert mark_of([mm1(100), mm1(900)], parse_objective("iops >= 5000")) is None


def test_points_without_intervals_have_a_mark_without_interval() -> None:
    mark = found([mm1(500, spread=None), mm1(900, spread=None)], "mean <= 5ms")
    assert (mark.iops, mark.interval, mark.crossing) == (500, None, pytest.approx(800))
    assert mark.notes == (
        "No interval is known for the mark: the points around it have none. Measure longer, unless the metric never has one.",
    )


def test_a_band_beyond_the_limit_at_the_lowest_level_has_no_low_end() -> None:
    mark = found([mm1(795, spread=0.05), mm1(900)], "mean <= 5ms")
    assert mark.interval is None
    assert mark.notes == ("Lower bound unknown: even the lowest level is too noisy to be sure it met the limit.",)


def test_a_band_that_never_leaves_the_limit_has_no_high_end() -> None:
    mark = found([mm1(500), mm1(805, spread=0.1)], "mean <= 5ms")
    assert mark.interval is None
    assert mark.notes == ("Upper bound unknown: no level clearly failed. Use higher levels or a longer --duration.",)


def test_a_noisy_level_far_beyond_the_limit_does_not_open_the_interval() -> None:
    clear, noisy = [mm1(500), mm1(798), mm1(820)], mm1(950, spread=0.9)
    assert found([*clear, noisy], "mean <= 5ms").interval == found(clear, "mean <= 5ms").interval


def test_an_open_load_that_was_not_carried_surely_failed_whatever_its_interval() -> None:
    setting = Setting(options={"arrival": "poisson", "rate": 1500})
    drowned = made(Load(1000, 2e9, spread=1.5), level=1500, setting=setting)
    drowned.estimates["all"]["iops"] = Estimate(1000, 990, 1010, 40)  # it is the queue that grows, not the throughput that varies
    interval = found([mm1(500), mm1(790), drowned], "mean <= 5ms").interval
    assert interval is not None and interval[0] < 800 < interval[1] < 1000


def test_the_json_form_has_what_programs_read() -> None:
    written = json.loads(json.dumps(found([mm1(500), mm1(900)], "mean <= 5ms").to_json()))
    assert list(written) == ["iops", "bytes_per_s", "level", "interval", "objective", "failed_by", "next_level", "crossing", "notes"]
    assert (written["iops"], len(written["interval"]), written["notes"]) == (500, 2, [])


def test_a_saturated_level_with_a_wide_interval_does_not_open_the_interval_of_the_mark() -> None:
    # At 999 of 1000/s the mean climbs for as long as the point lasts, so its interval reaches down to nothing; 820 has surely failed.
    saturated = made(Load(999, 300e6, spread=1.0), level=999, setting=Setting(options={"arrival": "poisson", "rate": 999}))
    mark = found([*(mm1(rate, spread=0.02) for rate in (700, 798, 820)), saturated], "mean <= 5ms")
    assert mark.interval is not None
    assert mark.interval[1] < 820
