"""Conclusions as the terminal shows them."""

from __future__ import annotations

from dataclasses import replace

from plimsoll.analysis.load_line.mark import Mark
from plimsoll.analysis.objective.judgement import parse_objective
from plimsoll.reports.terminal.findings import Concluded, conclusions, kept
from support.made_results import Load, made

BEYOND = "No level failed: the mark is at least this. Measure higher levels to find it."
MARK = Mark(1234.0, 10.1e6, 24.0, (1190.0, 1280.0), "mean <= 5ms", failed_by=None, next_level=None)


def test_the_mark_says_which_option_its_level_is_of() -> None:
    shown = conclusions([Concluded("ramp", "oltp-db", "/dev/sdb", ("said",), MARK, axis="queue_depth")])
    assert "  mark  1,234 IOPS [1,190, 1,280], 10.1 MB/s, at queue_depth 24" in shown.splitlines()


def test_what_is_to_be_known_of_a_mark_stands_below_it() -> None:
    noted = Mark(**{**vars(MARK), "interval": None, "notes": (BEYOND,)})
    assert conclusions([Concluded("ramp", "oltp-db", "/dev/sdb", (), noted)]).splitlines()[-1] == f"        {BEYOND}"


def test_an_objective_that_a_model_kept_is_not_told_as_measured() -> None:
    result = replace(made(Load(1000, 1e6)), modelled=True)
    assert f"on {result.job.target} (modelled): held" in kept(parse_objective("mean <= 5ms"), [result])
