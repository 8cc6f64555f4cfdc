"""The shipped suites on scratch files: every quick form, and one of them exactly as it is shipped; and the shipped workloads of files.

Which points there are does not depend on how long they are: a second each, a fifth of it in a small part of the suite. The warm-up is short
because dd's 1000 MiB are written in 200 ms where the disk is quick, and nothing would be left to measure.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from long.settings import Scale
from plimsoll import catalog
from support.said import Said
from support.standstill import DiskReference
from support.suite_points import checked, planned, suites_of_storage

AS_SHIPPED = "four-corners"


def _left_behind(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if path.name.startswith("plimsoll")]


@pytest.mark.parametrize("name", [name for name in suites_of_storage() if name != AS_SHIPPED])
def test_a_quick_suite_measures_every_point_and_leaves_nothing_behind(
    plimsoll: Callable[..., Said], tmp_path: Path, scale: Scale, name: str
) -> None:
    times = ("--duration", f"{1000 * scale.seconds(1, least=0.2):.0f}ms", "--warmup", "50ms")
    with DiskReference(tmp_path) as disk:
        said = plimsoll("suite", name, "--quick", *times, "--json")
    assert said.code == 0, said.err
    results = json.loads(said.out)["results"]
    spoiled = disk.spoiled(min(result["job"]["duration_s"] for result in results))
    checked(results, planned(name), empty_max=max(len(results) // 20, spoiled))
    assert _left_behind(tmp_path) == []


def test_a_quick_suite_exactly_as_shipped_takes_less_than_three_minutes(plimsoll: Callable[..., Said], tmp_path: Path) -> None:
    begun = time.monotonic()
    said = plimsoll("suite", AS_SHIPPED, "--quick", "--json")
    assert time.monotonic() - begun < 180
    assert said.code == 0, said.err
    results = json.loads(said.out)["results"]
    assert [result["job"]["duration_s"] for result in results] == [8.0] * 4
    assert all(result["status"] == "complete" for result in results)
    assert _left_behind(tmp_path) == []


def test_every_shipped_workload_of_files_runs_on_a_tree_as_large_as_shipped_and_leaves_nothing(
    plimsoll: Callable[..., Said], tmp_path: Path
) -> None:
    said = plimsoll("run", "files", "-t", str(tmp_path / "tree"), "--warmup", "0", "--duration", "250ms", "--json")
    assert said.code == 0, said.err
    ran = json.loads(said.out)["results"]
    assert sorted(result["job"]["workload"] for result in ran) == sorted(catalog.names_tagged("files"))
    for result in ran:
        assert result["status"] == "complete", (result["job"]["workload"], result["error"])
        assert all(total["errors"] == 0 for total in result["totals"].values())
    assert not (tmp_path / "tree").exists()
