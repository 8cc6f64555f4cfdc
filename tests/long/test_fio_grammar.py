"""Every line of fio's grammar that is tried at all, and ten thousand job files of several lines, beside the installed fio."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from formats.fio_grammar import drawn, every_line, fio_takes, outcome, replaced
from long.settings import SEED, Scale
from long.tally import Tally

pytestmark = pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed")


def test_what_fio_refuses_is_refused_line_by_line(tmp_path: Path, tally: Tally) -> None:
    taken = [[line] for line in every_line() if outcome([line]) is None]
    agreed = fio_takes(taken, tmp_path)
    for fio in agreed:
        tally.count("fio's grammar: a line that is taken", survived=fio, named=None)
    assert [lines for lines, fio in zip(taken, agreed, strict=True) if not fio] == []


def test_what_fio_refuses_is_refused_in_jobs_of_several_lines(tmp_path: Path, tally: Tally, scale: Scale) -> None:
    taken = [lines for lines in drawn(SEED, scale.times(10_000, least=200)) if outcome(lines) is None]
    agreed = fio_takes(taken, tmp_path)
    for fio in agreed:
        tally.count("fio's grammar: a job that is taken", survived=fio, named=None)
    assert [lines for lines, fio in zip(taken, agreed, strict=True) if not fio] == []


def test_what_fio_refuses_is_refused_where_a_later_line_takes_its_place(tmp_path: Path, tally: Tally, scale: Scale) -> None:
    taken = [lines for lines in replaced(SEED, scale.times(5_000, least=200)) if outcome(lines) is None]
    agreed = fio_takes(taken, tmp_path)
    for fio in agreed:
        tally.count("fio's grammar: an option given twice that is taken", survived=fio, named=None)
    assert [lines for lines, fio in zip(taken, agreed, strict=True) if not fio] == []


def test_lines_that_are_refused_although_fio_takes_them_are_named(tmp_path: Path, tally: Tally, scale: Scale) -> None:
    lines = every_line()
    refused = [
        (line, said) for line in lines[SEED % 20 :: max(1, len(lines) // scale.times(1000))] if (said := outcome([line])) is not None
    ]
    for (line, said), fio in zip(refused, fio_takes([[line] for line, _ in refused], tmp_path), strict=True):
        named = said.startswith("job.fio:")
        tally.count(f"fio's grammar: a line that is refused{' and fio takes' if fio else ''}", survived=True, named=named)
        assert named, (line, said)
