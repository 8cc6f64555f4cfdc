"""The FWDs of a run, the FSDs that these work on, and the directory in which the tree of each FSD lies.

Model: every anchor is a directory of its own; a run on several has them all as its target (``concat:``), each with one tree. So Plimsoll
judges, claims and marks what the file names, and nothing above it. Below a typed target the trees lie as their anchors lie below the
deepest directory above all that any run uses together. FSDs of one anchor are one tree. Anchors in each other are an error, as in Vdbench.

    seats(groups)[0][fsd].directory                     # '/data/tree1'
    seats(groups, "/mnt/t")[0][fsd].directory, ….path   # '/mnt/t', 'tree1'
    forest = Forest(planning)
    forest.workloads[run], forest.fsds_of_run[run], forest.seats[fsd].directory
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from plimsoll.displayed import quoted
from plimsoll.formats.vdbench.model import Definition, Parameter
from plimsoll.formats.vdbench.notes import Note, Notes, ignored, native, unsupported
from plimsoll.formats.vdbench.resolve import Planning, RunSettings, WorkloadSettings
from plimsoll.formats.vdbench.values import chosen, filled, slug, unique

_OF_WINDOWS = re.compile(r"[A-Za-z]:|\\|//")
#: What two FSDs of one anchor have in common.
_STRUCTURE = ("depth", "width", "files", "sizes", "distribution", "totalsize", "workingsetsize")


@dataclass(frozen=True)
class Seat:
    """Where the tree of an FSD lies: a directory, the path below it (empty for the directory itself), and the tree's name."""

    directory: str
    path: str
    name: str


def seats(groups: Sequence[Sequence[Definition]], target: str = "") -> tuple[dict[Definition, Seat], Notes]:
    """The seat of every FSD, from the FSDs of each run, below a typed ``target`` if there is one, and what to say of anchors.

    Raises `InputError` for anchors that cannot be.
    """
    every = list(dict.fromkeys(fsd for group in groups for fsd in group))
    paths = {fsd: _path(fsd) for fsd in every}
    if target:
        paths = {fsd: _below_root(path) for fsd, path in paths.items()}
    _check(every, paths)
    found: dict[Definition, Seat] = {}
    notes: list[Note] = []
    for together in _joined(groups, paths):
        named = _names(together, paths)
        if target:
            found |= _moved(together, paths, named, target)
        else:
            found |= {fsd: Seat(paths[fsd], "", named[fsd]) for fsd in together}
            notes += _anchor_notes(together, alone=len({paths[fsd] for fsd in together}) == 1)
    return found, (*notes, *(_target_notes(found) if target else ()))


def _below_root(path: str) -> str:
    """An anchor as if it hung below the root: without a drive, and with slashes."""
    return posixpath.normpath(f"/{re.sub(r'^[A-Za-z]:', '', path).replace(chr(92), '/')}")


def _moved(
    together: Sequence[Definition], paths: dict[Definition, str], names: dict[Definition, str], target: str
) -> dict[Definition, Seat]:
    """The seats below the typed target."""
    distinct = list(dict.fromkeys(paths[fsd] for fsd in together))
    above = posixpath.commonpath(distinct)
    return {fsd: Seat(target, "" if paths[fsd] == above else posixpath.relpath(paths[fsd], above), names[fsd]) for fsd in together}


def _anchor(fsd: Definition) -> Parameter:
    parameter = fsd.given.get("anchor")
    if parameter is None:
        raise fsd.head.wrong(f"FSD {quoted(fsd.name)} has no anchor; write for example anchor=/data/tree.")
    return parameter


def _path(fsd: Definition) -> str:
    word = _anchor(fsd).word
    return posixpath.normpath(word if fsd.number is None else filled(word, fsd.number))


def _check(every: Sequence[Definition], paths: dict[Definition, str]) -> None:
    for number, fsd in enumerate(every):
        for other in every[:number]:
            outer, inner = sorted((paths[fsd], paths[other]), key=len)
            if outer == inner:
                _check_alike(fsd, other)
            elif inner.startswith(outer.rstrip("/") + "/"):
                theirs = f"{paths[other]}, the anchor of FSD {quoted(other.name)}"
                raise _anchor(fsd).wrong(f"{paths[fsd]} and {theirs}, lie in each other; write anchors beside each other.")


def _check_alike(fsd: Definition, other: Definition) -> None:
    for name in _STRUCTURE:
        ours, theirs = fsd.given.get(name), other.given.get(name)
        if (ours.texts if ours else ()) != (theirs.texts if theirs else ()):
            where = ours or _anchor(fsd)
            raise where.wrong(f"FSD {quoted(other.name)} has the same anchor with another {name}; write the same one, or another anchor.")


