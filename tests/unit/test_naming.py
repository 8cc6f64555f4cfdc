"""What a run may be called, and how runs are removed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from plimsoll.errors import InputError
from plimsoll.store.names import meant
from plimsoll.store.reader import StoredRun, list_runs, open_run
from plimsoll.store.writer import own_identity
from support.said import Plimsoll
from support.scripted_engine import ScriptedEngine

NAMES = ["2026-11-21T10-00-00_oltp-db", "2026-11-22T09-00-00_oltp-db", "2026-11-22T10-00-00_check"]
LABELS = {NAMES[0]: "cache on", NAMES[1]: "cache off", NAMES[2]: "cache off"}


@pytest.mark.parametrize(
    ("asked", "name"),
    [
        ("latest", NAMES[2]),
        ("latest~0", NAMES[2]),
        ("latest~2", NAMES[0]),
        ("cache on", NAMES[0]),
        ("2026-11-21", NAMES[0]),
        ("2026-11-22T10", NAMES[2]),
        ("2026-11-22T09-00-00_oltp-db", NAMES[1]),
        ("oltp", None),
        ("", None),
        ("latest~", None),
    ],
)
def test_a_run_is_meant_by_place_label_or_beginning(asked: str, name: str | None) -> None:
    assert meant(asked, NAMES, LABELS) == name


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ("cache off", f"'cache off' is the label of 2 runs: '{NAMES[2]}', '{NAMES[1]}'; name one of them."),
        ("2026", f"'2026' is how the names begin of 3 runs: '{NAMES[2]}', '{NAMES[1]}', '{NAMES[0]}'; name one of them."),
        ("latest~3", f"'latest~3' goes back too far: there are 3 runs, the oldest is '{NAMES[0]}'."),
    ],
)
def test_what_several_runs_could_be_is_none_of_them(asked: str, sentence: str) -> None:
    with pytest.raises(InputError) as told:
        meant(asked, NAMES, LABELS)
    assert str(told.value) == sentence


def test_without_runs_nothing_is_the_latest() -> None:
    assert meant("latest", [], {}) is None


@pytest.fixture
def stored(plimsoll: Plimsoll, engine: ScriptedEngine) -> list[str]:
    """The names of two runs, labelled before and after."""
    for label in ("before", "after"):
        assert plimsoll("run", "small.toml", "-t", "null:", "-q", "--label", label, "--fresh").code == 0
    return [run.name for run in list_runs("results")]


@pytest.mark.usefixtures("stored")
@pytest.mark.parametrize("verb", [("report",), ("compare",), ("export", "--as", "csv"), ("size", "--iops", "5", "--read-percent", "100")])
def test_every_command_takes_a_label_for_a_run(plimsoll: Plimsoll, verb: tuple[str, ...]) -> None:
    said = plimsoll(*verb, "before")
    assert "is not a run" not in said.err and "is not known" not in said.err
    assert plimsoll(*verb, "befor").code == 2


def test_before_and_after_are_compared_by_their_labels(plimsoll: Plimsoll, stored: list[str]) -> None:
    assert plimsoll("compare", "before", "after").code == 0
    assert plimsoll("report", "latest").out.strip() == f"results/{open_run('latest').name}/report.html"


def test_of_runs_begun_in_one_second_the_last_is_the_latest(plimsoll: Plimsoll, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plimsoll.store.writer.time.time_ns", iter(range(10**18, 10**18 + 9)).__next__)
    for workload in ("random-write-4k", "random-read-4k"):
        assert plimsoll("run", workload, "-t", "null:").code == 0
    assert [run.name.partition("_")[2] for run in list_runs("results")] == ["random-write-4k", "random-read-4k"]
    assert open_run("latest").name.endswith("random-read-4k")


def test_one_run_in_two_words_is_given_twice(plimsoll: Plimsoll, stored: list[str]) -> None:
    newest = open_run("latest").label
    said = plimsoll("compare", newest, "latest")
    assert said.code == 2 and f"{newest} and latest are the same run" in said.err


def test_a_directory_goes_before_a_label(stored: list[str]) -> None:
    os.rename(f"results/{stored[0]}", "results/after-all")
    os.rename(f"results/{stored[1]}", "results/latest")
    assert open_run("latest").name == "latest" and open_run("after-all").name == "after-all"


def test_a_forgotten_run_is_gone_and_the_others_stay(plimsoll: Plimsoll, stored: list[str]) -> None:
    kept = open_run("after").name
    said = plimsoll("forget", "before", "--yes")
    assert said.code == 0 and "removed 1 run" in said.err
    assert os.listdir("results") == [kept]


def test_nobody_who_could_be_asked_keeps_every_run(plimsoll: Plimsoll, stored: list[str]) -> None:
    said = plimsoll("forget", "before", "latest")
    assert said.code == 2 and "add --yes" in said.err
    assert sorted(os.listdir("results")) == sorted(stored)


def test_a_run_outside_the_store_is_never_removed(plimsoll: Plimsoll, stored: list[str], here: Path) -> None:
    os.makedirs("elsewhere")
    os.rename(f"results/{stored[0]}", f"elsewhere/{stored[0]}")
    os.symlink(here / "elsewhere" / stored[0], "results/linked")
    for name, reason in ((f"elsewhere/{stored[0]}", "is not in the store 'results'"), ("linked", "this is a link to a run")):
        said = plimsoll("forget", name, stored[1], "--yes")
        assert said.code == 2 and reason in said.err
    assert (here / "elsewhere" / stored[0] / "run.json").exists() and (here / "results" / stored[1]).exists()


def test_a_run_that_is_being_measured_is_not_removed(plimsoll: Plimsoll, stored: list[str]) -> None:
    import json

    meta = Path("results", stored[0], "run.json")
    meta.write_text(json.dumps({**json.loads(meta.read_text()), "status": "running", "process": own_identity()}))
    said = plimsoll("forget", stored[0], "--yes")
    assert said.code == 2 and f"is being measured by process {os.getpid()}" in said.err
    assert meta.exists()


def test_what_somebody_else_put_into_a_run_keeps_it(plimsoll: Plimsoll, stored: list[str]) -> None:
    note = Path("results", stored[0], "notes.txt")
    note.write_text("mine")
    said = plimsoll("forget", stored[0], "--yes")
    assert said.code == 2 and "also holds 'notes.txt', which Plimsoll did not write" in said.err
    assert note.read_text() == "mine"


def test_a_removal_that_was_killed_is_finished_by_the_next(plimsoll: Plimsoll, stored: list[str]) -> None:
    os.rename(f"results/{stored[0]}", f"results/.forgotten-{stored[0]}")
    assert [run.name for run in list_runs("results") if isinstance(run, StoredRun)] == [stored[1]]
    assert plimsoll("forget", "latest", "--yes").code == 0
    assert os.listdir("results") == []
