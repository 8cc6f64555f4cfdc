"""Hundreds of damages to a store, each read by every verb: a sentence each, no mistake of ours, every other run still listed."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from damaged_store import make_store, trial
from plimsoll import engine as engines
from plimsoll.cli import main
from said import Said
from scripted_engine import ScriptedEngine

#: As many as the audit did by hand, times the knob of the long suite.
TRIALS = round(500 * float(os.environ.get("PLIMSOLL_CHAOS_SCALE") or 1))
SEED = int(os.environ.get("PLIMSOLL_CHAOS_SEED") or 0)


def test_no_damage_ends_in_a_mistake_of_ours_or_hides_another_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / "small.toml").write_text('title = "Small"\ngroup = "random"\n[[stream]]\nname = "main"\nblock_size = "4KiB"\n')
    engine = ScriptedEngine()
    monkeypatch.setattr(engines, "native", lambda: engine)

    def plimsoll(*words: str) -> Said:
        code = main(words)
        captured = capsys.readouterr()
        return Said(code, captured.out, captured.err)

    names = make_store(plimsoll, engine)
    Path("results").rename("store")
    broken = []
    for number in range(TRIALS):
        try:
            trial(Path("store"), names, random.Random(SEED + number), plimsoll)
        except AssertionError as problem:
            broken.append(f"seed {SEED + number}: {problem}")
    print(f"{TRIALS} damages tried, {TRIALS - len(broken)} told in a sentence by every verb")
    assert not broken, "\n\n".join([f"{len(broken)} of {TRIALS}", *broken[:10]])
