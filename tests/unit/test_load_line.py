"""The load line: grouping by level, pooling of repeats, what is left out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from plimsoll.analysis.load_line.line import load_line
from support.made_results import Load, Setting, failed, made


def test_points_stand_in_the_order_of_their_level_whatever_the_order_they_were_measured_in() -> None:
    line = load_line([made(Load(900, 4e6), 4), made(Load(300, 1e6), 1), made(Load(600, 2e6), 2)])
    assert [(point.level, point.iops.value, point.response.value) for point in line.points] == [(1, 300, 1e6), (2, 600, 2e6), (4, 900, 4e6)]


def test_repeats_of_a_level_are_one_point_with_the_interval_of_their_mean() -> None:
    line = load_line([made(Load(1000, 2.0e6, spread=0.1), 4, 1), made(Load(1020, 2.2e6, spread=0.1), 4, 2)])
    (point,) = line.points
    assert (point.iops.value, point.response.value, len(point.repeats)) == (1010, pytest.approx(2.1e6), 2)
    assert point.response.low is not None and point.response.high is not None
    # Two independent half-widths of 0.2 and 0.22 ms: sqrt(0.2² + 0.22²) / 2 = 0.149 ms.
    assert point.response.high - point.response.value == pytest.approx(0.1487e6, rel=1e-3)


def test_the_response_is_that_of_the_operation_and_metric_asked_for() -> None:
    results = [made(Load(1000, 2e6), 4)]
    assert load_line(results, op="read", metric="p99").points[0].response.value == pytest.approx(4.605 * 2e6)
    assert load_line(results, op="write").points == ()


def test_failed_points_and_points_of_other_roles_are_no_part_of_the_line() -> None:
    maximum = made(Load(5000, 9e6), 64, setting=Setting(place={"role": "maximum"}))
    line = load_line([made(Load(300, 1e6), 1), failed(2), maximum])
    assert [point.level for point in line.points] == [1]


def test_a_point_that_ended_early_counts_only_while_its_level_has_no_complete_one() -> None:
    early = replace(made(Load(200, 9e6), 1), status="interrupted")
    assert load_line([early]).points[0].iops.value == 200
    assert load_line([early, made(Load(300, 1e6), 1, 2)]).points[0].iops.value == 300


def test_points_without_level_are_told_apart_by_their_definition_and_placed_by_their_throughput() -> None:
    shallow, deep = Setting(options={"queue_depth": 1}), Setting(options={"queue_depth": 8})
    line = load_line(
        [
            made(Load(800, 4e6), setting=deep),
            made(Load(300, 1e6), repeat=1, setting=shallow),
            made(Load(310, 1e6), repeat=2, setting=shallow),
        ]
    )
    assert [(point.level, len(point.repeats)) for point in line.points] == [(305, 2), (800, 1)]


def test_the_line_of_nothing_is_empty() -> None:
    assert load_line([]).to_json() == {"op": "all", "metric": "mean", "points": []}


def test_the_json_form_holds_the_band() -> None:
    (point,) = load_line([made(Load(1000, 2e6, spread=0.1), 4)]).to_json()["points"]
    assert (point["level"], point["offered_per_s"], point["repeats"]) == (4, None, 1)
    assert (point["response"]["low"], point["response"]["high"]) == (pytest.approx(1.8e6), pytest.approx(2.2e6))
