"""What was made for a run and stays behind is told, with its reason."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from plimsoll.errors import TargetError
from plimsoll.scratch import Hearer, Wanted, prepared
from plimsoll.target import Target
from support.scripted_engine import ScriptedEngine


class Unable(ScriptedEngine):
    """An engine on a file system that became read-only."""

    def remove_target(self, spec: str) -> list[str]:
        raise TargetError(f"{spec}: cannot delete it (Read-only file system)")


class Unwilling(ScriptedEngine):
    """An engine that does not know the file as its own any more."""

    def remove_target(self, spec: str) -> list[str]:
        return []


def left_by(engine: ScriptedEngine, path: Path, *, keep: bool = False) -> list[str]:
    left: list[str] = []
    hearer = Hearer(lambda _done, _total: None, on_left=left.append)
    with prepared(engine, Wanted(Target(str(path)), keep=keep), hearer, engine.control()):
        assert path.exists()
    return left


def test_what_is_removed_is_not_told(tmp_path: Path) -> None:
    assert left_by(ScriptedEngine(), tmp_path / "a.dat") == []
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("engine", "reason"), [(Unable(), "Read-only file system"), (Unwilling(), "something else has changed or replaced it")]
)
def test_a_scratch_file_that_cannot_be_removed_is_told(engine: ScriptedEngine, reason: str, tmp_path: Path) -> None:
    # A file system that turned read-only during the run kept 4 GiB without a word.
    (left,) = left_by(engine, tmp_path / "a.dat")
    assert left.startswith(f"{tmp_path / 'a.dat'} was made for this run and is left behind")
    assert reason in left


def test_what_is_to_be_kept_is_not_left_behind(tmp_path: Path) -> None:
    assert left_by(Unable(), tmp_path / "a.dat", keep=True) == []


def test_a_file_that_a_killed_run_left_behind_is_removed_as_if_it_had_been_made(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine, path = ScriptedEngine(), here / "left.dat"
    path.write_bytes(b"left")
    inspect = engine.inspect_target
    monkeypatch.setattr(engine, "inspect_target", lambda spec: {**inspect(spec), "made_by_plimsoll": True, "left_behind": True})
    assert left_by(engine, path) == [] and not path.exists()


@pytest.mark.parametrize(("changed", "left_behind", "looks"), [(False, False, 1), (True, False, 2), (False, True, 2)])
def test_files_that_preparing_left_as_they_were_are_not_looked_at_twice(
    changed: bool, left_behind: bool, looks: int, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, path, looked_at = ScriptedEngine(), here / "data.dat", []
    path.write_bytes(b"data")
    inspect, prepare = engine.inspect_target, engine.prepare_target

    def inspected(target: Target) -> dict[str, Any]:
        looked_at.append(target.text)
        return {**inspect(target), "left_behind": left_behind}

    def prepared_so(*arguments: Any) -> dict[str, Any]:
        done = {**prepare(*arguments), "changed": changed}
        looked_at.clear()
        return done

    monkeypatch.setattr(engine, "inspect_target", inspected)
    monkeypatch.setattr(engine, "prepare_target", prepared_so)
    left_by(engine, path, keep=True)
    assert len(looked_at) + 1 == looks


def test_a_file_that_is_kept_is_released_and_not_removed(here: Path) -> None:
    engine, path = ScriptedEngine(), here / "kept.dat"
    assert left_by(engine, path, keep=True) == []
    assert path.exists() and engine.released == [str(path)]


@pytest.mark.parametrize("there", [0, 1, 2])
def test_files_of_a_target_that_all_stay_are_released_together(there: int, tmp_path: Path) -> None:
    paths = [str(tmp_path / name) for name in "ab"]
    for path in paths[:there]:
        Path(path).write_bytes(b"ours, made by an earlier run")
    parts = [{"path": path, "made_by_plimsoll": True} for path in paths]
    engine, target = ScriptedEngine(), f"concat:{','.join(paths)}"
    engine.inspection = {"kind": "concat", "exists": there == 2, "parts": parts, "scratch": paths}
    hearer = Hearer(lambda _done, _total: None)
    with prepared(engine, Wanted(Target(target), keep=True), hearer, engine.control()):
        pass
    assert engine.released == [target]


def test_of_files_that_do_not_all_stay_each_is_released_or_removed_by_itself(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    old.write_bytes(b"ours, made by an earlier run and kept")
    parts = [{"path": str(path), "made_by_plimsoll": True} for path in (old, new)]
    engine = ScriptedEngine()
    engine.inspection = {"kind": "concat", "exists": False, "parts": parts, "scratch": [str(old), str(new)]}
    hearer = Hearer(lambda _done, _total: None)
    with prepared(engine, Wanted(Target(f"concat:{old},{new}")), hearer, engine.control()):
        new.write_bytes(b"made")
    assert engine.released == [str(old)] and old.exists() and not new.exists()


def test_a_file_that_another_run_made_meanwhile_is_left_to_it(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine, path = ScriptedEngine(), here / "same.dat"

    def prepare(*_: object) -> dict[str, Any]:
        path.write_bytes(b"the other's")
        raise TargetError(f"{path} is in use by another run of Plimsoll (pid 12).")

    monkeypatch.setattr(engine, "prepare_target", prepare)
    with pytest.raises(TargetError):
        left_by(engine, path)
    assert path.read_bytes() == b"the other's"


@pytest.mark.parametrize(("names", "told"), [([], False), (["f0"], True)])
def test_a_tree_that_is_not_known_as_ours_any_more_is_told_unless_it_is_empty(names: list[str], told: bool, tmp_path: Path) -> None:
    # Its marker could not be read (EIO), so nothing was removed and nothing said.
    tree, left = tmp_path / "tree", []
    engine = Unwilling()
    engine.inspection = {"kind": "directory", "path": str(tree), "exists": False, "parts": []}
    with prepared(engine, Wanted(Target(str(tree))), Hearer(lambda _done, _total: None, on_left=left.append), engine.control()):
        tree.mkdir()
        for name in names:
            (tree / name).touch()
    assert bool(left) is told
