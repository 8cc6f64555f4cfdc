"""A run starts without what it does not need: the first request waits for no code that judges, draws, plans or translates.

Model: the command runs in a process of its own on ``null:``; what it has imported is noted when the engine is handed the job. Counted
modules stand in for time, which no test measures.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

#: Notes the modules known when the job is handed over, then those known at the end.
_NOTING = """
import json, sys
from plimsoll.engine import block
from plimsoll.cli.program import main

run_job, known = block.NativeEngine.run_job, []

def noting(*arguments):
    known.append(sorted(sys.modules))
    return run_job(*arguments)

block.NativeEngine.run_job = noting
code = main(sys.argv[1:])
print(json.dumps([*known, sorted(sys.modules)]), file=sys.stderr)
sys.exit(code)
"""
#: Ideas that a plain run comes to only when its load is over, if at all.
LATER = (
    "plimsoll.analysis.point.stopping_rule",
    "plimsoll.analysis.validity.conclusion",
    "plimsoll.analysis.load_line.mark",
    "plimsoll.analysis.objective.judgement",
    "plimsoll.analysis.validity",
    "plimsoll.apps",
    "plimsoll.catalog.arrays",
    "plimsoll.cli.report",
    "plimsoll.cli.run_summary",
    "plimsoll.experiments.probe",
    "plimsoll.experiments.curve",
    "plimsoll.formats.known_targets",
    "plimsoll.formats.translation",
    "plimsoll.gang",
    "plimsoll.layouts.kinds",
    "plimsoll.layouts.plan",
    "plimsoll.points.made_layout",
    "plimsoll.points.planned_layout",
    "plimsoll.reports.html",
    "plimsoll.reports.terminal.points",
    "plimsoll.reports.view.report",
    "plimsoll.store.reader",
    "tempfile",
)


def _known(tmp_path_factory: pytest.TempPathFactory) -> tuple[set[str], set[str]]:
    out = tmp_path_factory.mktemp("results")
    times = ["--duration", "20ms", "--warmup", "0s", "--set", "interval=10ms"]
    words = ["run", "random-read-4k", "--target", "null:", "--out", str(out), "--quiet", *times]
    # A server that another test has started is noted in the cache of the user.
    home = {**os.environ, "XDG_CACHE_HOME": str(tmp_path_factory.mktemp("cache"))}
    # The second time, a run of the same is there that came to its end.
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", _NOTING, *words], capture_output=True, text=True, check=True, env=home)
    at_start, at_end = json.loads(done.stderr.splitlines()[-1])
    return set(at_start), set(at_end)


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> tuple[set[str], set[str]]:
    """The modules known when the load began, and at the end."""
    return _known(tmp_path_factory)


@pytest.mark.parametrize("module", LATER)
def test_the_load_begins_without(module: str, known: tuple[set[str], set[str]]) -> None:
    at_start, _ = known
    assert module not in at_start


def test_a_run_on_one_host_never_imports_what_carries_several(known: tuple[set[str], set[str]]) -> None:
    _, at_end = known
    assert not {name for name in at_end if name.split(".")[0] == "ray" or name.startswith(("plimsoll.gang", "plimsoll.worker"))}


def test_what_draws_and_judges_is_there_at_the_end(known: tuple[set[str], set[str]]) -> None:
    _, at_end = known
    assert {"plimsoll.analysis.validity", "plimsoll.reports.html", "plimsoll.reports.terminal.points", "plimsoll.store.reader"} <= at_end


def test_of_the_analysis_only_what_follows_a_load_is_there_when_it_begins(known: tuple[set[str], set[str]]) -> None:
    at_start, _ = known
    modules = {name.removeprefix("plimsoll.analysis.") for name in at_start if name.startswith("plimsoll.analysis.")}
    with_a_load, as_experiments_are_read = (
        {"point", "point.definition", "point.observation", "point.summary"},
        {"objective", "objective.clause", "point.metric"},
    )
    assert modules <= with_a_load | as_experiments_are_read
