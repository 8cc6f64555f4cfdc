"""Comparison of sides: matching, ratios with known truth, false alarms, power, marks, notes."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import exp, log, sqrt
from typing import Any

import pytest

from plimsoll import calibration
from plimsoll.analysis.comparison.comparison import Comparison, Side, compare
from plimsoll.analysis.comparison.ratio import holm, ratio, ratio_of_edges
from plimsoll.analysis.comparison.sides import NOT_SHOWN, OPEN, TOO_SHORT
from plimsoll.analysis.objective.judgement import parse_objective
from plimsoll.analysis.statistics.confidence import mean_interval
from plimsoll.engine.block import native
from plimsoll.measure import Job, measure
from plimsoll.own_cost import OwnCost
from plimsoll.result import Estimate, Flag, Result
from plimsoll.target import Target
from support.made_results import Load, Setting, failed, made

MS = 1_000_000
FAST, SLOW = (400, 700, 900, 1000), (200, 350, 450, 500)


def batches(random_: random.Random, mean: float, correlation: float) -> list[float]:
    """60 values of a first-order autoregression that scatter by 5 % of their mean."""
    value, values = random_.gauss(0, 1) / sqrt(1 - correlation**2), []
    for _ in range(60):
        values.append(mean * (1 + 0.05 * value))
        value = correlation * value + random_.gauss(0, 1)
    return values


def table(random_: random.Random, *, factor: float = 1.0, repeats: int = 1, correlation: float = 0.3, drift: float = 0.0) -> Comparison:
    """Twelve profiles on two sides, the second one ``factor`` times the first; every repeat is off by a share of its own (``drift``)."""
    sides = []
    for label, times in (("A", 1.0), ("B", factor)):
        results = []
        for profile in range(12):
            for repeat in range(1, repeats + 1):
                estimate = mean_interval(batches(random_, 1000 * times * (1 + random_.gauss(0, drift)), correlation))
                result = made(Load(estimate.value, MS), repeat=repeat, setting=Setting(workload=f"w{profile}", title=f"W{profile}"))
                results.append(replace(result, estimates={"all": {"iops": estimate}}))
        sides.append(Side(label, results))
    return compare(sides)


def steps(label: str, throughputs: Sequence[float], response: Callable[[int, float], float], workload: str = "oltp-db") -> Side:
    """Queue depths 1, 2, 4, …"""
    setting = Setting(workload=workload)
    return Side(label, [made(Load(x, response(2**index, x)), 2**index, setting=setting) for index, x in enumerate(throughputs)])


def littles_law(depth: int, throughput: float) -> float:
    return 1e9 * depth / throughput


def test_the_same_configuration_twice_raises_a_false_alarm_in_at_most_5_of_100_tables() -> None:
    # Offline, 2000 tables each of the first two kinds raised 4.0 and 3.9 %, 1500 of the third 2.7 %.
    random_ = random.Random(3)
    kinds = ((60, 0.0, 1, 0.0), (60, 0.3, 1, 0.0), (40, 0.7, 1, 0.0), (24, 0.3, 2, 0.01), (16, 0.3, 3, 0.01))
    alarms = 0
    for tables, correlation, repeats, drift in kinds:
        for _ in range(tables):
            compared = table(random_, correlation=correlation, repeats=repeats, drift=drift)
            alarms += any(row.verdict not in OPEN for row in compared.points)
    assert 1 <= alarms <= 10


@pytest.mark.parametrize(("repeats", "drift"), [(1, 0.0), (2, 0.01), (3, 0.01)])
def test_a_difference_of_a_tenth_is_found_nearly_always(repeats: int, drift: float) -> None:
    random_ = random.Random(7)
    faster = sum(row.verdict == "faster" for _ in range(10) for row in table(random_, factor=1.1, repeats=repeats, drift=drift).points)
    assert faster >= 0.95 * 10 * 12


def test_intervals_of_the_ratio_cover_the_true_one() -> None:
    random_ = random.Random(8)
    rows = [row for _ in range(40) for row in table(random_, factor=1.1).points]
    covered = sum(row.low is not None and row.high is not None and row.low <= 1.1 <= row.high for row in rows)
    # 480 intervals at 95 %: 456 expected, standard deviation 4.8.
    assert 441 <= covered <= 473


@dataclass
class Nowhere:
    """A sink that keeps nothing."""

    def interval(self, interval: dict[str, Any]) -> None: ...

    def monitor(self, sample: dict[str, Any]) -> None: ...


def queued(service: str, depth: int, seed: int) -> Result:
    """Twenty seconds of a modelled server with exponential service, in virtual time, by the engine itself."""
    engine = native()
    workload = engine.check_workload({"name": "queued", "stream": [{"name": "main", "queue_depth": depth}]}, "queued.toml")
    options = engine.check_job({"duration": "20s", "warmup": "1s", "seed": seed})
    job = Job("0001", workload, options, Target(f"queue:?service=exp:{service}"), {"target": {"kind": "queue"}})
    result = measure(job, engine, Nowhere(), engine.control())
    return replace(result, place={"experiment": "steps", "settings": {"queue_depth": depth}, "level": depth})


def test_a_modelled_server_differs_from_itself_in_no_table_and_from_a_faster_one_at_every_level(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibration, "load", lambda: OwnCost({"null": {"iops_per_core": 40e6, "stamp_ns": 20.0}}))
    seeds = iter(range(1, 1000))

    def verdicts(service: str) -> list[str]:
        sides = [Side(label, [queued(time, depth, next(seeds)) for depth in (1, 2, 4)]) for label, time in (("A", "1ms"), ("B", service))]
        return [row.verdict for row in compare(sides).points]

    tables = [verdicts("1ms") for _ in range(6)]
    # At most one alarm: two or more among six tables at 5 % happen in 3 of 100 cases, and these seeds are no such case.
    assert sum(not set(table) <= set(OPEN) for table in tables) <= 1
    assert verdicts("909us") == ["faster"] * 3


def interleaved(*, in_turn: bool) -> Comparison:
    """One run, four turns: the second side 2 % faster, within 0.2 % in every turn, while turns differ by 10 %."""
    turns = ((1000, 1021), (1100, 1121), (1040, 1062), (950, 968))
    sides = []
    for column, label in enumerate("AB"):
        results = []
        for number, values in enumerate(turns):
            place = 2 * number + column if in_turn else 4 * column + number
            result = made(Load(values[column], MS, spread=0.001), repeat=number + 1)
            results.append(replace(result, id=f"{place + 1:04d}-oltp-db"))
        sides.append(Side(label, results, run="runs/a"))
    return compare(sides)


def test_what_makes_whole_turns_faster_is_no_difference_between_sides_measured_in_turn() -> None:
    (row,) = (compared := interleaved(in_turn=True)).points
    assert row.verdict == "faster" and row.low is not None and row.low > 1.01
    assert any(note.startswith("The sides were measured in turn, and turns differed (IOPS)") for note in compared.notes)


def test_sides_measured_one_after_the_other_have_no_turns() -> None:
    (row,) = (compared := interleaved(in_turn=False)).points
    assert row.verdict == NOT_SHOWN and row.high is not None and row.high > 1.1
    assert not any("in turn" in note for note in compared.notes)


def test_the_ratio_is_that_of_the_values_with_the_interval_of_the_delta_method() -> None:
    found = ratio([Estimate(1210, 1197.9, 1222.1, 0)], [Estimate(1000, 990, 1010, 0)])
    assert found is not None and found.low is not None and found.high is not None
    # Both are ±1 %: on the logarithm ±0.01 · √2 together.
    assert (found.value, log(found.high) - log(1.21), log(1.21) - log(found.low)) == pytest.approx((1.21, 0.014143, 0.014143), rel=1e-3)


def test_holms_correction_is_that_of_the_textbook() -> None:
    # R: p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm") gives 0.03 0.06 0.06 0.02.
    assert holm([0.01, 0.04, None, 0.03, 0.005]) == pytest.approx([0.03, 0.06, None, 0.06, 0.02])
    assert holm([]) == []


def test_the_whole_table_is_one_family() -> None:
    # One point of 2 % apart with half-widths of 1.2 %: p = 0.018 alone, and no difference shown among twelve.
    def side(label: str, count: int, throughput: float) -> Side:
        names = [f"w{number}" for number in range(count)]
        loads = [throughput if number == 0 else 1000.0 for number in range(count)]
        return Side(label, [made(Load(x, MS, 0.012), setting=Setting(workload=name)) for name, x in zip(names, loads, strict=True)])

    assert compare([side("A", 1, 1000), side("B", 1, 1022)]).points[0].verdict == "faster"
    assert {row.verdict for row in compare([side("A", 12, 1000), side("B", 12, 1022)]).points} == {NOT_SHOWN}


def test_points_are_matched_by_workload_and_level_and_what_has_no_counterpart_is_counted() -> None:
    a = steps("A", [100, 190, 340], littles_law)
    b = steps("B", [120, 230, 400, 600], littles_law)
    compared = compare([a, b])
    assert [(row.point.level, round(row.ratio or 0, 3), row.verdict) for row in compared.points] == [
        (1, 1.2, "faster"),
        (2, 1.211, "faster"),
        (4, 1.176, "faster"),
    ]
    assert "1 point was measured only on B and is not compared." in compared.notes


def test_grid_points_are_matched_by_their_settings_whatever_the_target() -> None:
    def cell(target: str, size: int, x: float) -> Result:
        return made(Load(x, MS), setting=Setting(place={"experiment": "grid", "settings": {"block_size": size, "target": target}}))

    compared = compare([Side("A", [cell("a", 4096, 100), cell("a", 8192, 90)]), Side("B", [cell("b", 8192, 45), cell("b", 4096, 50)])])
    assert [(row.point.settings, row.ratio, row.verdict) for row in compared.points] == [
        ({"block_size": 4096}, pytest.approx(0.5), "slower"),
        ({"block_size": 8192}, pytest.approx(0.5), "slower"),
    ]


def test_targets_that_are_an_axis_of_the_grid_are_points_of_their_own() -> None:
    def cell(target: str, x: float) -> Result:
        return made(Load(x, MS), setting=Setting(place={"experiment": "grid", "settings": {"target": target}}))

    compared = compare([Side("A", [cell("file", 100), cell("raw", 200)]), Side("B", [cell("raw", 260), cell("file", 120)])])
    assert [row.ratio for row in compared.points] == [pytest.approx(1.2), pytest.approx(1.3)]


def test_open_loops_are_compared_by_latency_and_less_is_faster() -> None:
    def side(label: str, mean: float) -> Side:
        setting = Setting(options={"arrival": "open", "rate": 1000})
        return Side(label, [made(Load(1000, mean), setting=setting)])

    compared = compare([side("A", 4 * MS), side("B", 2 * MS)])
    assert [(row.op, row.metric, row.ratio, row.verdict, row.times_faster) for row in compared.points] == [
        ("all", "mean", pytest.approx(0.5), "faster", pytest.approx(2.0)),
        ("all", "p99", pytest.approx(0.5), "faster", pytest.approx(2.0)),
    ]


def test_figures_that_are_named_are_compared_instead() -> None:
    sides = [Side("A", [made(Load(1000, 4 * MS))]), Side("B", [made(Load(1000, 2 * MS))])]
    compared = compare(sides, figures=[("read", "p99"), ("write", "p99"), ("all", "bytes_per_s")])
    assert [(row.op, row.metric, row.verdict) for row in compared.points] == [("read", "p99", "faster"), ("all", "bytes_per_s", NOT_SHOWN)]


def test_several_sides_are_each_compared_with_the_first() -> None:
    sides = [Side(label, [made(Load(x, MS))]) for label, x in (("A", 1000), ("B", 1200), ("C", 800))]
    compared = compare(sides)
    assert (compared.baseline, [(row.side, row.ratio, row.verdict) for row in compared.points]) == (
        "A",
        [("B", pytest.approx(1.2), "faster"), ("C", pytest.approx(0.8), "slower")],
    )


def test_marks_are_compared_at_the_crossing_of_the_limit() -> None:
    # Open M/M/1 queues of 1000 and 1200 per second at different levels: at 5 ms they carry 800 and 1000.
    def side(label: str, capacity: float, rates: Sequence[float]) -> Side:
        return Side(label, [made(Load(rate, 1e9 / (capacity - rate), 0.01), rate) for rate in rates])

    sides = [side("A", 1000, [500, 780, 820]), side("B", 1200, [500, 900, 1050])]
    (row,) = compare(sides, objectives={"steps": parse_objective("mean <= 5ms")}).marks
    assert (row.ratio, row.verdict, row.objective) == (pytest.approx(1.25, rel=1e-6), "faster", "mean <= 5ms")
    assert row.low is not None and row.high is not None and 1.1 < row.low < 1.25 < row.high < 1.4
    assert row.values[0] is not None and row.values[0].iops == 780


def test_equal_lines_bisected_differently_have_marks_without_difference() -> None:
    def side(label: str, rates: Sequence[float]) -> Side:
        return Side(label, [made(Load(rate, 1e9 / (1000 - rate), 0.01), rate) for rate in rates])

    (row,) = compare([side("A", [100, 500, 900]), side("B", [100, 795, 805])], objectives={"": parse_objective("mean <= 5ms")}).marks
    # A's levels around the mark are so far apart that its interval is a factor of 2 wide: no time would make it narrower.
    assert (row.ratio, row.verdict, row.needed_s) == (pytest.approx(1.0), TOO_SHORT, None)
    assert row.note == "The levels around the marks are far apart: measure more between them."


def test_the_marks_of_two_runs_are_compared_whatever_their_experiments_are_called() -> None:
    def side(label: str, capacity: float) -> Side:
        setting = Setting(place={"experiment": f"ramp of {label}"})
        return Side(label, [made(Load(rate, 1e9 / (capacity - rate)), rate, setting=setting) for rate in (500, 780, 900)])

    (row,) = compare([side("A", 1000), side("B", 1050)], objectives={"ramp of A": parse_objective("mean <= 5ms")}).marks
    assert (row.experiment, row.ratio) == ("ramp of A", pytest.approx(850 / 800))


def test_marks_of_different_workloads_are_compared_when_the_workload_is_what_varies() -> None:
    sides = [Side(name, steps(name, throughputs, littles_law, workload=name).results) for name, throughputs in (("a", FAST), ("b", SLOW))]
    objectives = {"": parse_objective("mean <= 7ms")}
    assert compare(sides, objectives=objectives).marks == ()
    assert [row.verdict for row in compare(sides, ["workload"], objectives=objectives).marks] == ["slower"]


@pytest.mark.parametrize(
    ("limit", "note"),
    [
        ("1ms", "Neither held the objective at any level."),
        ("1s", "A and B failed at no level, so both marks are at least that."),
    ],
)
def test_marks_that_are_only_bounds_have_no_ratio_but_a_reason(limit: str, note: str) -> None:
    a, b = steps("A", [500, 600, 700], littles_law), steps("B", [200, 300, 400], littles_law)
    (row,) = compare([a, b], objectives={"": parse_objective(f"mean <= {limit}")}).marks
    # There was nothing to compare, which is not the same as having shown no difference.
    assert (row.ratio, row.verdict, row.note) == (None, None, note)
    assert row.to_json()["verdict"] is None


def test_ratios_of_lopsided_intervals_are_formed_edge_by_edge() -> None:
    found = ratio_of_edges(Estimate(1200, 1200, 1500), Estimate(1000, 900, 1000))
    assert found is not None
    # The lower edge has no error on either side; the upper one has both.
    assert (found.low, found.high) == (pytest.approx(1.2), pytest.approx(1.2 * exp(sqrt(log(1.25) ** 2 + log(1 / 0.9) ** 2))))
    assert ratio_of_edges(Estimate(0.0), Estimate(1.0)) is None


def test_a_figure_of_0_has_neither_ratio_nor_verdict() -> None:
    (row,) = compare([Side("A", [made(Load(100, MS), 1)]), Side("B", [made(Load(0.0, MS), 1)])]).points
    assert (row.ratio, row.verdict) == (None, None)


def test_an_interval_that_was_cut_off_at_0_is_not_taken_for_a_narrow_one() -> None:
    # Reaching 1.5 up and, before it was cut off, 1.5 down, the error is that of ±1.5, not of (2.5 − 0) / 2.
    found = ratio([Estimate(1.0, 0.0, 2.5)], [Estimate(1.0, 1.0, 1.0)])
    assert found is not None and found.high == pytest.approx(exp(1.5))


def test_notes_tell_what_the_table_cannot() -> None:
    flag = Flag("io_errors", "invalid", "3 requests failed.", "Look at the log.")
    a = Side("A", [replace(made(Load(100, MS), 1), flags=[flag], modelled=True), made(Load(200, MS, None), 2), made(Load(300, MS), 4)])
    b = Side("B", [made(Load(100, MS), 1), made(Load(200, MS, None), 2), failed(4)])
    assert compare([a, b]).notes == (
        "1 point of B failed and is not compared.",
        "Each point was measured once per side, so drift between runs is not covered. Use --repeat 3 --interleave.",
        "1 point flagged invalid (I/O errors): do not trust its figures or ratios.",
        "Modelled: these figures come from a model in virtual time, not from storage.",
        "1 figure has no interval, so no difference can be shown for it. Measure longer, or use --repeat.",
    )


def test_rounds_towards_a_steady_state_stand_for_it_by_their_last_five() -> None:
    def rounds(label: str, last: float) -> Side:
        place = {"experiment": "steady", "role": "round", "settings": {}, "level": None}
        loads = [9000.0, 8000.0, *[last * share for share in (0.99, 1.0, 1.01, 1.0, 1.0)]]
        return Side(label, [made(Load(x, MS), repeat=number, setting=Setting(place=place)) for number, x in enumerate(loads, 1)])

    (row,) = compare([rounds("A", 1000), rounds("B", 1200)]).points
    assert (row.values[0].value, row.ratio, row.verdict) == (pytest.approx(1000), pytest.approx(1.2), "faster")


def by(label: str, used: str, asked: str = "auto") -> Side:
    """A side of two points that a way into the kernel carried."""
    results = [made(Load(1000, MS), depth) for depth in (1, 2)]
    return Side(label, [replace(result, engine={**result.engine, "backend": {"asked": asked, "used": used}}) for result in results])


def test_sides_that_auto_carried_in_different_ways_are_told() -> None:
    ring, calls = by("A", "uring"), by("B", "sync")
    told = [note for note in compare([ring, calls]).notes if "auto" in note]
    assert told == [
        "auto carried 2 points by io_uring on A and by system calls on B: part of the difference is that. "
        "Give both sides the same, with --set backend=sync or --set backend=uring."
    ]
    for other in (by("B", "uring"), by("B", "sync", asked="sync"), by("B", "array")):
        assert not any("auto" in note for note in compare([ring, other]).notes)


def test_the_json_form_holds_the_table_its_findings_and_its_notes() -> None:
    sides = [steps("A", [100, 190, 200], littles_law), steps("B", [120, 230, 260], littles_law)]
    written = json.loads(json.dumps(compare(sides, objectives={"": parse_objective("mean <= 18ms")}).to_json()))
    assert ([side["name"] for side in written["sides"]], written["baseline"], list(written)[2:]) == (
        ["A", "B"],
        "A",
        ["answer", "points", "marks", "findings", "notes", "derived"],
    )
    assert [side["modelled"] for side in written["sides"]] == [False, False]
    point = written["points"][0]
    expected = {"workload", "title", "group", "settings", "level", "metric", "op", "side", "ratio", "low", "high", "verdict", "p_adjusted"}
    assert expected | {"needed_s", "needed_repeats", "values", "interval", "experiment", "rate_not_achieved"} == set(point)
    assert (point["level"], point["verdict"], [value["value"] for value in point["values"]]) == (1, "faster", [100, 120])
    assert written["marks"][0]["values"][0]["level"] == 2


def test_a_side_alone_or_two_of_one_name_are_a_mistake_of_the_caller() -> None:
    with pytest.raises(ValueError, match="two sides"):
        compare([Side("A", [])])
    with pytest.raises(ValueError, match="labels"):
        compare([Side("A", []), Side("A", [])])


def test_a_run_is_compared_with_what_another_tool_measured_of_the_same_workload() -> None:
    # A point of a run stands in an experiment; one that was imported does not.
    imported = made(Load(100, 1e6))
    run = made(
        Load(200, 1e6), setting=Setting(place={"experiment": "run", "kind": "single", "settings": {}, "level": None, "role": "point"})
    )
    assert {row.point.workload for row in compare([Side("fio", [imported]), Side("run", [run])]).points} == {"oltp-db"}
