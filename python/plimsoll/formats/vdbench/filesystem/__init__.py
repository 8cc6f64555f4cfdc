"""Workloads on file systems: FSDs become trees, FWDs become streams of file operations, runs become experiments of driver ``files``.

Model: `forest` finds which FSDs a run works on and where their trees lie, `tree` translates one FSD and reads what a run formats, `stream`
translates one FWD, `composer` puts a round of a run together. Runs that only format lay out by way of the runs that follow; one whose trees
no other run works on becomes a point of a single operation.
Limits: as of the driver: files are selected at random, in order, or once; nothing in them is verified.

    workloads, experiments = file_system_runs(planning)
"""

from __future__ import annotations

from functools import partial
from typing import Any

from plimsoll.formats.vdbench.experiments import Family, Runs
from plimsoll.formats.vdbench.filesystem.composer import AXES, LOOPS, FileComposer
from plimsoll.formats.vdbench.filesystem.forest import Forest
from plimsoll.formats.vdbench.filesystem.tree import Formatting
from plimsoll.formats.vdbench.model import Definition
from plimsoll.formats.vdbench.storage import Planning

__all__ = ["file_system_runs"]

Json = dict[str, Any]

_ONE_OPERATION = {"duration": "1s", "warmup": "0s", "interval": "1s"}
_NO_POINT = {
    "clean": "nothing is deleted without a run that needs it so; the nearest thing is to remove the directory yourself",
    "directories": "directories alone are not laid out without a run that needs them so; the nearest thing is format=only",
}


def file_system_runs(planning: Planning) -> tuple[list[Json], list[Json]]:
    """Workloads and experiments of all runs of a file."""
    formats = {run: Formatting.of(run) for run in planning.file.of("rd").values()}
    forest = Forest(planning)
    for fsd in forest.seats:
        # Every anchor has its verdict, also where no run measures anything.
        planning.used.add(fsd)
    made = Runs(planning, Family("fwdrate", LOOPS, AXES, partial(FileComposer, forest)))
    measured = [run for run, found in formats.items() if not found.only]
    worked_on = {fsd for run in measured for fsd in forest.fsds_of(run)}
    for run, found in formats.items():
        if not found.only:
            found.say(run, planning.verdicts)
            made.run(run)
            continue
        covered = set(forest.fsds_of(run)) <= worked_on
        _say_of_formatting(planning, run, found, covered=covered)
        if not covered and not _no_point(found):
            made.point(run, FileComposer(forest, planning, run, []).formatted(), _ONE_OPERATION)
    return made.tables()


def _say_of_formatting(planning: Planning, run: Definition, found: Formatting, *, covered: bool) -> None:
    """What becomes of a run that only formats."""
    verdicts = planning.verdicts
    planning.used.add(run)
    parameter = run.get("format") or run.head
    if covered:
        verdicts.native(parameter, "no point of its own: every run lays out what it needs before it begins")
    elif why := _no_point(found):
        verdicts.unsupported(parameter, why)
    else:
        verdicts.native(parameter, "the trees are laid out, and one stat makes a point of it; with --keep they stay when the run has ended")
    for entry, other in run.parameters():
        if entry.name not in ("format", "fwd") and other is not parameter:
            verdicts.native(other, "the run only formats, so it changes nothing")


def _no_point(found: Formatting) -> str:
    """Why a run that only formats cannot be a point; nothing where it can."""
    return next((why for word, why in _NO_POINT.items() if word in found.words), "")
