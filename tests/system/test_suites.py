"""The shipped suites: every quick form in virtual time, and one of them on a scratch file; all on scratch files are in `tests/long`."""

from __future__ import annotations

import json

import pytest

from support.standstill import DiskReference
from support.suite_points import checked, planned, suites_of_storage

SHORT = ("--duration", "200ms", "--warmup", "50ms")
ON_A_FILE = "four-corners"
#: dd-cp's experiment that copies a file, which a target without files leaves out.
COPY = "copy"


def ran(plimsoll, name: str, *options: str) -> list[dict]:
    ended = plimsoll("suite", name, "--quick", *options, "--json")
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)["results"]


def left_behind(tmp_path) -> list[str]:
    return [path.name for path in tmp_path.iterdir() if path.name.startswith("plimsoll")]


@pytest.mark.parametrize("name", suites_of_storage())
def test_a_quick_suite_measures_every_point(plimsoll, name):
    # Without a warm-up, in which dd would be done with its 1000 MiB.
    expected = planned(name)
    expected.pop(COPY, None)
    checked(ran(plimsoll, name, "--target", "queue:", "--duration", "1s", "--warmup", "0s"), expected)


def test_a_quick_suite_on_a_scratch_file_measures_every_point_and_leaves_nothing_behind(plimsoll, tmp_path):
    with DiskReference(tmp_path) as disk:
        results = ran(plimsoll, ON_A_FILE, "--duration", "1s", "--warmup", "50ms")
    checked(results, planned(ON_A_FILE), empty_max=disk.spoiled(1.0))
    assert left_behind(tmp_path) == []


def test_a_copy_on_a_target_that_is_no_file_is_kept_as_failed_and_the_rest_goes_on(plimsoll):
    ended = plimsoll("suite", "dd-cp", "--quick", "-t", "concat:a.dat,b.dat", *SHORT, "--json")
    results = json.loads(ended.stdout)["results"]
    failed = [result for result in results if result["status"] == "failed"]
    assert [result["job"]["workload"] for result in failed] == ["file-copy", "file-copy"]
    assert all("needs a file" in result["error"] for result in failed)
    assert len(results) == sum(planned("dd-cp").values())
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
    results = ran(plimsoll, ON_A_FILE, "-t", str(own), "--destroy-data", *SHORT)
    assert [result["host"]["target"]["size_bytes"] for result in results] == [8 << 20] * 4
    assert own.stat().st_size == 8 << 20
