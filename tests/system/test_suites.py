"""The shipped suites for real: every quick form on a scratch file, one of them exactly as it is shipped."""

from __future__ import annotations

import json
import os
import time

import pytest

from plimsoll import catalog
from plimsoll.experiments.document import read_experiments
from standstill import DiskReference
from suite_time import points_max

#: All quick forms take five minutes together. Which points there are does not depend on how long they are; CI has more time for each of them
#: than somebody who waits for the tests, as much as the shortest of the quick forms. The warm-up is short because dd's 1000 MiB are written in
#: 200 ms where the disk is quick, and nothing would be left to measure.
SHORT = ("--duration", "200ms", "--warmup", "50ms")
ASKED = ("--duration", "1s", "--warmup", "50ms") if os.environ.get("CI") == "true" else SHORT
AS_SHIPPED = "four-corners"


def asked(name: str) -> dict[str, int]:
    """Experiment → points at most."""
    suite = read_experiments(catalog.suite_document(name), f"{name}.toml", quick=True)
    return {experiment.name: points_max(experiment) for experiment in suite.experiments}


def ran(plimsoll, name: str, *options: str) -> dict:
    ended = plimsoll("suite", name, "--quick", *options, "--json")
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)


def stalled(results: list[dict]) -> list[str]:
    """Workloads of points in whose time the disk completed nothing, as shared disks do at times; each must be called invalid."""
    empty = [result for result in results if not any(total["count"] for total in result["totals"].values())]
    for result in empty:
        assert ("nothing_measured", "invalid") in [(flag["name"], flag["severity"]) for flag in result["flags"]], result["job"]["workload"]
    return [result["job"]["workload"] for result in empty]


def left_behind(tmp_path) -> list[str]:
    return [path.name for path in tmp_path.iterdir() if path.name.startswith("plimsoll")]


@pytest.mark.parametrize("name", [name for name in catalog.suite_names() if name != AS_SHIPPED])
def test_a_quick_suite_measures_every_point_and_leaves_nothing_behind(plimsoll, tmp_path, name):
    with DiskReference(tmp_path) as disk:
        document = ran(plimsoll, name, *ASKED)
    by_experiment: dict[str, int] = {}
    shortest_s = min(result["job"]["duration_s"] for result in document["results"])
    assert len(stalled(document["results"])) <= max(len(document["results"]) // 20, disk.spoiled(shortest_s))
    for result in document["results"]:
        assert result["status"] == "complete", (result["job"]["workload"], result["error"])
        experiment = result["place"]["experiment"]
        by_experiment[experiment] = by_experiment.get(experiment, 0) + 1
    expected = asked(name)
    assert set(by_experiment) == set(expected)
    for experiment, count in by_experiment.items():
        assert 1 <= count <= expected[experiment]
        # Only a ramp may need fewer points than it could take.
        assert count == expected[experiment] or experiment == "20 ms"
    assert left_behind(tmp_path) == []


def test_a_quick_suite_exactly_as_shipped_takes_less_than_three_minutes(plimsoll, tmp_path):
    begun = time.monotonic()
    document = ran(plimsoll, AS_SHIPPED)
    assert time.monotonic() - begun < 180
    assert [result["job"]["duration_s"] for result in document["results"]] == [8.0] * 4
    assert all(result["status"] == "complete" for result in document["results"])
    assert left_behind(tmp_path) == []


def test_a_copy_on_a_target_that_is_no_file_is_kept_as_failed_and_the_rest_goes_on(plimsoll):
    ended = plimsoll("suite", "dd-cp", "--quick", "-t", "concat:a.dat,b.dat", *SHORT, "--json")
    results = json.loads(ended.stdout)["results"]
    failed = [result for result in results if result["status"] == "failed"]
    assert [result["job"]["workload"] for result in failed] == ["file-copy", "file-copy"]
    assert all("needs a file" in result["error"] for result in failed)
    assert len(results) == sum(asked("dd-cp").values())
    assert ended.returncode == 4


@pytest.mark.parametrize("target", ["null:", "queue:", "array:se6920-raid5-200g"])
def test_a_copy_where_no_file_can_be_is_left_out_and_the_rest_goes_on(plimsoll, target):
    """It was measured for minutes before two of its points failed."""
    ended = plimsoll("suite", "dd-cp", "--quick", "-t", target, *SHORT, "--json")
    assert f"experiment 'copy' is left out: a file copy needs a file, which '{target}' has not.\n" in ended.stderr
    results = json.loads(ended.stdout)["results"]
    assert {result["job"]["workload"] for result in results} == {"dd-raw-read", "dd-raw-write", "dd-file-read", "dd-file-write"}
    assert all(result["status"] == "complete" for result in results)
    assert ended.returncode == 0


def test_a_quick_suite_measures_a_file_of_somebody_else_as_large_as_it_is(plimsoll, tmp_path):
    own = tmp_path / "own.dat"
    own.write_bytes(b"\0" * (8 << 20))
    ended = plimsoll("suite", AS_SHIPPED, "--quick", "-t", str(own), "--destroy-data", *SHORT, "--json")
    assert ended.returncode == 0, ended.stderr
    assert [result["host"]["target"]["size_bytes"] for result in json.loads(ended.stdout)["results"]] == [8 << 20] * 4
    assert own.stat().st_size == 8 << 20
