"""What may not be written to is refused before a run is made."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from plimsoll.engine.block import native
from plimsoll.points.looks import Looks
from plimsoll.points.permission import check_permitted
from plimsoll.target import Target
from support.said import Plimsoll
from support.scripted_engine import ScriptedEngine

QUICK = ("-d", "1s", "-w", "0")


@pytest.fixture
def precious(here: Path, engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch) -> str:
    """A file that Plimsoll did not make, seen with the eyes of the real engine."""
    (here / "precious").write_bytes(b"data" * 4096)
    monkeypatch.setattr(engine, "inspect_target", native_inspection(engine))
    return "precious"


def native_inspection(engine: ScriptedEngine) -> Any:
    scripted = engine.inspect_target

    def inspect(target: Target) -> Any:
        refusal = "precious was not made by Plimsoll" if target.text == "precious" else None
        return {**scripted(target), "write_refusal": refusal}

    return inspect


@pytest.mark.parametrize(
    "words",
    [
        ("run", "random-write-4k"),
        ("run", "random-read-4k", "random-write-4k"),
        ("run", "random-write-4k", "-t", "null:"),
        ("steps", "random-write-4k", "--over", "queue_depth=1,2"),
        ("steps", "random-write-4k", "--over", "queue_depth=1,2", "-t", "null:"),
        ("matrix", "random-read-4k", "--over", "read_percent=100,50"),
        ("steady", "random-read-4k", "--precondition"),
        ("steps", "random-read-4k", "-s", "read_percent=50"),
    ],
    ids=" ".join,
)
def test_a_refusal_that_is_known_beforehand_leaves_no_run(
    plimsoll: Plimsoll, engine: ScriptedEngine, precious: str, words: tuple[str, ...]
) -> None:
    # 'steps random-write-4k -t /etc/passwd' stored a run of seven failed points.
    said = plimsoll(*words, "-t", precious, *([] if "steady" in words else QUICK))
    assert (said.code, said.out) == (3, "")
    assert said.err == "plimsoll: precious was not made by Plimsoll.\n"
    assert engine.jobs == [] and not os.path.exists("results")


def test_reading_asks_no_permission(plimsoll: Plimsoll, precious: str) -> None:
    assert plimsoll("steps", "random-read-4k", "--over", "queue_depth=1,2", "-t", precious, *QUICK).code == 0


@pytest.mark.parametrize(
    "words",
    [
        ("run", "random-write-4k", "-t", "null:", "-t", "held"),
        ("steps", "random-write-4k", "--over", "queue_depth=1,2", "-t", "null:", "-t", "held"),
        ("suite", "two.toml"),
    ],
    ids=" ".join,
)
def test_what_no_permission_lifts_is_refused_before_the_first_point_of_all(
    plimsoll: Plimsoll, engine: ScriptedEngine, here: Path, words: tuple[str, ...]
) -> None:
    # With --destroy-data, the points before that of a mounted target were measured, and those after it failed one by one.
    (here / "two.toml").write_text(
        'title = "Two"\n'
        + "".join(
            f'[[experiment]]\nname = "{name}"\nkind = "single"\nworkloads = ["random-write-4k"]\n'
            f'configurations = [{{ name = "{name}", target = "{target}" }}]\n'
            for name, target in (("first", "null:"), ("second", "held"))
        )
    )
    engine.write_refusals["held"] = "held is mounted at /mnt, so nothing may be written to it; unmount it first"
    said = plimsoll(*words, "--destroy-data", *QUICK)
    assert (said.code, said.out) == (3, "")
    assert said.err == "plimsoll: held is mounted at /mnt, so nothing may be written to it; unmount it first.\n"
    assert engine.jobs == [] and not os.path.exists("results")


def test_with_a_permission_the_engine_judges_what_it_allows(plimsoll: Plimsoll, engine: ScriptedEngine, precious: str) -> None:
    assert plimsoll("run", "random-write-4k", "-t", precious, "--destroy-data", *QUICK).code == 0
    assert len(engine.jobs) == 1


def test_the_engine_says_why_a_file_of_somebody_else_is_not_written_to(here: Path) -> None:
    (here / "mine").write_bytes(b"data" * 4096)
    engine = native()
    writing = engine.check_workload({"name": "w", "stream": [{"name": "main", "read_percent": 0}]}, "w.toml")
    with pytest.raises(Exception, match="mine exists and was not made by Plimsoll"):
        check_permitted([(writing, Target("mine"))], engine, None, Looks(engine))
    check_permitted([(writing, Target("mine"))], engine, "", Looks(engine))
    with pytest.raises(Exception, match="another"):
        check_permitted([(writing, Target("mine"))], engine, "/another/file", Looks(engine))
