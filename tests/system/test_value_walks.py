"""Whoever follows a value through the code of Python is led on, and not to and fro: ``pytest tests/system/test_value_walks.py -rP``.

An option on its way from the word to the engine, a value of an array to its document, and a latency from the store to the chart.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from plimsoll.cli.program import main
from support.walk import followed

#: As for an option of another tool: fewer turns than a page has lines.
BACK_MAX = 20
ARRAY = "array:msa50-sas-10k-raid0-6"


@pytest.fixture(autouse=True)
def _place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _run(*words: str) -> None:
    assert main(["run", "random-read-4k", "-w", "0s", "-q", *words]) == 0


def test_an_option_on_its_way_to_the_engine() -> None:
    walk = followed(lambda: _run("-t", "null:", "-d", "100ms", "--set", "queue_depth=197"), "197", "run_job")
    print(walk)
    assert {"cli/options.py", "points/experiment_points.py", "engine/block.py"} <= walk.files, "the walk does not reach the engine"
    assert walk.back <= BACK_MAX, str(walk)


def test_a_value_of_an_array_on_its_way_to_the_engine() -> None:
    target = f"{ARRAY}?devices.disk.model.read_seek.average_us=3973"
    walk = followed(lambda: _run("-t", target, "-d", "1s"), "3973", "run_job")
    print(walk)
    assert {"target.py", "catalog/composition/setting.py", "engine/block.py"} <= walk.files, "the walk does not reach the engine"
    assert walk.back <= BACK_MAX, str(walk)


def test_a_latency_on_its_way_to_the_chart() -> None:
    _run("-t", ARRAY, "-d", "1s")
    (lines,) = Path("results").glob("*/points/*/intervals.jsonl")
    longest_ns = json.loads(lines.read_text().splitlines()[0])["summary"]["read"]["max_ns"]
    walk = followed(lambda: main(["report", "latest", "-o", "x.html"]), str(longest_ns), "close", longest=sys.maxsize)
    print(walk)
    assert {"reports/view/point.py", "reports/view/timeline.py"} <= walk.files, "the walk does not reach the chart"
    assert walk.back <= BACK_MAX, str(walk)
