"""Workloads on file systems: FSDs become trees, FWDs become streams of file operations, runs become experiments of driver ``files``.

Model: `forest` finds which FSDs a run works on and where their trees lie, `tree` translates one FSD and reads what a run formats, `stream`
translates one FWD, `composer` puts a round of a run together. Runs that only format lay out by way of the runs that follow; one whose trees
no other run works on becomes a point of a single operation.
Limits: as of the driver: files are selected at random, in order, or once; nothing in them is verified.

    made = file_system_runs(planning)
    made.workloads, made.experiments
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from plimsoll.formats.vdbench.experiments import Family, Made, Runs
from plimsoll.formats.vdbench.filesystem.composer import AXES, LOOPS, FileComposer
from plimsoll.formats.vdbench.filesystem.forest import Forest
from plimsoll.formats.vdbench.filesystem.tree import Formatting
from plimsoll.formats.vdbench.notes import Note, native, unsupported
from plimsoll.formats.vdbench.resolve import Planning, RunSettings

__all__ = ["file_system_runs"]

_ONE_OPERATION = {"duration": "1s", "warmup": "0s", "interval": "1s"}
_NO_POINT = {
    "clean": "nothing is deleted without a run that needs it so; the nearest thing is to remove the directory yourself",
    "directories": "directories alone are not laid out without a run that needs them so; the nearest thing is format=only",
}


def file_system_runs(planning: Planning) -> Made:
    """Workloads and experiments of all runs of a file."""
    formats = {run: Formatting.of(run.format) for run in planning.runs}
    forest = Forest(planning)
    made = Runs(planning, Family("fwdrate", LOOPS, AXES, partial(FileComposer, forest)))
    # Every anchor has its verdict, also where no run measures anything.
    made.say(forest.notes, forest.used)
    measured = [run for run, found in formats.items() if not found.only]
    worked_on = {fsd for run in measured for fsd in forest.fsds_of_run[run]}
    for run, found in formats.items():
        if not found.only:
            made.say(found.notes(run.format), ())
            made.run(run)
            continue
        covered = set(forest.fsds_of_run[run]) <= worked_on
        made.say(_formatting_notes(run, found, covered=covered), (run.definition,))
        if not covered and not _no_point(found):
            made.point(run, FileComposer(forest, planning, run, []).formatted(), _ONE_OPERATION)
    return made.made()


def _formatting_notes(run: RunSettings, found: Formatting, *, covered: bool) -> Iterator[Note]:
    """What becomes of a run that only formats."""
    parameter = run.format or run.head
    if covered:
        yield native(parameter, "no point of its own: every run lays out what it needs before it begins")
    elif why := _no_point(found):
        yield unsupported(parameter, why)
    else:
        yield native(parameter, "the trees are laid out, and one stat makes a point of it; with --keep they stay when the run has ended")
    for entry, other in run.definition.parameters:
        if entry.name not in ("format", "fwd") and other is not parameter:
            yield native(other, "the run only formats, so it changes nothing")


def _no_point(found: Formatting) -> str:
    """Why a run that only formats cannot be a point; nothing where it can."""
    return next((why for word, why in _NO_POINT.items() if word in found.words), "")
