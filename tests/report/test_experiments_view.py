"""What the report computes anew from the points of experiments, against values worked out from the made-up arrays."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from plimsoll.analysis.comparison.comparison import Comparison
from plimsoll.reports.view.report import PointRecord, RunRecord, Shown, view
from plimsoll.result import Result
from report.planned import (
    DEPTHS,
    PLAIN,
    PUBLISHED,
    Planned,
    Run,
    carried,
    curve,
    matrix,
    ramp,
    scaling,
    single,
    steady,
    steps,
    write_planned,
)
from report.synthetic import plain_distribution


def record(folder: Path) -> RunRecord:
    """A run as the store gives it, without its intervals."""
    results = [json.loads((point / "result.json").read_text()) for point in sorted((folder / "points").iterdir())]
    meta = json.loads((folder / "run.json").read_text())
    return RunRecord(
        meta["label"] or folder.name, meta["status"], meta, [PointRecord(Result.from_json(result, "test")) for result in results]
    )


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """Runs by what was asked for: several tests look at the same one, and writing it takes longer than looking."""
    return tmp_path_factory.mktemp("stored"), {}


@pytest.fixture
def shown(stored):
    folder, known = stored

    def make(*experiments: Planned, run: Run = PLAIN):
        # What is asked for is plain data, so its text tells it apart.
        name = repr((experiments, run))
        if name not in known:
            known[name] = record(write_planned(folder / str(len(known)), experiments, run))
        return view([known[name]], plain_distribution)

    return make


def test_configurations_are_those_of_the_experiment_and_levels_make_no_others(shown):
    report = shown(steps(["oltp-db"], repeat=1))
    assert [(item["label"], item["target"]) for item in report["configurations"]] == [("10K SAS", "/dev/sdb"), ("15K SAS", "/dev/sdb")]


def test_a_load_line_has_one_point_per_level_with_its_repeats_pooled(shown):
    (experiment,) = shown(steps(["oltp-db"], repeat=3))["experiments"]
    first = experiment["subjects"][0]
    (whole,) = [line for line in first["lines"] if (line["op"], line["metric"]) == ("all", "mean")]
    assert [point["level"] for point in whole["points"]] == list(DEPTHS)
    assert [len(point["points"]) for point in whole["points"]] == [3] * len(DEPTHS)
    # Noise of 0.8 % per repeat: the mean of three lies within 3 % of the made-up array's rate.
    for point in whole["points"]:
        assert point["iops"]["value"] == pytest.approx(carried(5200, point["level"])[0], rel=0.03)
        assert point["iops"]["low"] < point["iops"]["value"] < point["iops"]["high"]


def test_the_responses_of_the_objective_come_first_and_know_their_limit(shown):
    (experiment,) = shown(steps(["oltp-db"], repeat=1))["experiments"]
    lines = experiment["subjects"][0]["lines"]
    assert [(line["op"], line["metric"], line["limit_ns"]) for line in lines[:3]] == [
        ("read", "mean", 8e6),
        ("write", "mean", 8e6),
        ("all", "mean", None),
    ]


def test_marks_are_computed_anew_from_the_points(shown):
    (experiment,) = shown(ramp())["experiments"]
    marks = {subject["configuration"]: subject["mark"] for subject in experiment["subjects"]}
    for configuration, mark in marks.items():
        points = experiment["subjects"][configuration]["lines"][0]["points"]
        held = [point["level"] for point in points if point["verdict"]["holds"]]
        assert mark["level"] == max(held)
        assert mark["next_level"] == min(point["level"] for point in points if not point["verdict"]["holds"])
        assert mark["failed_by"].startswith("read mean")
        assert mark["interval"][0] <= mark["iops"] <= mark["interval"][1]


def test_a_level_with_a_repeat_that_failed_is_shown_as_failed_as_it_is_for_the_mark(tmp_path):
    run = record(write_planned(tmp_path / "run", [steps(["oltp-db"], repeat=3)], PLAIN))
    first = run.points[0].result
    broken = replace(first, status="failed", error="device gone.", totals={}, estimates={})
    points = [PointRecord(broken if point.result is first else point.result) for point in run.points]
    (experiment,) = view([replace(run, points=points)], plain_distribution)["experiments"]
    subject = experiment["subjects"][0]
    verdicts = {point["level"]: point["verdict"]["holds"] for point in subject["lines"][0]["points"]}
    assert verdicts[first.place["level"]] is False and verdicts[DEPTHS[1]] is True
    assert subject["mark"] is None, "the lowest level failed"


def test_points_carry_the_verdict_of_their_objective(shown):
    report = shown(ramp())
    verdicts = {(point["configuration"], point["place"]["level"]): point["verdict"] for point in report["points"]}
    assert verdicts[0, 1] == {"objective": "read mean <= 20ms and write mean <= 20ms", "holds": True, "settled": True, "failed_by": None}
    assert verdicts[0, 128]["failed_by"] == "read mean <= 20ms"


def test_the_sentences_of_conclusions_stand_with_their_subject(shown):
    (experiment,) = shown(ramp())["experiments"]
    assert [subject["sentences"][0].split(" held")[0] for subject in experiment["subjects"]] == ["10K SAS", "15K SAS"]


def test_the_point_for_the_maximum_is_no_part_of_the_line(shown):
    (experiment,) = shown(curve())["experiments"]
    (subject,) = experiment["subjects"]
    assert [point["level"] for point in subject["lines"][0]["points"]] == [10, 50, 70, 80, 90, 100]
    assert len(subject["points"]) == 7
    assert experiment["axis"] == "percent of the maximum"
    assert subject["lines"][0]["points"][0]["offered_per_s"] == pytest.approx(900)


def test_scaling_has_efficiency_and_a_fit_that_finds_the_law(shown):
    (experiment,) = shown(scaling())["experiments"]
    found = experiment["subjects"][0]["scaling"]
    assert [point["workers"] for point in found["points"]] == list(DEPTHS)
    assert (found["points"][0]["speedup"], found["points"][0]["efficiency"]) == (1.0, 1.0)
    # The array was made up with σ = 0.04 and κ = 0.0006, which peak at √(0.96/0.0006) = 40 workers.
    assert found["fit"]["contention"]["value"] == pytest.approx(0.04, rel=0.35)
    assert found["fit"]["peak"]["workers"] == pytest.approx(40, rel=0.15)
    assert all(low <= middle <= high for _, middle, low, high in found["fit"]["curve"])


def test_a_matrix_has_a_cell_per_combination_in_the_order_measured(shown):
    (experiment,) = shown(matrix(["oltp-db"]))["experiments"]
    cells = experiment["subjects"][0]["cells"]
    assert [tuple(cell["settings"].values()) for cell in cells[:5]] == [
        ("2GiB", "8KiB"),
        ("2GiB", "16KiB"),
        ("2GiB", "32KiB"),
        ("2GiB", "64KiB"),
        ("4GiB", "8KiB"),
    ]
    assert cells[0]["values"]["iops"]["value"] == pytest.approx(carried(6000 / (1 + 8192 / 24576), 16)[0])


def test_a_cell_whose_point_failed_has_no_value(shown):
    (experiment,) = shown(matrix(["oltp-db"]), run=Run(broken=(2,)))["experiments"]
    assert set(experiment["subjects"][0]["cells"][1]["values"].values()) == {None}


def test_rounds_show_the_first_window_that_was_steady(shown):
    settled, restless = shown(steady(), steady(attained=False))["experiments"]
    found = settled["subjects"][0]["steady"]
    assert (found["attained"], found["window"]["last"] - found["window"]["first"]) == (True, 4)
    assert found["window"]["range"] <= 0.2
    assert abs(found["window"]["rise"]) <= 0.1
    never = restless["subjects"][0]["steady"]
    assert (never["attained"], len(never["rounds"]), never["window"]["last"]) == (False, 25, 25)


def test_a_failed_round_breaks_the_window(shown):
    (experiment,) = shown(steady(), run=Run(broken=(7,)))["experiments"]
    found = experiment["subjects"][0]["steady"]
    assert [item["round"] for item in found["rounds"]] == [1, 2, 3, 4, 5, 6, 8, 9]
    assert (found["attained"], found["window"]) == (False, None)


def test_bars_are_taken_at_one_setting_at_a_time(shown):
    report = shown(single(["oltp-db"]), steps(["oltp-db"], repeat=1))
    assert [item["settings"] for item in report["slices"]] == [{}, *({"queue_depth": depth} for depth in DEPTHS)]
    (cell, _) = report["slices"][1]["groups"][0]["profiles"][0]["cells"]
    assert cell["all"]["iops"]["n"] == 1
    assert report["groups"] == report["slices"][-1]["groups"]


@pytest.mark.parametrize(
    "planned", [ramp(), curve(), scaling(), matrix(["oltp-db"]), steady()], ids=lambda planned: planned.definition["kind"]
)
def test_points_that_are_drawn_otherwise_have_no_bars(shown, planned):
    report = shown(single(["oltp-db"]), planned)
    assert [item["settings"] for item in report["slices"]] == [{}]
    assert [profile["workload"] for profile in report["slices"][0]["groups"][0]["profiles"]] == ["oltp-db"]


def test_a_single_measurement_has_its_interval_as_error_bar(shown):
    report = shown(single(["oltp-db"]))
    (cell, _) = report["groups"][0]["profiles"][0]["cells"]
    whole = cell["all"]["iops"]
    assert whole["interval"] == (pytest.approx(0.98 * whole["mean"]), pytest.approx(1.02 * whole["mean"]))


def test_two_experiments_on_one_workload_are_no_repeats_of_each_other(shown):
    again = single(["oltp-db"])
    report = shown(again, replace(again, definition={**again.definition, "name": "again"}))
    assert [(item["settings"], item["layer"]) for item in report["slices"]] == [({}, 0), ({}, 1)]


def test_published_figures_stand_beside_what_was_measured_alike(shown):
    report = shown(matrix(["oltp-db"]), steps(["exchange-server"], repeat=1), run=Run(suite=PUBLISHED))
    (source,) = report["published"]
    raid, drives, tape = source["rows"]
    by_place = {tuple(cell["settings"].values()): cell for cell in report["experiments"][0]["subjects"][0]["cells"]}
    assert raid["measured"]["value"] == by_place["2GiB", "8KiB"]["values"]["iops"]["value"]
    # The row names no queue depth: the highest rate of all of them stands beside it.
    assert drives["measured"]["value"] == pytest.approx(carried(5200 * 1.35, 64)[0], rel=0.05)
    assert report["configurations"][drives["configuration"]]["label"] == "15K SAS"
    assert (tape["measured"], tape["points"]) == (None, [])
    assert report["suite"]["title"] == "Generations, made up"


def test_configurations_of_one_run_are_compared_without_being_asked(shown):
    compared = shown(single(["oltp-db", "workstation"]))["comparison"]
    assert (compared["baseline"], [side["name"] for side in compared["sides"]]) == ("10K SAS", ["10K SAS", "15K SAS"])
    assert [row["ratio"] for row in compared["points"]] == [pytest.approx(1.35), pytest.approx(1.35)]
    assert {row["verdict"] for row in compared["points"]} == {"faster"}
    assert compared["findings"]


def test_what_may_not_be_compared_is_refused_with_the_reason(tmp_path):
    folder = write_planned(tmp_path / "run", [single(["oltp-db"])])
    path = sorted((folder / "points").iterdir())[1] / "result.json"
    result = json.loads(path.read_text())
    result["cache"]["state"] = "warm"
    path.write_text(json.dumps(result))
    compared = view([record(folder)], plain_distribution)["comparison"]
    assert (compared["points"], compared["findings"]) == ([], [])
    assert compared["notes"][0].startswith("Not compared: ")
    assert "cache" in compared["notes"][0]


def test_a_comparison_that_is_given_is_shown_as_it_is(tmp_path):
    given = Comparison(("a", "b"), (False, False), (), (), ("Measured elsewhere.",), (("/dev/sdb",), ("/dev/sdc",)))
    run = record(write_planned(tmp_path / "run", [single(["oltp-db"])]))
    assert view([run], plain_distribution, Shown(comparison=given))["comparison"] == given.to_json()


def test_a_run_that_was_killed_still_has_its_load_lines(tmp_path):
    folder = write_planned(tmp_path / "run", [ramp()])
    run = record(folder)
    meta = {key: value for key, value in run.meta.items() if key != "conclusions"}
    (experiment,) = view([replace(run, status="incomplete", meta=meta, points=run.points[:9])], plain_distribution)["experiments"]
    assert len(experiment["subjects"][0]["lines"][0]["points"]) == 9
    assert experiment["subjects"][0]["mark"] is not None


def test_an_objective_of_a_later_version_costs_the_objective_and_not_the_report(shown):
    planned = ramp()
    (experiment,) = shown(replace(planned, definition={**planned.definition, "objective": "serenity >= 9"}))["experiments"]
    assert experiment["objective"] is None
    assert experiment["subjects"][0]["mark"] is None
    assert experiment["subjects"][0]["lines"]


def test_the_same_experiment_in_two_runs_is_one_chart_with_a_line_each(tmp_path):
    only = steps(["oltp-db"], repeat=1)
    first, second = (
        record(
            write_planned(
                tmp_path / name, [replace(only, points=[p for p in only.points if p.configuration == "10K SAS"])], Run(label=name)
            )
        )
        for name in ("old", "new")
    )
    report = view([first, second], plain_distribution)
    (experiment,) = report["experiments"]
    assert [report["configurations"][subject["configuration"]]["label"] for subject in experiment["subjects"]] == ["old", "new"]


def test_the_kinds_of_the_experiments_are_called_as_they_are_declared(shown):
    found = shown(ramp(), steady())
    assert found["kinds"] == {"ramp": "ramp to the objective", "steady": "rounds to steady state"}


def test_a_kind_of_a_later_version_goes_by_its_name(tmp_path):
    made = record(write_planned(tmp_path / "later", [single()], PLAIN))
    made.points[:] = [PointRecord(replace(point.result, place={**point.result.place, "kind": "tide"})) for point in made.points]
    assert view([made], plain_distribution)["kinds"] == {"tide": "tide"}
