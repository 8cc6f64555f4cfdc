"""The score of mail users: what it is, how well it is known, and when a load of users keeps it."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest

from plimsoll.analysis.load_line.mark import mark_of
from plimsoll.analysis.objective.judgement import applies_to, judge, parse_objective
from plimsoll.analysis.objective.sample_size import shortage
from plimsoll.analysis.point.estimates import score_estimate
from plimsoll.analysis.point.metric import metric
from plimsoll.analysis.point.observation import Batches, Portion
from plimsoll.analysis.point.repeats import with_score
from plimsoll.analysis.point.score import score_weights, weighed
from plimsoll.analysis.point.summary import latency_summary
from plimsoll.errors import InputError
from plimsoll.histogram import Histogram
from plimsoll.reports.answer import answer
from plimsoll.reports.mail import document, hurried
from plimsoll.reports.marks import RunQuestion, passed
from plimsoll.reports.terminal.mail import users as users_table
from plimsoll.result import Estimate, OpTotals, Outstanding, Result
from support.made_results import Load, Setting, made

MS = 1e6
WEIGHTS = {"read": 10.0, "delete": 2.0, "send": 1.0}
OBJECTIVE = parse_objective("score <= 1s")


def group(name: str, users: int, weights: dict[str, float], **tasks: float) -> dict[str, Any]:
    return {"name": name, "users": users, "tasks": tasks, "score_weights": weights}


def definition(*groups: dict[str, Any]) -> Any:
    return {"name": "office", "driver": "mail", "stream": list(groups)}


def point(users: int, count: int = 2000, **p95_ms: float) -> Result:
    """A point of an office; every task was done as often and took always as long."""
    result = made(Load(100.0, MS), setting=Setting(workload="office", place={"level": users, "kind": "ramp", "role": "point"}))
    of_task = result.totals["read"]
    assert of_task.latency_ns is not None
    totals = {
        task: replace(of_task, count=count, latency_ns=replace(of_task.latency_ns, p95=round(ms * MS))) for task, ms in p95_ms.items()
    }
    office = definition(group("clerks", users, WEIGHTS, **dict.fromkeys(p95_ms, 1.0)))
    found = replace(result, totals=totals, estimates={}, job=replace(result.job, definition=office))
    score = weighed(found, lambda task: totals[task].latency_ns.p95 if task in totals else None)  # type: ignore[union-attr]
    return replace(found, estimates=with_score(found, Estimate(score or 0.0)))


def test_the_score_is_the_weighted_mean_of_the_95th_percentiles_of_what_was_done() -> None:
    found = metric(point(10, read=100, delete=400), "all", "score")
    assert found is not None and found.value == pytest.approx((10 * 100 + 2 * 400) / 12 * MS)
    assert document([point(10, read=100, delete=400)])["score_ms"] == pytest.approx((10 * 100 + 2 * 400) / 12)


def test_groups_with_weights_of_their_own_count_by_their_users() -> None:
    few, many = group("few", 10, {"read": 10, "send": 1}, read=1, send=1), group("many", 30, {"read": 2}, read=1, search=1)
    assert score_weights(definition(few, many)) == {"read": (10 * 10 + 30 * 2) / 40, "send": 1.0}
    assert score_weights(definition(many, few)) == score_weights(definition(few, many)), "no group is the first"


def test_other_loads_have_no_score_and_are_not_asked_for_one() -> None:
    plain = made(Load(100.0, MS))
    assert metric(plain, "all", "score") is None and document([plain]) == {}
    said = applies_to(OBJECTIVE, plain.job.definition)
    assert said is not None and "is about mail users, of whom oltp-db has none" in said
    assert applies_to(OBJECTIVE, definition(group("clerks", 1, WEIGHTS, read=1))) is None
    with pytest.raises(InputError, match="'score' is of all tasks of mail users together; write it without 'read'"):
        parse_objective("read score <= 1s")


def test_a_score_is_held_only_when_its_rarest_task_was_seen_often_enough() -> None:
    assert judge(OBJECTIVE, point(10, count=59, read=100, delete=400)).holds
    few = judge(OBJECTIVE, point(10, count=58, read=100, delete=400))
    assert not few.holds and few.undecided and few.too_few is not None
    assert few.too_few.text.startswith("too few requests: 58 of read in 0.58 s, 59 are needed; measure for")
    never = point(10, read=100)
    office = definition(group("clerks", 10, WEIGHTS, read=1, delete=1))
    lacking = shortage(OBJECTIVE.clauses[0], "all", [replace(never, job=replace(never.job, definition=office))])
    assert lacking is not None and lacking.op == "delete", "a task that is due and was never seen has no percentile to average"


def test_tasks_without_an_answer_raise_the_score() -> None:
    slow = point(10, read=100, delete=100)
    bounds = dict.fromkeys(("mean", "p50", "p90", "p95", "p99", "p999", "max"), 5_000 * MS)
    slow = replace(slow, outstanding={"read": Outstanding(40, 40, round(5e9), 2000, at_least=bounds, at_most=dict.fromkeys(bounds))})
    scored = with_score(slow, Estimate(100 * MS, 99 * MS, 101 * MS, 30))["all"]["score"]
    assert scored.at_least and scored.value == pytest.approx((10 * 5_000 + 2 * 100) / 12 * MS)
    judged = judge(OBJECTIVE, replace(slow, estimates={"all": {"score": scored}}))
    assert not judged.holds and judged.settled and "score ≥" in str(judged.failed_by)


def test_users_are_carried_up_to_the_level_whose_score_passes_the_limit() -> None:
    results = [point(users, read=users, delete=users) for users in (200, 400, 800, 1600)]
    mark = mark_of(results, OBJECTIVE)
    assert mark is not None and (mark.level, mark.next_level, mark.failed_by) == (800, 1600, "score <= 1s")
    results = [replace(one, place={**one.place, "experiment": "ramp"}) for one in results]
    asked = RunQuestion([{"name": "ramp", "objective": "score <= 1s", "over": [{"option": "users"}]}])
    said = answer(results, asked)
    assert said.sentence.startswith("/dev/sdb carries 800 users (200 tasks/s) before score passes 1 s, as it does with 1,600")
    assert said.cards[0].value == "800 users"
    said = answer(results[:2], asked)
    assert said.sentence.startswith("/dev/sdb carries at least 400 users (200 tasks/s) within 'score <= 1s', the most that were asked for")


def batches(seed: int, each: int) -> tuple[Batches, dict[str, OpTotals]]:
    """Forty batches in which reads and deletes take exponential times of 10 and 40 ms on average, together slow or quick."""
    rng, found = random.Random(seed), Batches()
    whole = {"read": Histogram(), "delete": Histogram()}
    for _ in range(40):
        mood, portions = rng.uniform(0.7, 1.3), {}
        for task, mean_ms in (("read", 10.0), ("delete", 40.0)):
            own = Histogram()
            for _ in range(each):
                own.record_many(max(1, round(rng.expovariate(1 / (mood * mean_ms * MS)))), 1)
            whole[task].add(own)
            portions[task] = Portion(each, 0, own.mean * each, own)
        found.add(1.0, portions)
    totals = {task: OpTotals(each * 40, each, 0, 0.0, 0, latency_summary(one), None) for task, one in whole.items()}
    return found, totals


def test_the_interval_of_a_score_covers_the_true_one() -> None:
    # Over all moods, by simulation of two million each: reads 30.4 ms, deletes 121.8 ms; so (10 × 30.4 + 2 × 121.8) / 12.
    true_ns, covered, widths = 45.6 * MS, 0, []
    for seed in range(40):
        found = score_estimate(*batches(seed, 50), WEIGHTS)
        assert found is not None and found.low is not None and found.high is not None
        covered += found.low <= true_ns <= found.high
        widths.append((found.high - found.low) / found.value)
    # Of 40 intervals of 95 %, 33 or more cover with probability 99.7 %.
    assert covered >= 33 and 0.05 < sum(widths) / len(widths) < 0.4, (covered, widths)


def test_a_score_of_few_requests_has_no_interval() -> None:
    found = score_estimate(*batches(1, 10), WEIGHTS)
    assert found is not None and found.low is None and found.high is None


def at_speed(speed: float, users: int = 10) -> Result:
    found = point(users, read=100, delete=400)
    office: Any = definition({**group("clerks", users, WEIGHTS, read=1.0, delete=1.0), "speed": speed})
    return replace(found, job=replace(found.job, definition=office), place={})


def test_a_day_that_passes_faster_is_said_wherever_its_rates_stand() -> None:
    said = "the working day passed at 20 × its speed, and every rate with it"
    assert hurried([at_speed(20.0)]) == said and hurried([at_speed(1.0)]) == ""
    assert "passed at 2 to 60 × its speed" in hurried([at_speed(60.0), at_speed(2.0)])
    assert hurried([made(Load(100.0, MS))]) == "", "other loads have no day"
    assert said in answer([at_speed(20.0)], RunQuestion()).sentence and said not in answer([at_speed(1.0)], RunQuestion()).sentence
    assert said[1:] in users_table([at_speed(20.0)]) and said[1:] not in users_table([at_speed(1.0)])
    assert document([at_speed(20.0)])["mail"][0]["speed"] == 20.0


def test_a_score_that_is_surely_too_long_passes_its_limit_although_nobody_knows_by_how_much() -> None:
    assert passed("score <= 1s (score ≥ 1.63 s)") == passed("score <= 1s") == "score passes 1 s"
    assert passed("score <= 1s (few samples)").endswith("fails")
