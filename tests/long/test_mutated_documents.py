"""Thousands of changed documents through whole verbs: taken, or refused in a sentence."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from long.settings import Scale
from long.tally import Tally
from mutated_documents import tried
from plimsoll.cli import main
from said import Said

TRIALS = 3_000


def test_changed_documents_are_taken_or_refused_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], draws: Random, scale: Scale, tally: Tally
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    def plimsoll(*words: str) -> Said:
        code = main(words)
        captured = capsys.readouterr()
        return Said(code, captured.out, captured.err)

    broken = []
    for _ in range(scale.times(TRIALS)):
        before = len(broken)
        try:
            tried(draws, plimsoll)
        except AssertionError as problem:
            broken.append(str(problem))
        tally.count("changed document", survived=len(broken) == before, named=None)
    assert not broken, "\n\n".join([f"{len(broken)} documents end in a mistake of ours", *broken[:10]])
