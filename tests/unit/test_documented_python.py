"""The programs of docs/ do what they say, on models in virtual time."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_the_example_finds_two_marks_and_writes_a_table(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    example = runpy.run_path(str(DOCS / "examples" / "two_arrays.py"))
    assert example["main"]() == 0
    said = capsys.readouterr()
    assert said.out.count(" carries ") == 2 and "complete" in said.err
    assert Path("points.csv").read_bytes().startswith(b"run,label,point,")
