"""What was outstanding when the measured time ended takes part in every latency: shown as a lower bound, never held though it could break."""

from __future__ import annotations

import csv
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from plimsoll.analysis.comparison.comparison import compare
from plimsoll.analysis.comparison.sides import Side
from plimsoll.analysis.load_line.line import load_line
from plimsoll.analysis.load_line.mark import mark_of
from plimsoll.analysis.objective.judgement import judge, parse_objective
from plimsoll.analysis.point.metric import metric
from plimsoll.analysis.point.observation import Observation
from plimsoll.analysis.point.repeats import pooled_metric
from plimsoll.analysis.point.summary import Summary
from plimsoll.analysis.validity.conclusion import conclude
from plimsoll.experiments.phrases import measured
from plimsoll.formats.prometheus import prometheus_text
from plimsoll.formats.stored_point import Recorded
from plimsoll.histogram import Histogram
from plimsoll.reports.numbers import comparison_table
from plimsoll.reports.terminal.comparison import comparison_text
from plimsoll.reports.terminal.findings import kept
from plimsoll.reports.terminal.points import points
from plimsoll.reports.view.report import PointRecord, RunRecord, view
from plimsoll.result import Result
from support.made_results import Load, Setting, made

Json = dict[str, Any]
MS = 1_000_000
S = 1_000 * MS
P99 = parse_objective("p99 <= 50ms")
MAX = parse_objective("max <= 1s")


def encoded(latencies: Sequence[int]) -> str:
    histogram = Histogram()
    for latency in latencies:
        histogram.record(latency)
    return histogram.encode()


def interval(phase: str, span_s: tuple[float, float], done: Sequence[int] = (), waiting: Sequence[int] = (), op: str = "read") -> Json:
    """One stream's interval: latencies of what completed, ages of what waited at its end."""
    cells = [{"stream": "main", "op": op, "count": len(done), "bytes": 4096 * len(done), "latency": encoded(done)}] if done else []
    ages = [{"stream": "main", "op": op, "count": len(waiting), "latency": encoded(waiting)}] if waiting else []
    summary = {op: {"count": len(done), "bytes": 0, "mean_ns": sum(done) / len(done), "max_ns": max(done)}} if done else {}
    start_ns, end_ns = (round(second * S) for second in span_s)
    backlog_ns = None if phase == "drain" else 0
    span = {"phase": phase, "start_ns": start_ns, "end_ns": end_ns, "backlog_ns": backlog_ns}
    return {**span, "cells": cells, "outstanding": ages, "summary": summary}


def result(*intervals: Json, level: float | None = None, repeat: int = 1) -> Result:
    """The point that these intervals are."""
    skeleton = replace(made(Load(1000, 1e6), level, repeat, Setting()), totals={}, streams={}, estimates={}, flags=[])
    summary, observation = Summary(), Observation()
    for one in intervals:
        summary.add(one)
        observation.add(one)
    return conclude(skeleton, summary, observation)


def hung(**place: Any) -> Result:
    """1,000 requests of 1 ms, then a hang: 64 in flight took 16 s, 1,436 that were due were never issued."""
    waiting = [age * 2 * MS for age in range(1, 1_501)]
    measured_time = interval("measure", (0, 5), [MS] * 1_000, waiting)
    return result(measured_time, interval("drain", (5, 21), [16 * S] * 64, waiting[:1_436]), **place)


def healthy(**place: Any) -> Result:
    """100,000 requests of 1 to 2 ms, of which a queue of 32 is in flight at either end."""
    times = [MS + 10 * one for one in range(100_000)]
    last = interval("measure", (1, 11), times, [MS] * 32)
    return result(interval("warmup", (0, 1), [MS] * 100, [MS] * 32), last, interval("drain", (11, 11.01), times[-32:]), **place)


def undecided(**place: Any) -> Result:
    """One of twenty requests waits, not yet for long."""
    waits = [MS] * 50
    return result(interval("measure", (0, 1), [MS] * 950, waits), interval("drain", (1, 2), [], waits), **place)