def _joined(groups: Sequence[Sequence[Definition]], paths: dict[Definition, str]) -> list[list[Definition]]:
    """The groups, with those joined that have an FSD or an anchor in common."""
    found: list[list[Definition]] = []
    for group in groups:
        here = {paths[fsd] for fsd in group}
        touching = [other for other in found if here & {paths[fsd] for fsd in other}]
        found = [other for other in found if other not in touching]
        found.append(list(dict.fromkeys([fsd for other in touching for fsd in other] + list(group))))
    return found


def _names(together: Sequence[Definition], paths: dict[Definition, str]) -> dict[Definition, str]:
    """The name of each FSD's tree, which is its own but for those of one anchor."""
    taken: set[str] = set()
    names: dict[str, str] = {}
    for fsd in together:
        if paths[fsd] not in names:
            names[paths[fsd]] = unique(slug(fsd.name), taken)
    return {fsd: names[paths[fsd]] for fsd in together}


def _anchor_notes(together: Sequence[Definition], *, alone: bool) -> Iterator[Note]:
    what = "the target; Plimsoll makes the directory" if alone else "a directory of the target, with a marker of its own; Plimsoll makes it"
    for fsd in together:
        anchor = _anchor(fsd)
        if _OF_WINDOWS.match(anchor.word):
            yield unsupported(anchor, "it is a directory of Windows; name one of this system with --target, or with anchor=")
        else:
            yield native(anchor, f"{what}, or takes one that it made")


def _target_notes(found: dict[Definition, Seat]) -> Iterator[Note]:
    for fsd, seat in found.items():
        below = f", below which the tree lies in {seat.path}" if seat.path else ""
        yield native(_anchor(fsd), f"--target {seat.directory} takes its place{below}")


#: The FWD that says how Vdbench formats; it is never run.
FORMAT = "format"


class Forest:
    """The trees of all runs of a file."""

    def __init__(self, planning: Planning) -> None:
        self._planning = planning
        #: By run its FWDs, by FWD its FSDs and the one that files are copied or moved to, by run all FSDs that it works on.
        self.workloads: dict[RunSettings, list[WorkloadSettings]] = {}
        self.fsds: dict[WorkloadSettings, list[Definition]] = {}
        self.targets: dict[WorkloadSettings, Definition | None] = {}
        self.fsds_of_run: dict[RunSettings, list[Definition]] = {}
        for run in planning.runs:
            self._add(run)
        groups = list(self.fsds_of_run.values())
        #: Where the tree of every FSD lies that a run works on.
        self.seats, said = seats(groups, planning.targets.target)
        #: What is to be said of anchors, and of how Vdbench formats.
        self.notes: Notes = (*self._format_notes(), *said)

    @property
    def used(self) -> frozenset[Definition]:
        """The FWDs and FSDs of all runs, and the FWD that says how Vdbench formats."""
        formatting = self._planning.fwds.get(FORMAT)
        workloads = (*self.fsds, *([] if formatting is None else [formatting]))
        return frozenset((*self.seats, *(workload.definition for workload in workloads)))

    def _add(self, run: RunSettings) -> None:
        """What a run works on; raises `InputError` for names that mean nothing."""
        self.workloads[run] = _workloads_of(run, self._planning.fwds)
        known = self._planning.fsds
        found: dict[Definition, None] = {}
        for workload in self.workloads[run]:
            self.targets[workload] = target = _target_of(workload, known)
            self.fsds[workload] = fsds = _fsds_of(workload, known)
            found |= dict.fromkeys([*fsds, *([] if target is None else [target])])
        self.fsds_of_run[run] = list(found)

    def _format_notes(self) -> Iterator[Note]:
        found = self._planning.fwds.get(FORMAT)
        if found is None:
            return
        yield native(found.head, "it says how Vdbench formats")
        for name, parameter in found.definition.own.items():
            if name != "fwd":
                yield ignored(parameter, "Plimsoll lays trees out with threads and sizes of its own")


def _workloads_of(run: RunSettings, known: Mapping[str, WorkloadSettings]) -> list[WorkloadSettings]:
    if run.fwd is None:
        raise run.head.wrong(f"RD {quoted(run.name)} has no fwd; write fwd=NAME, or fwd=* for all of them.")
    return [known[name] for name in chosen(run.fwd, [name for name in known if name != FORMAT])]


def _fsds_of(workload: WorkloadSettings, known: Mapping[str, Definition]) -> list[Definition]:
    if workload.fsd is None:
        raise workload.head.wrong(f"FWD {quoted(workload.name)} has no fsd; write fsd=NAME, or fsd=* for all of them.")
    return [known[name] for name in chosen(workload.fsd, list(known))]


def _target_of(workload: WorkloadSettings, known: Mapping[str, Definition]) -> Definition | None:
    parameter = workload.target
    if parameter is None:
        return None
    found = chosen(parameter, list(known))
    if len(found) != 1 or known[found[0]] in _fsds_of(workload, known):
        raise parameter.wrong("copy and move go to one other FSD; write target=NAME with one that the FWD does not work on.")
    return known[found[0]]
