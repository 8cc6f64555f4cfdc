"""Golden translations of ICF files, one per rule; PLIMSOLL_RENEW=1 writes them anew, for reading before they are committed.

Beside each NAME.icf stands NAME.json with its document and its remarks.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from plimsoll.engine.block import native
from plimsoll.experiments.document import read_experiments
from plimsoll.formats.iometer import read, recognises, translate, write
from plimsoll.formats.translation import Translation

FOLDER = Path(__file__).parent / "iometer" / "golden"
FILES = sorted(FOLDER.glob("*.icf"))
#: Names of sections, headings and ends say nothing.
STRUCTURE = (
    "'test setup",
    "'results display",
    "'access specifications",
    "'manager list",
    "'end",
    "'size",
    "'default target settings",
    "'assigned access",
    "'target assignments",
    "'access specification name",
)
named = pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)


def _translated(path: Path) -> Translation:
    return translate(path.read_text(), path.name, None, {})


def _said(translation: Translation) -> dict[str, Any]:
    return {
        "document": translation.document,
        "remarks": [f"{remark.line} {remark.kind}: {remark.text}: {remark.why}" for remark in translation.remarks],
    }


def test_there_are_at_least_forty_files() -> None:
    assert len(FILES) >= 40


@named
def test_a_file_becomes_its_golden_translation(path: Path) -> None:
    golden = path.with_suffix(".json")
    said = _said(_translated(path))
    if os.environ.get("PLIMSOLL_RENEW"):
        golden.write_text(json.dumps(said, indent=1, ensure_ascii=False) + "\n")
    assert said == json.loads(golden.read_text())


@named
def test_a_file_is_recognised_by_how_it_begins(path: Path) -> None:
    assert recognises("load.icf", path.read_text()[:2000])
    assert recognises("load.txt", path.read_text()[:2000])


@named
def test_each_line_that_says_something_has_exactly_one_remark(path: Path) -> None:
    lines = path.read_text().split("\n")
    remarked = [remark.line for remark in _translated(path).remarks if remark.kind != "surprise"]
    assert len(remarked) == len(set(remarked))
    keys = {
        number
        for number, line in enumerate(lines, start=1)
        if line.startswith("'") and not line.startswith("'\t") and not line.lower().startswith(STRUCTURE)
    }
    values = {
        number for number, line in enumerate(lines, start=1) if line.startswith("\t") and lines[number - 2].lower().startswith("'size")
    }
    assert keys | values <= set(remarked)
    unremarked = {number for number, line in enumerate(lines, start=1) if line.lower().startswith(STRUCTURE[:9])}
    assert not unremarked & set(remarked)


@named
def test_what_can_be_run_is_an_experiment_file_of_ours(path: Path) -> None:
    translation = _translated(path)
    document = translation.document
    workloads = {workload["name"]: workload for workload in translation.document["workload"]}
    assert translation.refusal() is not None or workloads
    if not document["experiment"]:
        assert translation.refusal() is not None
        return
    suite = read_experiments(document, path.name)
    for experiment in suite.experiments:
        assert set(experiment.workloads) <= set(workloads)
        _check_settings(document, workloads)
    for workload in workloads.values():
        native().check_workload(workload, path.name)


def _check_settings(document: dict[str, Any], workloads: dict[str, Any]) -> None:
    """Every setting names an option that the engine knows, of a stream that exists; no test is without streams."""
    for experiment in document["experiment"]:
        workload = workloads[experiment["workloads"][0]]
        native().check_job(experiment["set"])
        names = {stream["name"] for stream in workload["stream"]}
        for configuration in experiment.get("configurations", []):
            off = configuration.get("set", {})
            assert all(key.endswith(".threads") and value == 0 for key, value in off.items())
            assert {key.removesuffix(".threads") for key in off} < names


@named
def test_a_golden_file_is_read_written_and_read_again_without_loss(path: Path) -> None:
    file = read(path.read_text(), path.name)
    assert read(write(file), path.name) == file
    assert write(read(write(file), path.name)) == write(file)
