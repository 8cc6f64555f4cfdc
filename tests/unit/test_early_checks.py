"""What can be known of targets before anything is touched is said then: twice the same, requests that it cannot take, a small scratch file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from plimsoll.scratch import USUAL_BYTES, smaller_than_usual
from support.said import Plimsoll
from support.scripted_engine import ScriptedEngine


@pytest.mark.parametrize("other", ["./a.dat", "sub/../a.dat", "link.dat", "hard.dat", "folder/a.dat"])
def test_one_file_under_two_names_is_refused_whichever_way_it_is_named(
    plimsoll: Plimsoll, here: Path, engine: ScriptedEngine, other: str
) -> None:
    (here / "a.dat").write_bytes(b"\1" * 65536)
    (here / "sub").mkdir()
    (here / "link.dat").symlink_to("a.dat")
    os.link(here / "a.dat", here / "hard.dat")
    (here / "folder").symlink_to(".")
    said = plimsoll("run", "small.toml", "-t", "a.dat", "-t", other)
    assert said.code == 2
    assert f"--target {other} is the same as --target a.dat; name each target once." in said.err
    assert not engine.jobs and not (here / "results").exists()


def test_one_file_that_is_yet_to_be_made_is_refused_as_well(plimsoll: Plimsoll, here: Path, engine: ScriptedEngine) -> None:
    assert "is the same as" in plimsoll("run", "small.toml", "-t", "new.dat", "-t", "./new.dat").err
    assert not engine.prepared


def test_two_files_and_two_models_are_two_targets(plimsoll: Plimsoll, here: Path, engine: ScriptedEngine) -> None:
    for targets in (("a.dat", "b.dat"), ("queue:", "queue:?servers=2")):
        said = plimsoll("run", "small.toml", "-t", targets[0], "-t", targets[1], "--quiet")
        assert said.code == 0, said.err


@pytest.mark.parametrize("how", [["--set", "block_size=3000"], ["--over", "block_size=4096,3000"]])
def test_requests_that_the_target_cannot_take_are_refused_before_it_is_filled(
    plimsoll: Plimsoll, here: Path, engine: ScriptedEngine, how: list[str]
) -> None:
    verb = "steps" if "--over" in how else "run"
    said = plimsoll(verb, "small.toml", "-t", "new.dat", *how)
    assert said.code == 2 and "direct I/O needs multiples of the target's logical block of 512B" in said.err
    assert not engine.prepared and not (here / "results").exists()
    assert plimsoll("run", "small.toml", "-t", "new.dat", "--set", "block_size=3000", "--set", "direct=false", "--quiet").code == 0


def found(**changes: Any) -> dict[str, Any]:
    """The inspection of a scratch file that is yet to be made."""
    return {"kind": "file", "spec": "./new.dat", "exists": False, "size_bytes": 12 << 20, **changes}


def test_a_scratch_file_that_gets_little_for_want_of_space_is_told() -> None:
    said = smaller_than_usual(found())
    assert said is not None and "./new.dat: the scratch file gets 12 MiB" in said and "the usual 4 GiB" in said


@pytest.mark.parametrize("changes", [{"size_bytes": USUAL_BYTES}, {"exists": True}, {"kind": "device"}, {"size_bytes": 0}])
def test_nothing_is_said_of_sizes_that_are_usual_or_not_ours_to_choose(changes: dict[str, Any]) -> None:
    assert smaller_than_usual(found(**changes)) is None


def test_the_smaller_size_is_said_by_a_run_that_was_given_none(plimsoll: Plimsoll, here: Path, engine: ScriptedEngine) -> None:
    engine.inspection = {**found(), "path": str(here / "new.dat"), "logical_block_bytes": 512, "parts": []}
    assert "the scratch file gets 12 MiB" in plimsoll("run", "small.toml", "-t", "new.dat").err
    assert "the scratch file gets" not in plimsoll("run", "small.toml", "-t", "new.dat", "--size", "12MiB").err
