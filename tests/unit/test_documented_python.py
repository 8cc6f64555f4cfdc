"""The programs of docs/ do what they say, on models in virtual time."""

from __future__ import annotations

import json
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


def test_the_notebook_runs_from_top_to_bottom(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its cells one after the other in one namespace, as a kernel runs them."""
    notebook = json.loads((DOCS / "notebook.ipynb").read_text())
    assert notebook["nbformat"] == 4
    cells = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] for cell in notebook["cells"] if cell["cell_type"] == "code"), "outputs are not kept"
    names: dict[str, object] = {}
    for number, cell in enumerate(cells, start=1):
        exec(compile(cell, f"cell {number}", "exec"), names)
    said = capsys.readouterr()
    assert "workload 'random-raed-4k' is unknown; did you mean 'random-read-4k'?" in said.out and said.err == ""
    assert names["marks"].keys() == {"array:msa50-sas-10k-raid10-10", "array:msa30-u320-10k-raid10-10"}  # type: ignore[attr-defined]
    assert len(names["latest"].results) == len(names["lines"])  # type: ignore[attr-defined, arg-type]
