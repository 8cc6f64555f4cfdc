"""A damaged run is told in a sentence that names the file, and hides no other."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path

import pytest

from plimsoll.errors import StoreError
from plimsoll.store.reader import StoredRun, list_runs, open_run
from support.damaged_store import make_store, trial
from support.said import Plimsoll
from support.scripted_engine import ScriptedEngine

#: Enough to see each kind of damage; tests/long has the many.
TRIALS = 12


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the first test that needs the runs keeps them for all: ``store``, and ``names.json``."""
    return tmp_path_factory.mktemp("made")


@pytest.fixture
def store(plimsoll: Plimsoll, engine: ScriptedEngine, here: Path, made: Path) -> tuple[Path, list[str]]:
    """Three runs, and the names of two of them that may be damaged."""
    if not (made / "names.json").exists():
        (made / "names.json").write_text(json.dumps(make_store(plimsoll, engine)))
        (here / "results").rename(made / "store")
    shutil.copytree(made / "store", here / "store")
    return here / "store", json.loads((made / "names.json").read_text())


def test_no_damage_ends_in_a_mistake_of_ours_or_hides_another_run(plimsoll: Plimsoll, store: tuple[Path, list[str]]) -> None:
    folder, names = store
    for seed in range(TRIALS):
        trial(folder, names, random.Random(seed), plimsoll, verbs=2)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda text: text.replace('"cells"', '"celk"', 1), "line 1: cells is missing; the file was changed"),
        (lambda text: text.replace('"count":300', '"count":"300"'), "is '300', where a number should stand"),
        (lambda text: text.replace('"latency":"', '"latency":"!'), "histogram"),
        (lambda text: text.replace('"phase":"measure"', '"phase":"sleep"'), "phase is 'sleep', where one of warmup, measure, drain"),
        (lambda text: text.replace('"end_ns":', '"end_ns":NaN,"x":'), "not JSON (NaN is no number)"),
        (lambda text: text[:50] + "\n" + text, "line 1: not JSON"),
        (lambda text: "[" * 100_000 + "\n", "nested too deep"),
        (lambda text: text.replace('"start_ns":0', f'"start_ns":{"9" * 5000}'), "line 1: not JSON"),
        (lambda text: text.replace('"start_ns":0', f'"start_ns":{"9" * 400}'), "which counts nothing"),
        (lambda text: text.replace('"start_ns":0', '"start_ns":1e99'), "which counts nothing"),
        (lambda text: text.replace('"start_ns":0', '"x":"a\\"b","start_ns":1e99'), "which counts nothing"),
    ],
)
def test_a_point_that_was_cut_short_names_its_damaged_line(store: tuple[Path, list[str]], plimsoll: Plimsoll, change, said: str) -> None:
    folder, names = store
    folder.rename("results")
    (torn,) = (path.parent for path in Path("results").glob("*/points/*/job.json") if not (path.parent / "result.json").exists())
    lines = torn / "intervals.jsonl"
    lines.write_text(change(lines.read_text().replace('"count":100', '"count":300')))
    run = torn.parents[1].name
    answer = plimsoll("report", run, "-o", "r.html")
    assert answer.code == 5 and str(lines) in answer.err and said in answer.err
    listed = plimsoll("runs")
    assert listed.code == 0 and all(name in listed.out for name in names) and f"! {lines}" in listed.err
    assert "Move its directory away" in listed.err
    (entry,) = (entry for entry in plimsoll("runs", "--json").json if entry["name"] == run)
    assert "unreadable" in entry["points"] and str(lines) in entry["problems"][0]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda meta: {**meta, "command": "plimsoll"}, "command is 'plimsoll', where a list should stand"),
        (lambda meta: {**meta, "process": []}, "process is a list, where a table or null should stand"),
        (lambda meta: {**meta, "experiments": [{"name": "e"}]}, "experiments[0].configurations is missing"),
        (lambda meta: {**meta, "status": None}, "status is null, where text should stand"),
        (lambda meta: [meta], "schema is null"),
    ],
)
def test_a_damaged_run_is_listed_by_its_name_with_the_reason(store: tuple[Path, list[str]], plimsoll: Plimsoll, change, said: str) -> None:
    folder, names = store
    folder.rename("results")
    path = Path("results", names[0], "run.json")
    path.write_text(json.dumps(change(json.loads(path.read_text()))))
    answer = plimsoll("runs")
    assert answer.code == 0 and answer.out.count("unreadable") == 1 and names[0] in answer.out
    assert str(path) in answer.err and said in answer.err
    assert plimsoll("report", names[0], "-o", "r.html").code == 5
    assert len([run for run in list_runs("results") if isinstance(run, StoredRun)]) == 2


def test_a_pipe_in_place_of_a_file_does_not_hold_the_program_up(store: tuple[Path, list[str]]) -> None:
    import os

    folder, names = store
    path = folder / names[0] / "points" / "0001-small" / "result.json"
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(StoreError, match="this is no regular file"):
        _ = open_run(str(folder / names[0])).points[0].result


def test_a_run_that_lost_its_document_is_listed(store: tuple[Path, list[str]], plimsoll: Plimsoll) -> None:
    folder, names = store
    folder.rename("results")
    Path("results", names[0], "run.json").unlink()
    answer = plimsoll("runs")
    assert names[0] in answer.out and "run.json: is missing; put it back, or move its directory away" in answer.err
