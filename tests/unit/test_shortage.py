"""A latency is never held on fewer requests than could show it: no mark rests on them, and what asserts says how long to measure."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from plimsoll.analysis.comparison.comparison import match_points
from plimsoll.analysis.comparison.sides import Side
from plimsoll.analysis.load_line.line import load_line
from plimsoll.analysis.load_line.mark import mark_of
from plimsoll.analysis.objective.clause import parse_clause
from plimsoll.analysis.objective.judgement import judge, parse_objective
from plimsoll.analysis.objective.sample_size import least
from plimsoll.cli import main
from plimsoll.experiments.plan import Ask
from plimsoll.experiments.probe import Bounds, Resolution
from plimsoll.experiments.search import ramp, search
from plimsoll.reports.terminal.findings import kept
from plimsoll.reports.view.report import PointRecord, RunRecord, view
from plimsoll.result import Result
from support.made_results import Load, Setting, made
from support.synthetic_result import Answer, conducted

MS = 1e6
P99 = parse_objective("p99 <= 50ms")


def reads(count: int, mean_ms: float = 1.0, level: float | None = None, repeat: int = 1) -> Result:
    """So many requests in 10 s; their p99 is 4.6 times the mean, the slowest 12 times."""
    return made(Load(count / 10, mean_ms * MS), level, repeat, Setting(options={"arrival": "poisson", "rate": count / 10}))


@pytest.mark.parametrize(("metric", "share"), [("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99), ("p99.9", 0.999)])
def test_the_least_number_is_the_first_whose_slowest_request_bounds_the_percentile_at_95_percent(metric: str, share: float) -> None:
    # All of n requests lie below the percentile with probability share ** n.
    needed = least(parse_clause(f"{metric} <= 5ms"))
    assert share**needed <= 0.05 < share ** (needed - 1)


def test_least_numbers_are_those_of_the_literature() -> None:
    assert [least(parse_clause(f"{metric} <= 5ms")) for metric in ("p50", "p90", "p95", "p99", "p99.9")] == [5, 29, 59, 299, 2995]
    # One request of 5 ms or more shows at 99 % that p99 is no less; a maximum is what was seen.
    assert [least(parse_clause(text)) for text in ("p99 >= 5ms", "p95 > 5ms", "p50 >= 5ms", "max <= 1s", "iops >= 5")] == [1, 1, 5, 1, 1]
    assert least(parse_clause("mean < 5ms")) == 30


@pytest.mark.parametrize(
    ("text", "enough"),
    [("p99 <= 50ms", 299), ("read p95 < 50ms", 59), ("p50 <= 50ms", 5), ("p99.9 <= 50ms", 2995), ("mean <= 50ms", 30)],
)
def test_one_request_less_than_the_least_is_not_held(text: str, enough: int) -> None:
    objective = parse_objective(text)
    assert judge(objective, reads(enough)).holds
    judgement = judge(objective, reads(enough - 1))
    assert (judgement.holds, judgement.settled, judgement.undecided) == (False, False, True)


def test_a_single_request_holds_no_percentile_and_says_how_long_to_measure() -> None:
    judgement = judge(P99, reads(40))
    assert judgement.failed_by == "read p99 <= 50ms (too few requests: 40 in 10 s, 299 are needed; measure for 75 s)"
    assert "undecided: read p99 <= 50ms (too few requests" in kept(P99, [reads(1)])
    assert judge(parse_objective("max <= 1s and iops >= 0.1 and errors <= 0"), reads(1)).holds


def test_what_fails_by_its_value_fails_on_few_requests_too() -> None:
    judgement = judge(P99, reads(40, mean_ms=20))
    assert (judgement.holds, judgement.undecided, judgement.failed_by) == (False, False, "read p99 <= 50ms")
    # What surely fails is named before what is not known.
    both = judge(parse_objective("p99 <= 50ms and mean <= 0.5ms"), reads(40))
    assert (both.undecided, both.too_few, both.failed_by) == (False, None, "read mean <= 500us")


def test_a_point_that_ends_by_its_amount_is_told_to_do_more() -> None:
    ended = replace(reads(40), ended={"by": "amount"})
    assert str(judge(P99, ended).failed_by).endswith("299 are needed; ask for a larger amount)")


def test_requests_of_repeats_add_up() -> None:
    assert judge(P99, [reads(150), reads(150, repeat=2)]).holds
    assert not judge(P99, [reads(149), reads(149, repeat=2)]).holds


def test_repeats_whose_percentile_is_their_slowest_request_hold_only_if_the_slowest_of_all_does() -> None:
    # The mean of maxima of 40 is no p99. The slowest took 12 ms, p99 as such 4.6 ms.
    tiny = [reads(40, repeat=repeat) for repeat in range(1, 9)]
    assert judge(parse_objective("p99 <= 12ms"), tiny).holds
    judgement = judge(parse_objective("p99 <= 11ms"), tiny)
    assert judgement.failed_by == ("read p99 <= 11ms (too few requests: 40 in a repeat of 10 s, 100 are needed in each; measure for 25 s)")


def test_no_mark_rests_on_too_few_requests() -> None:
    assert mark_of([reads(40, level=4), reads(80, level=8)], P99) is None
    assert mark_of([reads(200, level=1), reads(100, 20, level=2)], P99) is None


def test_levels_with_too_few_requests_are_passed_over_and_named_where_they_could_raise_the_mark() -> None:
    mark = mark_of([reads(20, level=2), reads(400, level=40), reads(250, level=50), reads(600, 20, level=60)], P99)
    assert mark is not None and (mark.level, mark.next_level) == (40, 60)
    assert mark.notes[-1] == "Level 50 does not count: too few requests: 250 in 10 s, 299 are needed; measure for 12 s."
    assert len([note for note in mark.notes if "too few" in note]) == 1


def test_a_point_in_which_no_request_was_due_is_not_too_much() -> None:
    idle = replace(reads(0, level=0.01), totals={}, estimates={}, offered_per_s=0.01)
    mark = mark_of([idle, reads(400, level=40), reads(600, 20, level=60)], P99)
    assert mark is not None and mark.level == 40


@pytest.mark.parametrize(
    "place", [{"again": 1}, {"settings": {"queue_depth": 20, "duration": "30s"}}], ids=["again", "as earlier versions"]
)
def test_a_level_that_was_measured_longer_is_what_it_was_then(place: dict[str, Any]) -> None:
    short, later = reads(200, level=20), reads(600, 20, level=20)
    later = replace(later, job=replace(later.job, duration_s=30.0), place={**later.place, **place})
    points = [reads(400, level=40), short, later]
    assert [point.response.value for point in load_line(points).points] == [20 * MS, MS]
    assert mark_of(points, P99) is None
    pairs = {point.level: groups for point, groups in match_points([Side("a", points, "a"), Side("b", points, "b")])}
    assert pairs[20] == [(later,), (later,)]


def test_repeats_that_lasted_differently_by_themselves_all_count() -> None:
    # Points of arrays last as their rate needs, and the rate differs with the seed.
    one, other = reads(400, level=20), reads(400, 3, level=20, repeat=2)
    other = replace(other, job=replace(other.job, duration_s=11.0))
    (point,) = load_line([one, other]).points
    assert (point.repeats, point.response.value) == ((one, other), 2 * MS)


def queue(ask: Ask) -> Answer:
    """An M/M/1 queue that serves 20 requests per second; all of what is offered."""
    rate = float(ask.level or 0)
    return Answer(iops=rate, mean_ms={"read": 1000 / (20 - rate) if rate < 20 else 60_000})


@pytest.mark.parametrize("planner", [ramp, search])
def test_a_plan_measures_the_level_of_its_mark_for_as_long_as_the_percentile_needs(planner) -> None:
    # p99 is 4.605 / (20 - λ): 0.46 s are reached at 10 per second, where 10 s give 100 requests.
    plan = planner("rate", Bounds(1, 64), parse_objective("p99 <= 460.5ms"), Resolution(0.1))
    conclusion, asks = conducted(plan, queue)
    assert asks[0].settings == {"rate": 1}
    assert any("duration" in ask.settings for ask in asks)
    assert conclusion.mark is not None and 9 <= conclusion.mark.level <= 10


def test_a_plan_that_would_take_too_long_says_how_long_instead() -> None:
    conclusion, asks = conducted(ramp("rate", Bounds(0.1, 0.4), P99), lambda ask: Answer(iops=ask.level or 0, mean_ms={"read": 1.0}))
    assert conclusion.mark is None and not any("duration" in ask.settings for ask in asks)
    assert conclusion.figures["undecided"]
    (said,) = conclusion.sentences
    assert "which is not known well: too few requests:" in said and "measure for 750 s" in said


def test_low_levels_with_few_requests_do_not_send_a_ramp_downwards() -> None:
    plan = ramp("rate", Bounds(1, 4000), parse_objective("p99 <= 50ms"))
    conclusion, asks = conducted(plan, lambda ask: Answer(iops=ask.level or 0, mean_ms={"read": 1.0 if (ask.level or 0) < 900 else 20.0}))
    assert [ask.level for ask in asks[:4]] == [1, 2, 4, 8]
    assert conclusion.mark is not None and conclusion.mark.level == pytest.approx(900, rel=0.02)
    assert len(conclusion.sentences) == 1


def test_the_page_says_undecided_and_why() -> None:
    definition = {"name": "steps", "kind": "steps", "over": [{"option": "queue_depth", "levels": [4]}], "objective": "p99 <= 50ms"}
    run = RunRecord("r", "complete", {"experiments": [definition]}, [PointRecord(reads(40, level=4))])
    verdict = view([run], lambda _: [])["points"][0]["verdict"]
    assert (verdict["holds"], verdict["settled"], verdict["undecided"]) == (False, False, True)
    assert "too few requests: 40 in 10 s" in verdict["failed_by"]


OPEN = ("random-read-4k", "-t", "queue:?service=exp:1ms", "--set", "arrival=poisson", "--set", "rate=20", "-w", "0", "-d", "2s")


@pytest.mark.parametrize(
    "verb",
    [
        ("run", *OPEN),
        ("steps", *OPEN, "--over", "rate=10,20"),
        ("ramp", *OPEN, "--over", "rate=1..2"),
        ("search", *OPEN, "--over", "rate=1..2"),
    ],
    ids=lambda verb: verb[0],
)
def test_assert_fails_with_its_own_sentence(
    verb: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main([*verb, "--objective", "p99 <= 50ms", "--assert"]) == 1
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith(
        "plimsoll: the objective 'p99 <= 50ms' is not known to hold for random-read-4k on queue:?service=exp:1ms: read p99"
    )
    assert "too few requests: " in last and "299 are needed; measure for " in last


def test_a_longer_run_of_the_same_is_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["run", *OPEN, "-d", "20s", "--objective", "p99 <= 50ms", "--assert", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["objective"]["holds"] is True