def test_a_hang_is_in_every_latency_as_a_lower_bound() -> None:
    point = hung()
    owed = point.outstanding["read"]
    assert (owed.count, owed.unfinished, owed.measured) == (1_500, 1_436, 1_000)
    assert owed.longest_ns == pytest.approx(16 * S, rel=0.002)
    p99 = metric(point, "read", "p99")
    assert p99 is not None and p99.at_least and p99.value == pytest.approx(16 * S, rel=0.002)  # the 2,475th of 2,500; 64 took 16 s
    p50 = metric(point, "all", "p50")
    assert p50 is not None and p50.value == pytest.approx(500 * MS, rel=0.002)  # the 1,250th: 250 waiting ones of 2 ms each
    assert owed.at_most["p99"] is None and point.totals["read"].count == 1_000 and point.totals["read"].iops == 200


def test_an_objective_that_outstanding_requests_break_is_settled_and_says_by_what() -> None:
    judgement = judge(P99, hung())
    assert (judgement.holds, judgement.settled) == (False, True)
    assert judgement.failed_by == "read p99 <= 50ms (read p99 ≥ 16 s)"
    assert measured(judgement.clauses[0]) == "read p99 was at least 16.0 s"
    assert "failed: read p99 was at least 16.0 s, 320 × the limit of 50ms" in kept(P99, [hung()])


@pytest.mark.parametrize("text", ["p99 <= 50ms", "mean < 20ms", "p99.9 <= 1s", "max <= 1s", "read p95 <= 50ms", "all p99 <= 50ms"])
@pytest.mark.parametrize("outcome", ["never issued", "killed", "late"])
def test_no_latency_is_held_that_requests_without_an_answer_could_break(text: str, outcome: str) -> None:
    quick = [MS] * 1_000
    waits = [90 * MS] * 100  # break no limit of 1 s yet, but nobody knows how long they will have taken
    ends = {
        "never issued": [interval("measure", (0, 1), quick, waits), interval("drain", (1, 2), [], waits)],
        "killed": [interval("measure", (0, 1), quick, waits)],
        "late": [interval("measure", (0, 1), quick, waits), interval("drain", (1, 4), [3 * S] * 100)],
    }
    judgement = judge(parse_objective(text), result(*ends[outcome]))
    assert not judgement.holds


def test_what_could_break_a_limit_and_did_not_yet_leaves_it_undecided() -> None:
    waits = [20 * MS] * 100
    point = result(interval("measure", (0, 1), [MS] * 1_000, waits), interval("drain", (1, 2), [], waits))
    judgement = judge(P99, point)
    assert (judgement.holds, judgement.settled, judgement.undecided) == (False, False, True)
    assert judgement.failed_by == "read p99 <= 50ms (could be broken: 100 requests had no answer when the measured time ended)"
    assert "undecided: read p99 <= 50ms (could be broken" in kept(P99, [point])
    # A median of 1,100 is known, whatever the 100 take; and what is measured to be slow enough stays so.
    assert judge(parse_objective("p50 <= 50ms"), point).holds
    assert judge(parse_objective("p99 >= 10ms"), point).holds


def test_a_healthy_run_is_judged_and_shown_as_before() -> None:
    point = healthy()
    assert point.outstanding["read"].unfinished == 0
    plain = replace(point, outstanding={})
    for text in ("p99 <= 2ms", "p99 <= 1.98ms", "mean <= 1.6ms", "mean <= 1.4ms", "max <= 3ms", "p50 < 1.51ms"):
        asked = parse_objective(text)
        assert judge(asked, point) == judge(asked, plain), text
    assert not any(estimate.at_least for metrics in point.estimates.values() for estimate in metrics.values())
    assert "≥" not in points([point])
    assert not [flag for flag in point.flags if flag.name == "unanswered"]


