"""What is said of decision support and order entry is in the words of people who use databases: queries, transactions, databases."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from typing import Any

import pytest

from plimsoll.analysis.comparison.comparison import compare
from plimsoll.analysis.comparison.ratio import repeats_needed
from plimsoll.analysis.comparison.sides import Side
from plimsoll.analysis.load_line.mark import mark_of
from plimsoll.analysis.objective.judgement import applies_to, judge, parse_objective
from plimsoll.analysis.point.metric import ALL, load_noun, together
from plimsoll.analysis.point.observation import Observation
from plimsoll.analysis.point.transactions import upkeep
from plimsoll.analysis.price.headline import headlines
from plimsoll.analysis.price.per_unit import prices
from plimsoll.analysis.price.price import Price
from plimsoll.analysis.validity.course import interrupted
from plimsoll.analysis.validity.evidence import Evidence
from plimsoll.experiments.curve import Pace, curve
from plimsoll.experiments.sweep import steps
from plimsoll.reports import decision
from plimsoll.reports.answer import answer
from plimsoll.reports.live import LiveView
from plimsoll.reports.marks import RunQuestion
from plimsoll.reports.progress import PlainLines
from plimsoll.reports.terminal.findings import mark_text
from plimsoll.reports.terminal.orders import commits
from plimsoll.reports.terminal.points import operations, points
from plimsoll.result import Estimate, OpTotals
from support.made_drivers import entered, queried
from support.made_results import Load, made
from support.said import Plimsoll

S = 1_000_000_000


def test_the_95th_percentile_of_queries_is_of_all_of_a_level_together() -> None:
    """Of each query there are as many as streams; asked of each of them apart, p95 could never be known, and no level held."""
    levels = [queried("duckdb:/mnt/a", 0.01, test="throughput", streams=level, level=level) for level in (1, 2, 4)]
    # Of 22, 44 and 88 queries the slowest that count took 20, 40 and 80 times 0.01 s and more.
    judgement = judge(parse_objective("p95 <= 1s"), levels[0])
    assert (judgement.holds, judgement.settled, [clause.op for clause in judgement.clauses]) == (True, True, [ALL])
    mark = mark_of(levels, parse_objective("p95 <= 500ms"))
    assert mark is not None
    assert (mark.level, mark.next_level) == (2, 4)
    assert mark_of(levels, parse_objective("p95 <= 50ms")) is None


@pytest.mark.parametrize(("text", "streams"), [("p95 <= 10s", 1), ("mean <= 10s", 1), ("p99 <= 10s", 5)])
def test_a_percentile_of_a_list_of_queries_is_known_once_it_is_not_simply_the_slowest(text: str, streams: int) -> None:
    level = queried("duckdb:/mnt/a", 0.001, test="throughput", streams=streams)
    level = replace(level, estimates={ALL: {**level.estimates[ALL], "p99": level.estimates[ALL]["p95"]}})
    assert judge(parse_objective(text), level).holds
    if streams > 1:
        fewer = queried("duckdb:/mnt/a", 0.001, test="throughput", streams=streams - 1)
        judgement = judge(parse_objective(text), fewer)
        assert judgement.undecided
        assert "88 in" in str(judgement.failed_by) and "100 are needed; use more streams or a lower percentile" in str(judgement.failed_by)


@pytest.mark.parametrize(("text", "settled"), [("workflow mean <= 30s", True), ("sort mean <= 30s", True), ("read mean <= 30s", False)])
def test_what_workflows_took_is_a_fact_and_no_sample_while_their_reads_are_one(text: str, settled: bool) -> None:
    total = OpTotals(2, 0.1, 0, 0.0, 0, replace(queried("/mnt/a", 0.01).totals["q1"].latency_ns, mean=20e9), None)  # type: ignore[type-var]
    one = replace(flowing(2), status="complete", totals=dict.fromkeys(("read", "workflow", "sort"), total))
    judgement = judge(parse_objective(text), one)
    assert (judgement.holds, judgement.settled) == (settled, settled)
    if not settled:
        assert "2 in" in str(judgement.failed_by) and "30 are needed" in str(judgement.failed_by)


def test_refreshes_are_no_queries_of_the_rate() -> None:
    one = queried("duckdb:/mnt/a", 0.01)
    total = OpTotals(5, 5.0, 0, 0.0, 0, None, None)
    streams = {"power": {"rf1": total, "q1": total}, "stream 1": {"q2": total}, "refresh": {"rf1": total, "rf2": total}}
    assert len(together(replace(one, streams=streams))) == 2


def test_a_table_of_order_entry_has_new_orders_per_minute_and_no_reads_and_writes() -> None:
    results = [entered("sqlite:/mnt/a", 200.0)]
    heading, _, row = points(results).splitlines()
    assert "IOPS" not in heading and "MB/s" not in heading
    assert "new orders/min" in heading and "transactions/s" in heading
    # 45 % of 200 per second are new orders, 1 % of which are rolled back: 200 × 0.45 × 60 × 0.99.
    assert row.split()[2:4] == ["5,346", "200"]
    assert "MB/s" not in operations(results)


def under_way(stream: str, op: str) -> dict[str, Any]:
    return {"stream": stream, "op": op, "count": 1, "latency": ""}


def ended(number: int, stream: int, seconds: float) -> dict[str, Any]:
    return {"number": number, "phase": "power" if stream == 0 else "throughput", "stream": stream, "seconds": seconds}


def interval(**told: Any) -> Any:
    return {"index": 0, "phase": "measure", "start_ns": 0, "end_ns": S, "cells": [], "summary": {}, **told}


def skeleton(made: Any) -> Any:
    return replace(made, totals={}, estimates={}, engine={}, status="partial")


def test_progress_of_queries_says_how_many_are_done_and_which_came_last() -> None:
    stream = io.StringIO()
    progress = PlainLines(stream, lambda: 0.0)
    progress.begin(1, 2, skeleton(queried("duckdb:/mnt/a", 0.01)))
    done = [ended(14, 0, 0.04), ended(2, 0, 0.016)]
    progress.interval(interval(queries=done, outstanding=[under_way("power", "q9")]))
    # 22 alone and 22 for each of two streams.
    assert (
        stream.getvalue().splitlines()[1] == "[1/2] decision-support  measure  1.0 s  2 of 66 queries, last Q2 of the power test in 16 ms"
    )


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("NO_COLOR", "1")
    stream = io.StringIO()
    stream.isatty = lambda: True  # type: ignore[method-assign]
    return stream


def test_the_live_view_of_streams_says_what_each_of_them_is_at(terminal: io.StringIO) -> None:
    view = LiveView(terminal)
    view.begin(1, 1, skeleton(queried("duckdb:/mnt/a", 0.01, test="throughput")))
    waiting = [under_way("stream 1", "q18"), under_way("stream 2", "q14"), under_way("refresh", "rf2")]
    view.interval(interval(queries=[ended(21, 1, 1.48), ended(6, 2, 0.1)], outstanding=waiting))
    view.close()
    drawn = " ".join(terminal.getvalue().split())
    for part in ("stream 1 1 of 22 Q18 Q21 1.48 s", "stream 2 1 of 22 Q14 Q6 100 ms", "refresh RF2", "2 of 44 queries"):
        assert part in drawn, part
    assert " left" not in drawn and "IOPS" not in drawn


def test_the_live_view_of_order_entry_says_transactions_per_minute(terminal: io.StringIO) -> None:
    view = LiveView(terminal)
    view.begin(1, 1, skeleton(entered("sqlite:/mnt/a", 200.0)))
    entry = {"count": 90, "bytes": 0, "errors": 0, "mean_ns": 2e7, "p50_ns": 2 * 10**7, "p99_ns": 7 * 10**7, "max_ns": 10**8}
    view.interval(interval(summary={"new-order": entry, "payment": entry}))
    view.close()
    drawn = " ".join(terminal.getvalue().split())
    assert "new-order 5,400 20.0 ms 70.0 ms 100 ms" in drawn
    assert "IOPS" not in drawn and "MB/s" not in drawn


def flowing(workflows: int) -> Any:
    """A point of analytics that has just begun."""
    workload = {"driver": "analytics", "name": "sas-analytics", "stream": [{"name": "workflows", "workflows": workflows, "iterations": 2}]}
    return skeleton(
        replace(queried("/mnt/a", 0.01), job=replace(queried("/mnt/a", 0.01).job, definition=workload, workload="sas-analytics"))
    )


def test_workflows_are_spoken_of_in_megabytes_however_small_their_lookups_are() -> None:
    total = OpTotals(1000, 100.0, 8_192_000, 819_200.0, 0, None, None)
    assert load_noun([replace(flowing(2), totals={"read": total}, streams={"workflows": {"read": total}})]) == "MB/s"


def test_progress_of_workflows_says_how_many_have_ended_who_is_in_which_step_and_what_they_move() -> None:
    stream = io.StringIO()
    progress = PlainLines(stream, lambda: 0.0)
    progress.begin(1, 2, flowing(4))
    moved = {
        op: {"count": 9, "bytes": size, "errors": 0, "mean_ns": 1, "p50_ns": 1, "p99_ns": 1, "max_ns": 1}
        for op, size in (("read", 412_000_000), ("write", 98_000_000))
    }
    over = [{"number": 2, "status": "failed", "real_s": 0.5}]
    progress.interval(interval(workflows=over, steps={"1": "sort", "3": "data-step", "4": "sort"}, summary=moved))
    # Two iterations of four workflows.
    said = "1 of 8 workflows ended, 1 failed; data-step 1, sort 2; read 412 MB/s, write 98.0 MB/s"
    assert stream.getvalue().splitlines()[1] == f"[1/2] sas-analytics  measure  1.0 s  {said}"


def test_the_live_view_of_workflows_has_a_row_for_each(terminal: io.StringIO) -> None:
    view = LiveView(terminal)
    view.begin(1, 1, flowing(2))
    view.interval(interval(workflows=[{"number": 1, "status": "complete", "real_s": 1.5}], steps={"2": "index"}))
    view.close()
    drawn = " ".join(terminal.getvalue().split())
    for part in ("workflow 1 ended 1.50 s", "workflow 2 index", "1 of 4 workflows ended"):
        assert part in drawn, part
    assert "IOPS" not in drawn


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("decision-support", "-t", "duckdb:./db", "--scale", "1"), "a database of scale 1 is loaded (about 1,011 MiB of text)"),
        (("order-entry", "-t", "sqlite:./db", "--set", "warehouses=3"), "a database of 3 warehouses is filled"),
    ],
)
def test_a_dry_run_says_what_database_is_made(plimsoll: Plimsoll, tmp_path: Any, words: tuple[str, ...], said: str) -> None:
    pytest.importorskip("duckdb", reason="skipped: DuckDB is not installed")
    shown = plimsoll("run", *words, "--dry-run")
    assert shown.code == 0, shown.err
    assert said in shown.text and "removed afterwards" in shown.text
    assert "trees of files" not in shown.text and "24 h" not in shown.text


def test_the_price_of_a_composite_is_that_of_the_reported_run() -> None:
    quick, slow = queried("duckdb:/mnt/a", 0.01), queried("duckdb:/mnt/a", 0.02, repeat=2)
    document = decision.document([quick, slow], {"duckdb:/mnt/a": Price(1000.0, "EUR")})
    metrics = document["metrics"]
    assert metrics["composite"] == min(run["composite"] for run in document["sides"][0]["runs"])
    assert metrics["price_per_composite"] == pytest.approx(1000.0 / metrics["composite"])
    assert decision.document([quick], {})["metrics"]["price_per_composite"] is None


def test_the_conclusion_of_streams_speaks_of_queries_per_hour() -> None:
    levels = [queried("duckdb:/mnt/a", 0.01, test="throughput", streams=level, level=level) for level in (1, 2, 4)]
    plan = steps("streams", (1, 2, 4))
    next(plan)
    with pytest.raises(StopIteration) as ended:
        for level in levels:
            plan.send(level)
    (sentence,) = ended.value.value.sentences
    # 22 queries of 1 to 22 times 0.01 s each, four streams beside each other four times as slow: 22 / 2.53 s × 3600.
    assert sentence.startswith("The highest throughput was 31,304 queries per hour at streams ")
    assert "IOPS" not in sentence


def test_the_mark_of_streams_is_in_queries_per_hour_and_of_terminals_in_transactions() -> None:
    mark = mark_of([queried("duckdb:/mnt/a", 0.01, test="throughput", streams=1, level=1)], parse_objective("p95 <= 1s"))
    assert mark is not None
    assert mark_text(mark, "streams", "queries per hour") == "31,304 queries per hour, at streams 1"
    assert mark_text(replace(mark, iops=400.0), "terminals", "transactions/s") == "400 transactions/s, at terminals 1"


def test_the_price_of_a_mark_of_streams_is_per_query_an_hour() -> None:
    levels = [replace(queried("duckdb:/mnt/a", 0.01, test="throughput", streams=level, level=level)) for level in (1, 2)]
    bare = [replace(level, engine={**level.engine, "headline": None}) for level in levels]
    (found,) = headlines(Side("a", bare), {"": parse_objective("p95 <= 1s")})
    assert (found.unit, round(found.value or 0)) == ("queries per hour", 31304)


def test_streams_that_were_stopped_are_told_of_together_and_not_query_by_query() -> None:
    one = queried("duckdb:/mnt/a", 0.01, test="throughput", streams=3)
    stopped = replace(one, status="interrupted", engine={})
    sentence = answer([stopped]).sentence
    # 22 queries of each of three streams in 3 × 2.53 s; their slowest took 0.66 s, their mean is a third of a second.
    assert sentence.startswith(
        "duckdb:/mnt/a does 31,304 queries per hour of Decision support with 3 streams: mean latency 345 ms, p95 630 ms"
    )
    assert [card.label for card in answer([stopped]).cards] == ["Rate", "Latency"]
    (flag,) = interrupted(Evidence(stopped, Observation()))
    assert "before every query was asked" in flag.message and "86,400" not in flag.message


def test_the_mark_of_terminals_says_new_orders_per_minute() -> None:
    levels = [entered("sqlite:/mnt/a", 100.0 * level, terminals=level, level=level) for level in (1, 2)]
    definition = {"name": "steps", "objective": "p90 of new-order <= 100ms", "over": [{"option": "terminals", "levels": [1, 2]}]}
    sentence = answer(levels, RunQuestion(experiments=[definition])).sentence
    # 45 % of 200 transactions per second are new orders, 1 % of which are rolled back.
    assert "carries at least 5,346 new orders per minute, 200 transactions/s within 'new-order p90 <= 100ms'" in sentence


@pytest.mark.parametrize(
    ("workload", "objective", "said"),
    [
        ("random-read-4k", "p95 of q9 <= 1s", "is about asks q9, but no stream of random-read-4k asks q9; name read."),
        ("random-read-4k", "p95 of send <= 1s", "is about does send, but no stream of random-read-4k does send; name read."),
        ("decision-support", "p95 of new-order <= 1s", "no stream of decision-support enters new orders; name q1, q2, "),
    ],
)
def test_an_objective_on_an_operation_of_another_driver_is_one_sentence(workload: str, objective: str, said: str) -> None:
    """It was a mistake in Plimsoll for every query and every task of mail."""
    document = {"random-read-4k": made(Load(1.0, 1.0)), "decision-support": queried("duckdb:/mnt/a", 0.01)}[workload].job.definition
    assert said in str(applies_to(parse_objective(objective), {**document, "name": workload}))


@pytest.mark.parametrize("objective", ["p95 of q9 <= 1s", "max of rf1 <= 1s", "p95 <= 1s"])
def test_an_objective_names_a_query_or_a_refresh_or_none(objective: str) -> None:
    assert applies_to(parse_objective(objective), queried("duckdb:/mnt/a", 0.01).job.definition) is None


def test_a_curve_of_order_entry_offers_new_orders() -> None:
    plan = curve(percents=(50.0,), pace=Pace(maximum=200.0))
    next(plan)
    with pytest.raises(StopIteration) as ended:
        plan.send(entered("sqlite:/mnt/a", 200.0, level=1))
    # 45 % of 200 transactions per second are new orders: 90 where 100 were offered.
    assert ended.value.value.sentences[:2] == (
        "The maximum was given: 200 new orders/s.",
        "Only 90.0 % of 100 new orders/s (50 % of the maximum) was completed.",
    )


def streams_of(target: str, *seconds: float) -> list[Any]:
    """Levels of 1, 2 and 4 streams, each once for every time that a query takes."""
    return [
        queried(target, each, test="throughput", streams=level, level=level, repeat=repeat)
        for level in (1, 2, 4)
        for repeat, each in enumerate(seconds, 1)
    ]


def test_streams_that_ended_by_themselves_are_told_to_repeat_and_never_to_measure_longer() -> None:
    """Each stream asks its 22 queries and ends: no duration makes it ask more."""
    objective = parse_objective("p95 <= 500ms")
    once = mark_of(streams_of("duckdb:/mnt/a", 0.01), objective)
    assert once is not None and once.interval is None
    assert once.notes == ("No interval is known for the mark: what was done once has none. Repeat the levels (--repeat 3).",)
    thrice = mark_of(streams_of("duckdb:/mnt/a", 0.0099, 0.01, 0.0101), objective)
    assert thrice is not None and thrice.interval is not None
    sides = [Side("A", streams_of("duckdb:/mnt/a", 0.01)), Side("B", streams_of("duckdb:/mnt/b", 0.0095))]
    compared = compare(sides, objectives={"": objective})
    assert {(row.verdict, row.needed_s, row.needed_repeats) for row in compared.points} == {("too short to tell", None, 3)}
    assert compared.to_json()["points"][0]["needed_repeats"] == 3
    said = " ".join([compared.answer(), *compared.findings(), *compared.notes])
    assert "3 figures have no interval, so no difference can be shown for them. Use --repeat 3." in compared.notes
    assert "onger" not in said


def test_repeats_that_told_too_little_are_followed_by_how_many_would() -> None:
    sides = [Side("A", streams_of("duckdb:/mnt/a", 0.005, 0.01, 0.02)), Side("B", streams_of("duckdb:/mnt/b", 0.004, 0.009, 0.016))]
    row = compare(sides).points[0]
    # Wide scatter, and sides 0.84 apart: more than twice the three repeats, and far fewer than anybody would not do.
    assert row.needed_s is None and row.needed_repeats is not None and 6 < row.needed_repeats < 1000
    assert repeats_needed(3, None) == 6 and repeats_needed(1, None) == 3 and repeats_needed(3, 4.1) == 13


def test_terminals_that_work_for_as_long_as_asked_are_told_how_long_would_tell() -> None:
    def noisy(target: str, per_s: float) -> Any:
        one = entered(target, per_s)
        return replace(one, estimates={ALL: {**one.estimates[ALL], "iops": Estimate(per_s, per_s * 0.4, per_s * 1.6, 5)}})

    (row,) = compare([Side("A", [noisy("sqlite:/mnt/a", 200.0)]), Side("B", [noisy("sqlite:/mnt/b", 150.0)])]).points
    assert row.needed_s is not None and row.needed_repeats is None


def test_a_price_is_per_one_of_what_was_carried() -> None:
    found = prices([Side("a", [entered("sqlite:/mnt/a", 200.0)])], {"a": Price(1000.0, "USD")}, {})
    assert found.findings() == ["a costs 5.00 USD per transaction/s."]
    level = queried("duckdb:/mnt/a", 0.01, test="throughput", streams=1, level=1)
    found = prices([Side("a", [replace(level, engine={**level.engine, "headline": None})])], {"a": Price(31304.0)}, {})
    assert found.findings() == ["a costs 1.00 per query per hour."]


def test_a_run_of_order_entry_says_what_was_committed_and_what_the_engine_did_for_it() -> None:
    """Commits, log, flushes, checkpoints and vacuums stood in JSON alone."""
    heading, _, row, banner = commits([entered("sqlite:/mnt/a", 200.0)]).splitlines()
    assert re.split("  +", heading) == [
        "target", "terminals", "commits", "rolled back", "tried again", "log", "made durable", "p99", "checkpoints", "vacuums",
        "limited by", "data",
    ]  # fmt: skip
    # 200 per second for 10 s; what `entered` says of the log.
    assert re.split("  +", row.strip()) == [
        "sqlite:/mnt/a", "8", "2,000", "9", "3", "76.29 MiB", "3.10 ms", "9.00 ms", "2", "–", "storage 70%", "consistent",
    ]  # fmt: skip
    assert banner == "Derived from TPC-C, not comparable with published TPC-C results."
    assert commits([made(Load(1.0, 1e6))]) == ""


def test_checkpoints_of_postgresql_are_those_that_were_due_and_those_that_were_asked_for() -> None:
    assert upkeep({"counters": {"checkpoints_timed": 1.0, "checkpoints_requested": 2.0, "autovacuums": 3.0}}) == {
        "checkpoints": 3,
        "vacuums": 3,
    }
    assert upkeep({"counters": {}}) == {"checkpoints": None, "vacuums": None}
