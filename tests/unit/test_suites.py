"""The shipped suites: they can be read, they name what exists, they are as long as the guide says, and quick ones are quick."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from plimsoll import catalog
from plimsoll.analysis.objective.judgement import parse_objective
from plimsoll.apps import check_workload, driver_of
from plimsoll.engine.block import native
from plimsoll.errors import InputError
from plimsoll.experiments.document import read_experiments
from plimsoll.experiments.experiment import Experiment
from plimsoll.experiments.schedule import schedule, settings_of
from support.made_results import Load, made
from support.suite_time import measured_seconds, points_max

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "suites.md"
#: Under three minutes in all, of which one is left for filling the scratch file.
QUICK_S_MAX = 120.0


def read(name, *, quick=False, targets=()):
    return read_experiments(catalog.suite_document(name), f"{name}.toml", quick=quick, targets=targets)


def guide_times() -> dict[str, tuple[str, str]]:
    """Suite → (full, quick) as the table of the guide has them."""
    rows = re.findall(
        r"^\| \[?`([\w-]+)`\]?(?:\([^)]*\))? \|[^|]*\| ([^|]+) \| ([^|]+) \|", GUIDE.read_text(encoding="utf-8"), re.MULTILINE
    )
    return {name: (full.strip(), quick.strip()) for name, full, quick in rows}


def spelled(seconds: float) -> str:
    """Hours, minutes and seconds as the guide writes them."""
    hours, rest = divmod(round(seconds), 3600)
    minutes, left = divmod(rest, 60)
    return " ".join(f"{count} {unit}" for count, unit in ((hours, "h"), (minutes, "min"), (left, "s")) if count)


def ramp_points(ramp: Experiment, limit: int) -> int:
    """How many points a ramp takes on a storage that keeps the objective up to ``limit`` threads."""
    requests, points = schedule(ramp), 0
    try:
        request = next(requests)
        while True:
            points += 1
            level = request.ask.level
            result = made(Load(1000.0 * level, 1e6 if level <= limit else 30e6), level=level, repeat=request.ask.repeat)
            both = dict.fromkeys(("read", "write"), result.totals["read"])
            request = requests.send(replace(result, totals=both, estimates={**result.estimates, "write": result.estimates["read"]}))
    except StopIteration:
        return points


def test_the_suites_of_the_five_reports_are_there():
    assert catalog.suite_names() == [
        "analytics",
        "carvings",
        "database-durability",
        "dd-cp",
        "decision-support",
        "four-corners",
        "hp-iometer",
        "mail-durability",
        "mailstore",
        "orion-sequential",
        "proliant-generations",
        "raid-levels",
        "sas-iotest",
        "vdbench-matrix",
    ]


@pytest.mark.parametrize("name", catalog.suite_names())
@pytest.mark.parametrize("quick", [False, True])
def test_every_setting_of_every_point_is_one_that_the_engine_takes(name, quick):
    engine = native()
    for experiment in read(name, quick=quick).experiments:
        for source in (source for asked in experiment.workloads for source in catalog.sources(asked)):
            workload = check_workload(catalog.document(source), source, engine)
            driver = driver_of(workload, engine)
            for settings in settings_of(experiment):
                changed, options = workload, engine.check_job({})
                for key, value in settings.items():
                    changed, options = driver.set_option(changed, options, key, value)
                assert options["duration"] > 0 and changed["name"] == source


@pytest.mark.parametrize("name", catalog.suite_names())
def test_every_suite_says_what_it_is_for_and_where_it_comes_from(name):
    suite = read(name)
    assert suite.title and suite.purpose and suite.source and suite.rationale


@pytest.mark.parametrize("name", catalog.suite_names())
def test_the_published_figures_of_a_suite_exist_and_fit_its_workloads(name):
    suite = read(name)
    used = {source for experiment in suite.experiments for asked in experiment.workloads for source in catalog.sources(asked)}
    for published in suite.published:
        for row in catalog.published(published)["rows"]:
            assert row["match"] is None or row["match"]["workload"] in used


def test_every_cell_of_the_vdbench_matrix_has_its_published_figures():
    found = 0
    figures = catalog.published("se6920")
    for experiment in read("vdbench-matrix").experiments:
        arrays = 3 if experiment.name == "random" else 2
        (workload,) = experiment.workloads
        for settings in settings_of(experiment):
            rows = catalog.rows_for(figures, workload, settings)
            assert len(rows) == 3 * arrays
            found += len(rows)
    assert found == 180


@pytest.mark.parametrize("name", catalog.suite_names())
def test_the_quick_form_leaves_time_for_filling_within_three_minutes(name):
    assert measured_seconds(name, quick=True) <= QUICK_S_MAX


@pytest.mark.parametrize("name", catalog.suite_names())
def test_the_guide_says_how_long_both_forms_take(name):
    expected = tuple(spelled(measured_seconds(name, quick=quick)) for quick in (False, True))
    told = guide_times()[name]
    assert tuple(text.removeprefix("at most ") for text in told) == expected


def test_the_guide_explains_every_suite():
    text = GUIDE.read_text(encoding="utf-8")
    for name in catalog.suite_names():
        assert f"## {name}\n" in text


def test_the_twelve_profiles_run_as_report_001_has_them():
    (profiles,) = read("proliant-generations").experiments
    assert points_max(profiles) == 12
    assert profiles.settings == {"duration": "300s", "warmup": "0s"}
    for name in catalog.names_tagged("proliant"):
        (stream,) = native().check_workload(catalog.document(name), name)["stream"]
        assert (stream["direct"], stream["queue_depth"], stream["threads"]) == (True, 1, 1)


def test_the_matrix_is_nested_like_report_004():
    random, sequential = read("vdbench-matrix").experiments
    assert (random.name, sequential.name) == ("random", "sequential")
    assert list(random.over) == ["region_length", "block_size"] and random.over == sequential.over
    assert points_max(random) + points_max(sequential) == 24


def test_the_ramp_obeys_the_rule_of_20_ms():
    (ramp,) = read("mailstore").experiments
    assert (ramp.kind, ramp.axis) == ("ramp", "threads")
    assert ramp.objective is not None
    assert parse_objective(ramp.objective) == parse_objective("read mean <= 20 ms and write mean <= 20 ms")


@pytest.mark.parametrize("quick", [False, True])
def test_the_ramp_takes_no_more_points_than_the_guide_counts(quick):
    (ramp,) = read("mailstore", quick=quick).experiments
    points = [ramp_points(ramp, limit) for limit in range(int(ramp.over["threads"][1]) + 1)]
    assert max(points) == points_max(ramp)


def test_targets_of_the_command_line_become_configurations():
    (profiles,) = read("proliant-generations", targets=["/dev/sdb", "/dev/sdc"]).experiments
    assert [item.target for item in profiles.configurations] == ["/dev/sdb", "/dev/sdc"]


def test_an_unknown_suite_gets_a_hint():
    with pytest.raises(InputError, match="suite 'four-corner' is unknown; did you mean 'four-corners'"):
        catalog.suite_document("four-corner")


def test_the_list_of_suites_says_how_long_both_forms_take_as_the_guide_does(capsys, monkeypatch):
    from plimsoll.cli import main

    monkeypatch.setenv("COLUMNS", "200")
    assert main(["suite"]) == 0
    rows = [re.split(r" {2,}", line) for line in capsys.readouterr().out.splitlines()[2:]]
    assert {row[0]: tuple(row[-2:]) for row in rows} == guide_times()
