"""The view model: order, configurations, repeats, flags, and numbers exactly as stored."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from plimsoll.reports.terminal.footnotes import footnotes
from plimsoll.reports.view.report import PointRecord, RunRecord, view
from plimsoll.result import Estimate, Result
from report.synthetic import PROFILES, Array, component, plain_distribution, write_run


def record(folder: Path) -> RunRecord:
    """A run as the store gives it, without its intervals."""
    results = [json.loads((point / "result.json").read_text()) for point in sorted((folder / "points").iterdir())]
    meta = json.loads((folder / "run.json").read_text())
    return RunRecord(
        meta["label"] or folder.name, meta["status"], meta, [PointRecord(Result.from_json(result, "test")) for result in results]
    )


@pytest.fixture
def run(tmp_path):
    def make(name="run", profiles=PROFILES, **options) -> RunRecord:
        return record(write_run(tmp_path / name, Array(name, seconds=5, **options), profiles))

    return make


def test_totals_are_exactly_those_stored(run):
    made = run()
    points = view([made], plain_distribution)["points"]
    stored = {point.result.id: point.result.to_json()["totals"] for point in made.points}
    assert {point["id"]: point["totals"] for point in points} == stored


def test_an_extreme_p99_says_when_it_is_a_lower_bound(run):
    made = run()
    slowest = view([made], plain_distribution)["verdict"]["highest_p99_ns"]
    assert slowest["at_least"] is False
    point = view([made], plain_distribution)["points"][slowest["point"]]
    at = next(index for index, one in enumerate(made.points) if one.result.id == point["id"])
    result = made.points[at].result
    estimates = {**result.estimates, slowest["op"]: {**result.estimates.get(slowest["op"], {})}}
    estimates[slowest["op"]]["p99"] = Estimate(slowest["value"], at_least=True)
    made.points[at] = PointRecord(replace(result, estimates=estimates))
    assert view([made], plain_distribution)["verdict"]["highest_p99_ns"]["at_least"] is True


def test_a_point_without_settings_is_shown_with_none(run):
    # The page goes through them.
    made = run()
    made.points[0] = PointRecord(replace(made.points[0].result, place={"experiment": "e", "kind": "single", "role": "point"}))
    assert next(point["place"]["settings"] for point in view([made], plain_distribution)["points"] if point["place"]) == {}


def test_points_of_one_workload_stand_together_whatever_run_they_came_from(run):
    points = view([run("a", repeats=2), run("b")], plain_distribution)["points"]
    assert [(point["workload"], point["configuration"], point["repeat"]) for point in points[:4]] == [
        ("media-streaming", 0, 1),
        ("media-streaming", 0, 2),
        ("media-streaming", 1, 1),
        ("sql-server-log", 0, 1),
    ]
    assert [point["index"] for point in points] == list(range(36))


@pytest.mark.parametrize(
    ("first", "second", "labels"),
    [
        ({}, {"target": "/dev/sdc"}, ["sdb", "sdc"]),
        ({}, {}, ["a", "b"]),
        ({"label": "old"}, {"label": "new", "target": "/dev/sdc"}, ["old", "new"]),
    ],
    ids=["targets differ", "runs differ", "the user named the runs"],
)
def test_configurations_are_named_by_what_distinguishes_them(run, first, second, labels):
    found = view([run("a", **first), run("b", **second)], plain_distribution)["configurations"]
    assert [configuration["label"] for configuration in found] == labels


def test_levels_of_one_run_are_configurations_of_their_own(run):
    made = run("steps", PROFILES[:1], repeats=2)
    deeper = [
        replace(point, result=replace(point.result, job=replace(point.result.job, queue_depth=depth, repeat=0)))
        for point, depth in zip(made.points, (1, 32), strict=True)
    ]
    found = view([replace(made, points=deeper)], plain_distribution)["configurations"]
    assert [configuration["label"] for configuration in found] == ["/dev/sdb · 1 × 1", "/dev/sdb · 1 × 32"]


def test_repeats_become_one_bar_with_its_extremes(run):
    made = run(repeats=3)
    (cell,) = next(profile for profile in view([made], plain_distribution)["groups"][1]["profiles"] if profile["workload"] == "oltp-db")[
        "cells"
    ]
    stored = [point.result.totals for point in made.points if point.result.job.workload == "oltp-db"]
    reads = [totals["read"].iops for totals in stored]
    assert cell["ops"]["read"]["iops"] == {"mean": pytest.approx(sum(reads) / 3), "min": min(reads), "max": max(reads), "n": 3}
    sums = [totals["read"].iops + totals["write"].iops for totals in stored]
    assert (cell["all"]["iops"]["min"], cell["all"]["iops"]["max"]) == (min(sums), max(sums))


def test_a_failed_point_keeps_its_sentence_and_has_no_bars(run):
    shown = view([run(broken=(("os-paging", "failed"),))], plain_distribution)
    (failed,) = [point for point in shown["points"] if point["status"] == "failed"]
    assert failed["error"].endswith("give a smaller size.")
    assert shown["verdict"]["status"] == {"complete": 11, "failed": 1}
    (profile,) = [profile for profile in shown["groups"][0]["profiles"] if profile["workload"] == "os-paging"]
    assert profile["cells"] == [{"points": [failed["index"]], "status": "failed", "ops": {}, "all": {"iops": None, "bytes_per_s": None}}]


def test_flags_are_listed_once_per_kind_the_worst_first(run):
    flags = (("oltp-db", "cpu-governor"), ("workstation", "cpu-governor"), ("oltp-db", "sparse-target"))
    shown = view([run(flags=flags)], plain_distribution)
    assert [(kind["severity"], kind["name"], len(kind["points"])) for kind in shown["flags"]] == [
        ("invalid", "sparse-target", 1),
        ("note", "cpu-governor", 2),
    ]
    assert shown["verdict"]["flagged"] == {"invalid": 1, "doubt": 0, "note": 2}
    assert shown["verdict"]["unflagged"] == 10


def test_modelled_points_are_counted_and_their_configuration_is_marked(run):
    shown = view([run("real"), run("model", modelled=True, target="queue:")], plain_distribution)
    assert shown["verdict"]["modelled"] == 12
    assert [configuration["modelled"] for configuration in shown["configurations"]] == [False, True]


def test_what_limited_a_modelled_point_and_what_failed_in_it_is_told_as_on_the_terminal(run):
    engine = {
        "components": [component("disk", 0.97), component("disk", 0.95), component("raid.cpu", 0.04)],
        "facts": {"incidents": "1.000 s: member 0 of group vd0 failed", "rebuild_s": "412.731"},
    }
    made = run(profiles=PROFILES[:1], modelled=True, engine=engine)
    (point,) = view([made], plain_distribution)["points"]
    assert point["limit"] == {"said": "limited by the disks", "busy": "2 × disk 96% busy (at most 97%), raid.cpu 4% busy"}
    assert point["incidents"] == (
        "1.000 s: member 0 of group vd0 failed (modelled, seconds from the beginning of the warm-up); the rebuild took 412.731 s"
    )
    told = footnotes([made.points[0].result])
    assert f"media-streaming: {point['limit']['said']}; {point['limit']['busy']}." in told
    assert f"media-streaming: {point['incidents']}." in told


def test_a_sentence_tells_what_limited_each_modelled_configuration(run):
    def limited(name: str) -> dict:
        return {"components": [component(name, 0.97, {"nand": "flash", "link": "link"}[name])]}

    runs = [
        run("real", PROFILES[:2]),
        run("alike", PROFILES[:2], modelled=True, target="array:nvme", engine=limited("nand")),
        run("once", PROFILES[:1], modelled=True, target="array:cache", engine=limited("link")),
    ]
    assert view(runs, plain_distribution)["verdict"]["limits"] == [
        "array:nvme (modelled): limited by the flash drive nand in all 2 measurements.",
        "array:cache (modelled): limited by the link (link arithmetic).",
    ]


def test_storage_has_no_limit_that_is_known(run):
    shown = view([run()], plain_distribution)
    assert (shown["verdict"]["limits"], {point["limit"] for point in shown["points"]}) == ([], {None})


def test_extremes_name_the_point_that_holds_them(run):
    shown = view([run()], plain_distribution)
    highest = shown["verdict"]["highest_iops"]
    assert shown["points"][highest["point"]]["workload"] == "web-server-log"
    assert highest["value"] == max(sum(total["iops"] for total in point["totals"].values()) for point in shown["points"])


def test_a_failed_point_holds_no_extreme(run):
    made = run()
    fastest = view([made], plain_distribution)["verdict"]["highest_iops"]
    named = view([made], plain_distribution)["points"][fastest["point"]]["id"]
    at = next(index for index, one in enumerate(made.points) if one.result.id == named)
    made.points[at] = PointRecord(replace(made.points[at].result, status="failed", error="wrong data was read: 1 lost."))
    shown = view([made], plain_distribution)
    for key in ("highest_iops", "highest_bytes_per_s", "lowest_p99_ns", "highest_p99_ns"):
        assert shown["points"][shown["verdict"][key]["point"]]["status"] == "complete", key
    assert shown["verdict"]["highest_iops"]["value"] < fastest["value"]


def test_a_run_without_points_is_a_report_without_points():
    shown = view([RunRecord("empty", "incomplete", {}, [])], plain_distribution)
    assert (shown["points"], shown["groups"], shown["verdict"]["highest_iops"]) == ([], [], None)
