"""Objectives: the text that people write, and whether a point kept it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from plimsoll.analysis.objective.judgement import applies_to, judge, parse_objective
from plimsoll.errors import InputError
from plimsoll.result import Estimate, Result
from support.made_results import Load, Setting, failed, made

MS = 1e6


def read_and_write(read_ms: float, write_ms: float, spread: float | None = 0.01) -> Result:
    """A point whose operations have means of their own."""
    reads, writes = (made(Load(1000, mean * MS, spread)) for mean in (read_ms, write_ms))
    estimates = {"read": reads.estimates["read"], "write": writes.estimates["read"]} if spread is not None else {}
    return replace(reads, totals={"read": reads.totals["read"], "write": writes.totals["read"]}, estimates=estimates)


def open_loop(rate: float, completed: float, spread: float | None = 0.01) -> Result:
    return made(Load(completed, MS, spread), setting=Setting(options={"arrival": "poisson", "rate": rate}))


@pytest.mark.parametrize(
    ("written", "canonical", "limits"),
    [
        ("read mean <= 20ms", "read mean <= 20ms", [20e6]),
        ("READ Mean<=0.02 s AND write mean<=20000us", "read mean <= 20ms and write mean <= 20ms", [20e6, 20e6]),
        ("p99.9 < 1500 µs, iops >= 5k", "p99.9 < 1.5ms and iops >= 5000", [1.5e6, 5000]),
        ("p999 < 0.1ms", "p99.9 < 100us", [100_000]),
        ("all p50 > 1μs", "all p50 > 1us", [1000]),
        ("max at most 0.5us", "max <= 500ns", [500]),
        ("mean below 1000ms", "mean < 1s", [1e9]),
        ("iops at least 1.5M/s", "iops >= 1500000", [1.5e6]),
        ("iops ≥ 10", "iops >= 10", [10]),
        ("bandwidth >= 200MB/s", "bandwidth >= 200MB/s", [200e6]),
        ("bandwidth >= 1024 KiB/s", "bandwidth >= 1MiB/s", [1 << 20]),
        ("write bandwidth above 0.5GiB", "write bandwidth > 512MiB/s", [1 << 29]),
        ("achieved >= 97 %", "achieved >= 97%", [97]),
        ("errors <= 0", "errors <= 0", [0]),
        ("p99 <= 5ms and p99 <= 5 ms", "p99 <= 5ms", [5e6]),
    ],
)
def test_an_objective_has_exact_limits_and_one_text(written: str, canonical: str, limits: list[float]) -> None:
    objective = parse_objective(written)
    assert str(objective) == objective.text == canonical
    assert [clause.limit for clause in objective.clauses] == limits
    assert parse_objective(canonical) == objective


@pytest.mark.parametrize(
    ("written", "sentence"),
    [
        ("raed mean <= 20ms", "objective 'raed mean <= 20ms': 'raed' is not an operation; did you mean 'read'?"),
        ("read mean <= 20ms and p98 <= 5ms", "clause 2: 'p98' is not a metric; did you mean 'p99'?"),
        (
            "colour <= 5ms",
            "'colour' is not a metric; write one of mean, p50, p90, p95, p99, p99.9, max, iops, bandwidth, achieved, errors or score",
        ),
        ("read <= 5ms", "'read' is an operation without a metric; write for example 'read mean <= 20ms'."),
        ("mean", "'mean' is not a condition; write METRIC RELATION LIMIT, for example 'read p99 <= 5ms'."),
        ("read write mean <= 3ms", "'read write mean' is too much before the relation"),
        ("<= 5ms", "no metric is named before the relation"),
        ("mean =< 3ms", "'=<' is not a relation; did you mean '<='?"),
        ("mean == 3ms", "'==' is not a relation; write one of <=, <, >= or >."),
        ("mean <= 20", "'20' has no unit; write 20ms, 500us or 1s (units are ns us ms s)."),
        ("mean <= 20min", "'20min' is not a time"),
        ("mean <= fast", "'fast' is not a limit; write 20ms, 500us or 1s."),
        ("mean <= 0ms", "the limit '0ms' can never decide anything"),
        ("mean <=", "the limit is missing"),
        ("iops >= 5G", "'5G' is not a number of requests per second; write 5000 or 5k."),
        ("bandwidth >= 5KB/s", "'5KB/s' is not a bandwidth; write 200MB/s or 200MiB/s"),
        ("achieved >= 0.97", "'0.97' is not a share of the offered rate; write 97%."),
        ("achieved >= 101%", "is not a share"),
        ("read achieved >= 97%", "'achieved' is the share of all offered requests; write it without 'read'."),
        ("errors <= 1.5", "'1.5' is not a number of failed requests"),
        ("p99 <= 5ms and", "clause 2: a condition is missing beside 'and'"),
        ("  ", "the objective is empty; write for example 'read p99 <= 5ms'."),
    ],
)
def test_a_wrong_objective_is_answered_in_one_sentence(written: str, sentence: str) -> None:
    with pytest.raises(InputError) as refusal:
        parse_objective(written)
    said = str(refusal.value)
    assert sentence in said
    assert said[-1] in ".?" and said[-2] not in ".?" and "\n" not in said


def test_a_latency_without_operation_is_asked_of_every_operation_that_occurred() -> None:
    judgement = judge(parse_objective("mean <= 20ms"), read_and_write(10, 25))
    assert not judgement.holds and judgement.settled
    assert judgement.failed_by == "write mean <= 20ms"
    assert [(item.op, item.holds) for item in judgement.clauses] == [("read", True), ("write", False)]
    assert judge(parse_objective("mean <= 26ms"), read_and_write(10, 25)).holds


def test_a_named_operation_alone_decides() -> None:
    assert judge(parse_objective("read mean <= 20ms"), read_and_write(10, 25)).holds


def test_what_failed_is_the_condition_furthest_beyond_its_limit() -> None:
    result = read_and_write(30, 25)
    assert judge(parse_objective("read mean <= 20ms and write mean <= 10ms"), result).failed_by == "write mean <= 10ms"
    assert judge(parse_objective("write mean <= 20ms and iops >= 20k"), result).failed_by == "iops >= 20000"


@pytest.mark.parametrize(
    ("mean_ms", "relation", "holds", "settled"),
    [
        # The interval is 1 % to each side; the limit is 20 ms.
        (19.7, "<=", True, True),
        (19.9, "<=", True, False),
        (20.0, "<=", True, False),
        (20.0, "<", False, False),
        (20.1, "<=", False, False),
        (20.3, "<=", False, True),
        (20.3, ">=", True, True),
        (20.1, ">", True, False),
    ],
)
def test_a_judgement_is_settled_when_the_interval_lies_on_one_side(mean_ms: float, relation: str, holds: bool, settled: bool) -> None:
    judgement = judge(parse_objective(f"mean {relation} 20ms"), made(Load(1000, mean_ms * MS)))
    assert (judgement.holds, judgement.settled) == (holds, settled)


def test_one_settled_failure_settles_the_whole() -> None:
    near_and_far = read_and_write(19.9, 40)
    assert judge(parse_objective("read mean <= 20ms and write mean <= 20ms"), near_and_far).settled
    assert not judge(parse_objective("read mean <= 20ms and write mean <= 50ms"), near_and_far).settled
    # Both fail, the reads by less than their interval.
    assert judge(parse_objective("read mean <= 19.8ms and write mean <= 20ms"), near_and_far).settled


def test_without_an_interval_only_maximum_and_errors_are_settled() -> None:
    result = made(Load(1000, 10 * MS, spread=None))
    assert not judge(parse_objective("mean <= 20ms"), result).settled
    # The slowest of them took 12 times the mean.
    assert judge(parse_objective("max <= 120ms and errors <= 0"), result).settled
    assert judge(parse_objective("max < 120ms"), result).failed_by == "read max < 120ms"


def test_repeats_of_a_point_are_pooled() -> None:
    repeats = [made(Load(1000, mean * MS), level=4, repeat=number) for number, mean in enumerate((19.5, 20.4, 19.5), start=1)]
    judgement = judge(parse_objective("mean <= 20ms"), repeats)
    assert judgement.holds and not judgement.settled
    estimate = judgement.clauses[0].estimate
    assert estimate is not None and estimate.value == pytest.approx(19.8 * MS)


def test_errors_of_repeats_add_up() -> None:
    bad = made(Load(1000, MS))
    bad = replace(bad, totals={"read": replace(bad.totals["read"], errors=2)})
    judgement = judge(parse_objective("errors <= 3"), [bad, bad])
    assert not judgement.holds and judgement.settled
    assert judgement.clauses[0].estimate == Estimate(4.0)
    assert judge(parse_objective("write errors <= 0"), bad).holds


def test_a_failed_point_never_holds_and_is_settled() -> None:
    judgement = judge(parse_objective("errors <= 5"), [made(Load(1000, MS), level=4), failed(4)])
    assert (judgement.holds, judgement.settled, judgement.clauses) == (False, True, ())
    assert judgement.failed_by == "the point failed: no space left on device"


def test_what_was_not_measured_does_not_hold_and_is_not_settled() -> None:
    judgement = judge(parse_objective("write mean <= 20ms"), made(Load(1000, MS)))
    assert (judgement.holds, judgement.settled) == (False, False)
    assert judgement.failed_by == "write mean <= 20ms (no write was measured)"
    assert judge(parse_objective("achieved >= 97%"), made(Load(1000, MS))).failed_by == "achieved >= 97% (no rate was offered)"


def test_a_judgement_needs_a_result() -> None:
    with pytest.raises(ValueError, match="no result"):
        judge(parse_objective("mean <= 20ms"), [])


def test_achieved_is_completed_over_offered_with_its_interval() -> None:
    judgement = judge(parse_objective("achieved >= 97%"), open_loop(1000, 960))
    assert judgement.failed_by == "achieved >= 97%"
    estimate = judgement.clauses[0].estimate
    assert estimate is not None
    assert (estimate.value, estimate.low, estimate.high) == pytest.approx((96.0, 95.04, 96.96))
    assert judgement.settled
    assert judge(parse_objective("achieved >= 97%"), open_loop(1000, 990)).holds


def test_achieved_counts_the_open_streams_only() -> None:
    mixed = open_loop(1000, 5000)
    definition = {**mixed.job.definition, "stream": [*mixed.job.definition["stream"], {"name": "closed"}]}
    half = replace(mixed.totals["read"], iops=980.0)
    streams = {"main": {"read": half}, "closed": {"read": replace(half, iops=4020.0)}}
    judgement = judge(parse_objective("achieved >= 97%"), replace(mixed, job=replace(mixed.job, definition=definition), streams=streams))
    assert judgement.holds and judgement.clauses[0].estimate == Estimate(98.0)


@pytest.mark.parametrize(
    ("objective", "stream", "sentence"),
    [
        ("read mean <= 20ms", {"read_percent": 70}, None),
        ("write mean <= 20ms", {"read_percent": 70}, None),
        ("read mean <= 20ms", {}, None),
        ("read mean <= 20ms", {"write_percent": 30}, None),
        (
            "read mean <= 20ms",
            {"read_percent": 0},
            "objective 'read mean <= 20ms' is about reads, but no stream of oltp reads; name write.",
        ),
        ("write mean <= 20ms", {}, "objective 'write mean <= 20ms' is about writes, but no stream of oltp writes; name read."),
        ("write mean <= 20ms", {"access": [{"size": 512, "read_percent": 100}]}, "objective 'write mean <= 20ms' is about writes"),
        ("write mean <= 20ms", {"access": [{"size": 512, "read_percent": 60}, {"size": 512}]}, None),
        ("trim mean <= 1ms", {"trim_percent": 5}, None),
        ("trim mean <= 1ms", {"read_percent": 5}, "no stream of oltp trims; name read or write."),
        ("flush p99 <= 1ms", {"flush_every": 8}, None),
        ("flush p99 <= 1ms", {"flush_percent": 1}, None),
        ("mean <= 1ms and iops >= 5", {"read_percent": 0}, None),
        ("achieved >= 97%", {"arrival": "poisson", "rate": 500}, None),
        ("achieved >= 97%", {}, "objective 'achieved >= 97%' compares with the offered rate, but no stream of oltp has one; give it one"),
    ],
)
def test_an_objective_that_can_never_hold_is_refused_beforehand(objective: str, stream: dict[str, Any], sentence: str | None) -> None:
    said = applies_to(parse_objective(objective), {"name": "oltp", "stream": [{"name": "data", **stream}]})
    assert said is None if sentence is None else said is not None and sentence in said


def test_a_rate_that_points_will_be_given_is_enough_for_achieved() -> None:
    closed = {"name": "oltp", "stream": [{"name": "data"}]}
    assert applies_to(parse_objective("achieved >= 97%"), closed, rated=True) is None
    assert applies_to(parse_objective("achieved >= 97% and write mean <= 1ms"), closed, rated=True) is not None
