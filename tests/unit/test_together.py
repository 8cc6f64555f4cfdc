"""All operations together are those that were asked for: what merely comes with them is in no rate, mean, objective or precision."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from plimsoll.analysis.objective.judgement import judge, parse_objective
from plimsoll.analysis.point.definition import drawn_by_stream
from plimsoll.analysis.point.metric import metric
from plimsoll.analysis.point.observation import Observation
from plimsoll.analysis.point.offered_load import carried
from plimsoll.analysis.point.stopping_rule import Precision, Pursuit
from plimsoll.analysis.point.summary import Summary
from plimsoll.analysis.validity.conclusion import conclude
from plimsoll.measure import Job, unfinished
from plimsoll.reports.terminal.points import points
from plimsoll.reports.view.report import PointRecord, RunRecord, view
from plimsoll.result import Flag, Result
from plimsoll.target import Target
from support.scripted_engine import INTERVAL_NS, Script, interval

#: A stream that reads files: 1,000 reads of 2 ms each second, an opening of 10 ms and a closing of 1 µs with each.
READS = {"name": "reader", "operation": "read", "arrival": "poisson", "rate": 1000.0}
LATENCIES_NS = {"read": 2_000_000, "open": 10_000_000, "close": 1_000}


def intervals(stream: str = "reader", count: int = 20) -> list[dict[str, Any]]:
    made = []
    for index in range(count):
        parts = {
            op: interval(Script(warmup_intervals=0, ops=(op,), latencies_ns=(latency_ns,) * 100), index, [stream])
            for op, latency_ns in LATENCIES_NS.items()
        }
        for op in ("open", "close"):
            parts[op]["cells"][0]["bytes"] = 0
        cells = [cell for part in parts.values() for cell in part["cells"]]
        made.append({**parts["read"], "cells": cells, "summary": {op: part["summary"][op] for op, part in parts.items()}})
    return made


def measured(*streams: dict[str, Any]) -> Result:
    """A point of these streams, each of which completed the same operations."""
    definition = {"name": "readers", "stream": list(streams)}
    options = {"duration": 2, "warmup": 0}
    skeleton = replace(
        unfinished(Job("0001-readers", definition, options, Target("/tmp/x"), {"target": {}})), status="complete", error=None
    )
    drawn = drawn_by_stream(definition)
    summary, observation = Summary(drawn), Observation(drawn)
    for rows in zip(*(intervals(stream["name"]) for stream in streams), strict=True):
        one = {**rows[0], "cells": [cell for row in rows for cell in row["cells"]]}
        summary.add(one)
        observation.add(one)
    return conclude(skeleton, summary, observation)


def test_all_operations_are_those_that_were_drawn() -> None:
    result = measured(READS)
    found = result.estimates["all"]
    assert found["iops"].value == pytest.approx(1000)
    assert found["mean"].value == pytest.approx(2e6, rel=1e-3)
    assert found["p99"].value == found["max"].value == pytest.approx(2e6, rel=1e-2)
    assert found["bytes_per_s"].value == pytest.approx(1000 * 4096)
    assert {op: round(result.estimates[op]["iops"].value) for op in LATENCIES_NS} == dict.fromkeys(LATENCIES_NS, 1000)
    assert result.estimates["open"]["p50"].value == pytest.approx(10e6, rel=1e-2)


def test_results_without_estimates_say_the_same() -> None:
    result = replace(measured(READS), estimates={})
    assert [metric(result, "all", name).value for name in ("iops", "mean", "max")] == pytest.approx([1000, 2e6, 2e6], rel=1e-2)  # type: ignore[union-attr]


def test_an_operation_one_stream_draws_counts_for_that_stream_only() -> None:
    result = measured(READS, {"name": "opener", "operation": {"open": 50, "close": 50}})
    assert result.estimates["all"]["iops"].value == pytest.approx(1000 + 2000)
    assert result.estimates["open"]["iops"].value == pytest.approx(2000)


@pytest.mark.parametrize(
    ("text", "holds"), [("iops >= 1500", False), ("iops >= 990", True), ("p99 <= 5ms", True), ("open p99 <= 5ms", False)]
)
def test_an_objective_is_about_what_was_drawn_unless_it_names_more(text: str, holds: bool) -> None:
    assert judge(parse_objective(text), measured(READS)).holds is holds


def test_what_was_carried_of_a_rate_of_file_operations_has_an_interval() -> None:
    found = carried([measured(READS)])
    assert found is not None and found.value == pytest.approx(1.0) and found.low is not None


def test_precision_is_sought_of_what_was_drawn() -> None:
    # Reads never vary. Openings do, and the mean of everything would never be known within 1 %.
    pursuit = Pursuit(Precision(0.01, "all", "mean"), 100.0, drawn={"reader": frozenset(("read",))})
    for index, one in enumerate(intervals(count=60)):
        for cell in one["cells"]:
            slow = 1 + 50 * (index * 7 % 5) if cell["op"] == "open" else 1
            cell["latency_sum_ns"] = cell["count"] * LATENCIES_NS[cell["op"]] * slow
        pursuit.phase_of(one)
    assert pursuit.reached


def test_the_report_shows_the_rate_of_what_was_drawn() -> None:
    shown = view([RunRecord("r", "complete", {}, [PointRecord(measured(READS))])], lambda _: [])
    assert shown["points"][0]["together"]["iops"] == pytest.approx(1000)
    assert shown["verdict"]["highest_iops"]["value"] == pytest.approx(1000)


def test_the_report_says_how_long_was_measured_not_how_long_was_planned() -> None:
    result = measured(READS)
    shown = view(
        [RunRecord("r", "complete", {}, [PointRecord(replace(result, job=replace(result.job, duration_s=2_592_000.0)))])], lambda _: []
    )
    assert shown["points"][0]["measured_s"] == pytest.approx(20 * INTERVAL_NS / 1e9)


def test_the_row_of_a_point_has_the_rate_and_latencies_of_what_was_drawn() -> None:
    head, _, row = points([measured(READS)]).splitlines()
    assert "all IOPS" in head
    assert "2.00 ms" in row and "10.0 ms" not in row


def test_what_came_with_an_unfinished_operation_is_not_owed() -> None:
    drain = [{**one, "phase": "drain"} for one in intervals(count=1)]
    observation = Observation({"reader": frozenset(("read",))})
    observation.add(drain[0])
    assert (observation.late_count, observation.late_drawn_count) == (300, 100)


def test_a_percentile_known_by_operation_only_is_marked_as_a_bound() -> None:
    result = replace(measured({"name": "reader", "operation": {"read": 50, "open": 50}}), estimates={})
    assert "≤ 10.0 ms" in points([result])


def test_a_point_without_measured_requests_says_so() -> None:
    assert points([replace(measured(READS), totals={}, estimates={}, streams={})]).endswith("nothing measured")


def few(count: int, **changes: Any) -> dict[str, Flag]:
    """The flags of a fast point of ten intervals, all but one of whose ``count`` requests completed in the first."""
    rows = [
        interval(Script(warmup_intervals=0, latencies_ns=(1000,) * (count - 9 if not index else 1)), index, ["main"]) for index in range(10)
    ]
    skeleton = replace(measured(), totals={}, streams={}, flags=[], **changes)
    summary, observation = Summary(), Observation()
    for one in rows:
        summary.add(one)
        observation.add(one)
    return {flag.name: flag for flag in conclude(skeleton, summary, observation).flags}


def test_a_handful_of_requests_is_no_course_that_could_be_steady() -> None:
    assert "not_steady" not in few(99)
    assert "not_steady" in few(100)


def test_advice_for_more_samples_suits_what_ended_the_point() -> None:
    assert few(900)["few_samples"].advice == "Measure about 11.1 s."
    assert few(900, ended={"by": "amount", "how": ""})["few_samples"].advice == "Ask for a larger amount: 10,000 requests are needed."