def test_a_queue_that_was_as_long_at_the_beginning_changes_no_latency_of_a_short_run() -> None:
    """What is in flight at an instant is slower than most; so is what was in flight when the measured time began, and it is counted."""
    draw = random.Random(7)
    times = [round(draw.expovariate(1 / 20) * MS) + 1 for _ in range(320)]
    late = sorted(times)[-64::2]  # 32 of the slowest, as an instant meets them
    point = result(
        interval("warmup", (0, 1), [MS], [MS] * 32),
        interval("measure", (1, 2), times, late),
        interval("drain", (2, 2.2), late),
    )
    owed = point.outstanding["read"]
    summary = point.totals["read"].latency_ns
    assert summary is not None
    assert owed.at_least["p50"] == summary.p50 and owed.at_least["p99"] == summary.p99
    assert owed.at_least["mean"] == pytest.approx(summary.mean, rel=0.001)


def test_without_a_warm_up_everything_that_was_due_counts() -> None:
    point = result(interval("measure", (0, 1), [MS] * 50, [S] * 50), interval("drain", (1, 3), [2 * S] * 50))
    assert point.outstanding["read"].at_least["mean"] == pytest.approx((MS + 2 * S) / 2, rel=0.002)


def test_an_operation_that_never_had_an_answer_is_asked_for_too() -> None:
    read = interval("measure", (0, 1), [MS] * 1_000)
    read["outstanding"] = [{"stream": "main", "op": "write", "count": 3, "latency": encoded([900 * MS] * 3)}]
    judgement = judge(P99, result(read))
    assert [(clause.op, clause.holds) for clause in judgement.clauses] == [("read", True), ("write", False)]
    assert judgement.failed_by == "write p99 <= 50ms (write p99 ≥ 900 ms)" and judgement.settled


def test_of_a_killed_process_the_last_interval_says_what_waited() -> None:
    quick = interval("measure", (0, 1), [MS] * 500, [MS] * 8)
    point = result(quick, interval("measure", (1, 2), [], [S] * 64), interval("measure", (2, 9), [], [8 * S] * 64))
    assert (point.outstanding["read"].count, point.outstanding["read"].unfinished) == (64, 64)
    assert not judge(P99, point).holds and "p99 ≥ 8 s" in str(judge(P99, point).failed_by)


def test_after_a_goal_only_what_is_older_than_its_end_counts() -> None:
    measured_time = interval("measure", (0, 1), [MS] * 1_000, [MS] * 8)
    after = interval("after", (1, 2), [*([MS] * 900), 1_500 * MS], [1_200 * MS, 3 * MS])
    point = result(measured_time, after, interval("drain", (2, 2.1), [2 * S, 5 * MS], []))
    owed = point.outstanding["read"]
    assert (owed.count, owed.unfinished) == (2, 0), "1.5 s at the end of second 2, and 2 s in the drain, were due before second 1"


def test_results_tell_it_and_those_of_earlier_versions_are_read() -> None:
    point = hung()
    stored = point.to_json()
    assert Result.from_json(stored, "result.json") == point
    del stored["outstanding"]
    for metrics in stored["estimates"].values():
        for estimate in metrics.values():
            del estimate["at_least"]
    assert Result.from_json(stored, "result.json").outstanding == {}


def test_the_terminal_marks_bounds_and_a_flag_says_why() -> None:
    point = hung()
    assert "≥ 16.0 s" in points([point])
    (flag,) = [flag for flag in point.flags if flag.name == "unanswered"]
    assert flag.severity == "doubt"
    assert flag.message.startswith("1,500 of 2,500 requests were due and had no answer when the measured time ended; 1,436 never had one")


def test_a_repeat_that_hung_makes_the_pool_a_lower_bound() -> None:
    pool = pooled_metric([healthy(), hung(repeat=2)], "read", "p99")
    assert pool is not None and pool.at_least and pool.value > 7 * S and pool.high is None
    assert not judge(P99, [healthy(), hung(repeat=2), healthy(repeat=3)]).holds


def test_a_comparison_marks_lower_bounds_and_has_no_ratio_of_two() -> None:
    sides = [Side("ok", [healthy()]), Side("hung", [hung()]), Side("hung, too", [hung()])]
    figures = [("read", "p99")]
    found = compare(sides, figures=figures)
    text = comparison_text(found, details=True)
    # A ratio of a lower bound is one itself, and no answer.
    assert comparison_text(found).count("≥ 8") == 2 and not found.answer()
    assert "≥ 16.0 s" in text and "Latencies marked ≥ are lower bounds" in text
    assert [row.ratio is None for row in found.points] == [False, False]
    (both,) = compare(sides[1:], figures=figures).points
    assert both.ratio is None and both.verdict is None


