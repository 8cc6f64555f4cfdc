"""Translations of ORION's command lines as they were reviewed; renew with ``PLIMSOLL_RENEW=1`` and look at the difference."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from plimsoll.engine.block import native
from plimsoll.experiments.document import read_experiments
from plimsoll.experiments.orion import grid
from plimsoll.experiments.schedule import settings_of
from plimsoll.formats.orion import recognises, translate, translate_command
from plimsoll.formats.orion.grid import Shape, announced_minutes, point_count, points
from plimsoll.formats.orion.read import split_line
from plimsoll.formats.place import Place
from plimsoll.formats.translation import Translation

FOLDER = Path(__file__).parent / "orion"
GOLDEN = FOLDER / "golden.json"
LINES = [line for line in (FOLDER / "commands.orion").read_text(encoding="utf-8").splitlines() if not line.startswith("#")]


def include(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


def translated(line: str) -> Translation:
    return translate_command(split_line(line, Place("command line")), "command line", include)


def shown(translation: Translation) -> dict[str, Any]:
    return {"document": translation.document, "remarks": [f"{item.kind}: {item.text}: {item.why}" for item in translation.remarks]}


def check(translation: Translation) -> int:
    """Reads the document as a run would and has the engine check every point; how many points there are."""
    suite = read_experiments(translation.document, translation.source)
    engine, count = native(), 0
    workloads = {workload["name"]: engine.check_workload(workload, translation.source) for workload in translation.document["workload"]}
    for experiment in suite.experiments:
        for settings in settings_of(experiment):
            count += 1
            workload, options = workloads[experiment.workloads[0]], engine.check_job({})
            for key, value in settings.items():
                if value != 0:
                    workload, options = engine.set_option(workload, options, key, value)
    return count


def test_there_are_forty_of_them() -> None:
    assert len(LINES) >= 40 and len(set(LINES)) == len(LINES)


@pytest.mark.parametrize("number", range(len(LINES)), ids=lambda number: LINES[number][:60])
def test_translation_is_the_one_reviewed(number: int) -> None:
    found = shown(translated(LINES[number]))
    if os.environ.get("PLIMSOLL_RENEW"):
        reviewed = json.loads(GOLDEN.read_text(encoding="utf-8")) if GOLDEN.exists() else {}
        kept = {line: item for line, item in reviewed.items() if line in LINES}
        GOLDEN.write_text(json.dumps({**kept, LINES[number]: found}, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    assert found == json.loads(GOLDEN.read_text(encoding="utf-8"))[LINES[number]]


@pytest.mark.parametrize("line", LINES, ids=lambda line: line[:60])
def test_what_can_be_run_is_taken_by_the_engine_and_the_rest_says_why(line: str) -> None:
    translation = translated(line)
    refusal = translation.refusal()
    if refusal is None:
        assert check(translation) > 0
    else:
        assert not translation.document["experiment"]
        assert refusal.startswith("command line: ") and "\n" not in refusal


@pytest.mark.parametrize("line", LINES, ids=lambda line: line[:60])
def test_every_option_has_one_verdict(line: str) -> None:
    translation = translated(line)
    typed = [word for word in split_line(line, Place("x")) if word.startswith("-")]
    verdicts = [item.text.split(" ")[0] for item in translation.remarks if item.kind != "surprise" and item.text.startswith("-")]
    assert sorted(verdict for verdict in verdicts if verdict in typed) == sorted(typed)
    assert all(item.why for item in translation.remarks if item.kind != "native")


@pytest.mark.parametrize(
    ("run", "disks", "count", "minutes"),
    # The reference: 7d + 1, (5d + 1)(2d + 1), and for oltp 21 and 23; ORION printed 9, 44 and 19 minutes.
    [("simple", 1, 8, 9), ("simple", 6, 43, 44), ("normal", 1, 18, 19), ("oltp", 1, 21, 22), ("oltp", 3, 23, 24), ("normal", 4, 189, 190)],
)
def test_points_and_printed_time_are_those_of_the_reference(run: str, disks: int, count: int, minutes: int) -> None:
    matrix = {"simple": "basic", "normal": "detailed", "oltp": "oltp"}[run]
    assert len(points(matrix, Shape(disks))) == count
    assert announced_minutes(count) == minutes
    translation = translate_command(["-run", run, "-num_disks", str(disks), "-testname", "one"], "command line", include)
    assert f"{count} points of 60 s" in translation.remarks[0].why and f"announces {minutes} minutes" in translation.remarks[0].why
    assert check(translation) == count - 1  # without the point that asks nothing


@pytest.mark.parametrize("matrix", ["basic", "detailed", "oltp", "row", "col", "point"])
@pytest.mark.parametrize("disks", [1, 3, 7])
def test_the_grid_of_the_experiment_has_the_same_points(matrix: str, disks: int) -> None:
    shape = Shape(disks, num_small=4, num_large=2)
    assert points(matrix, shape) == grid(matrix, disks, num_small=4, num_large=2)
    assert point_count(matrix, shape) == len(points(matrix, shape))


def test_a_billion_points_are_refused_before_they_are_listed() -> None:
    refusal = translated("-run normal -num_disks 10000 -testname one").refusal()
    assert refusal is not None and "1,000,070,001 points" in refusal


def settings(line: str) -> list[tuple[int, int]]:
    """Small requests and sequential streams of every point, in the order in which they are measured."""
    experiments = read_experiments(translated(line).document, "x").experiments
    measured = [point for experiment in experiments for point in settings_of(experiment)]
    return [(point.get("small.queue_depth", 1), point.get("large.threads", 1)) for point in measured]


@pytest.mark.parametrize(
    ("options", "matrix", "shape"),
    [
        ("-run simple -num_disks 2", "basic", Shape(2)),
        ("-run normal -num_disks 2", "detailed", Shape(2)),
        ("-run advanced -matrix col -num_small 3 -num_disks 2", "col", Shape(2, num_small=3)),
        ("-run advanced -matrix row -num_large 3 -num_disks 2", "row", Shape(2, num_large=3)),
        ("-run advanced -matrix point -num_small 1 -num_large 3", "point", Shape(1, 1, 3)),
    ],
)
def test_sequential_streams_are_measured_at_the_points_of_the_grid(options: str, matrix: str, shape: Shape) -> None:
    found = settings(f"{options} -type seq -testname one")
    assert sorted(found) == sorted(point for point in points(matrix, shape) if point != (0, 0))
    assert len(found) == len(set(found))


def test_sequential_streams_are_threads_four_deep_that_warm_up_where_they_run() -> None:
    document = translated("-run simple -num_disks 1 -type seq -testname one").document
    large = document["workload"][0]["stream"][1]
    assert (large["random_percent"], large["sequential"], large["queue_depth"]) == (0, "per_thread", 4)
    assert [experiment["set"]["warmup"] for experiment in document["experiment"]] == ["0s", "2m"]


def test_the_luns_become_a_stripe_a_concatenation_or_the_one_itself() -> None:
    targets = {
        options: translated(f"-run simple {options}").document["experiment"][0]["configurations"][0]["target"]
        for options in ("-testname four", "-testname four -simulate raid0 -stripe 64", "-testname one -simulate raid0")
    }
    assert list(targets.values()) == [
        "concat:/dev/sdb,/dev/sdc,/dev/sdd,/dev/sde",
        "stripe:/dev/sdb,/dev/sdc,/dev/sdd,/dev/sde?unit=64KiB",
        "/dev/sdb",
    ]


def test_paths_with_letters_that_targets_use_otherwise_are_escaped() -> None:
    target = translated("-run simple -testname awkward -simulate raid0").document["experiment"][0]["configurations"][0]["target"]
    assert target == "stripe:/dev/mapper/a%2Cb,./file:odd,/data/50%25%20full?unit=1024KiB"


def test_without_a_reader_of_files_the_target_is_left_open() -> None:
    translation = translate_command(["-run", "simple", "-num_disks", "2"], "command line")
    assert translation.refusal() is None
    assert "configurations" not in translation.document["experiment"][0]
    assert [item.text for item in translation.of("ignored")] == ["orion.lun"]


def test_disks_that_cannot_be_counted_refuse() -> None:
    refusal = translate_command(["-run", "simple"], "command line").refusal()
    assert refusal is not None and "-num_disks 4" in refusal


def test_a_file_runs_its_lines_one_after_the_other() -> None:
    text = "# two tests\n\n-run oltp -testname one\n-run advanced -matrix row -num_large 0 -testname one -write 20\n"
    translation = translate(text, "job.orion", include, {})
    assert [experiment["name"] for experiment in translation.document["experiment"]] == ["one", "one-2"]
    assert {item.line for item in translation.remarks} == {3, 4}
    assert check(translation) == 20 + 5


def test_files_are_recognised_by_name_or_first_line() -> None:
    assert recognises("job.orion", "") and recognises("mytest.lun", "/dev/sdb\n")
    assert recognises("calibrate.txt", "# night\n./orion -run advanced -matrix row\n") and recognises("x", "-testname a -run simple\n")
    assert not recognises("job.fio", "[global]\nrw=read\n") and not recognises("x.txt", "orion is a constellation\n")


def test_a_lun_file_alone_says_what_is_missing() -> None:
    refusal = translate(include("four.lun"), "four.lun", include, {}).refusal()
    assert refusal is not None and refusal.startswith("four.lun:1: ") and "-run simple -testname NAME" in refusal