def test_the_report_shows_the_bound_and_names_it() -> None:
    shown = view([RunRecord("r", "complete", {}, [PointRecord(hung())])], lambda _: [])["points"][0]
    read = shown["totals"]["read"]
    assert read["latency_ns"]["p99"] == pytest.approx(16 * S, rel=0.002) and "p99" in read["at_least"]
    calm = view([RunRecord("r", "complete", {}, [PointRecord(healthy())])], lambda _: [])["points"][0]
    assert "at_least" not in calm["totals"]["read"]


def test_prometheus_has_a_place_for_lower_bounds() -> None:
    lines = prometheus_text("r", [Recorded(hung())]).splitlines()
    (bound,) = [line for line in lines if line.startswith("plimsoll_latency_at_least") and 'op="read"' in line and '"0.99"' in line]
    assert float(bound.rpartition(" ")[2]) == pytest.approx(16, rel=0.002)
    assert not any("at_least" in line for line in prometheus_text("r", [Recorded(replace(hung(), outstanding={}))]).splitlines())


@pytest.mark.parametrize("make", [hung, undecided])
def test_a_mark_never_rests_on_a_level_that_hung(make: Callable[..., Result]) -> None:
    levels = [healthy(level=1), healthy(level=2), make(level=4), healthy(level=8)]
    mark = mark_of(levels, P99)
    assert mark is not None and (mark.level, mark.next_level) == (2, 4)
    assert mark_of(levels[2:], P99) is None
    line = load_line(levels, "read", "p99")
    assert [point.response.at_least for point in line.points] == [make is hung and level == 4 for level in (1, 2, 4, 8)]


@pytest.mark.parametrize("seed", range(30))
def test_the_truth_lies_between_both_values(seed: int) -> None:
    """Requests with known latencies, cut off at an instant: percentiles over those due in the measured time."""
    draw = random.Random(seed)
    begin, end, gives_up = 100.0, 200.0, 200.0 + draw.choice([0.0, 20.0, 1e6])
    due = [(draw.uniform(0, end), draw.expovariate(1 / draw.choice([1, 10, 200])) + 0.01) for _ in range(3_000)]
    ms = [(at, round(took * MS)) for at, took in due]
    done = [took for at, took in ms if begin <= at + took / MS < end]
    carried = [took for at, took in ms if at < begin <= at + took / MS]
    late = [took for at, took in ms if end <= at + took / MS < gives_up]
    waiting = [round((end - at) * MS) for at, took in ms if at + took / MS >= max(end, gives_up)]
    ages = [round((end - at) * MS) for at, took in ms if at + took / MS >= end]
    point = result(
        interval("warmup", (0, begin / 1e3), [MS], carried),
        interval("measure", (begin / 1e3, end / 1e3), done, ages),
        interval("drain", (end / 1e3, end / 1e3 + 1), late, waiting),
    )
    owed = point.outstanding["read"]
    truth = sorted([took for at, took in ms if at >= begin] + [took for at, took in ms if at < begin and at + took / MS >= end])
    summary = point.totals["read"].latency_ns
    assert summary is not None
    for name, percent in {"p50": 50, "p90": 90, "p99": 99}.items():
        true_ns = truth[max(1, -(-percent * len(truth) // 100)) - 1]
        assert owed.at_least[name] <= max(true_ns, getattr(summary, name)) * 1.002
        most = owed.at_most[name]
        assert not waiting or most is None or most >= true_ns * 0.998


def test_tables_have_rows_and_columns_for_lower_bounds() -> None:
    compared = compare([Side("ok", [healthy()]), Side("hung", [hung()])], figures=[("read", "p99")]).to_json()
    (row,) = csv.DictReader(comparison_table(compared).csv().decode().splitlines())
    assert (row["baseline_at_least"], row["at_least"]) == ("false", "true")
