"""The FWDs of a run, the FSDs that these work on, and the directory in which the tree of each FSD lies.

Model: every anchor is a directory of its own; a run on several has them all as its target (``concat:``), each with one tree. So Plimsoll
judges, claims and marks what the file names, and nothing above it. Below a typed target the trees lie as their anchors lie below the
deepest directory above all that any run uses together. FSDs of one anchor are one tree. Anchors in each other are an error, as in Vdbench.

    seats(groups, verdicts)[fsd].directory                     # '/data/tree1'
    seats(groups, verdicts, "/mnt/t")[fsd].directory, ….path   # '/mnt/t', 'tree1'
    forest = Forest(planning)
    forest.workloads_of(run), forest.fsds_of(run), forest.seats[fsd].target
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from plimsoll.displayed import quoted
from plimsoll.formats.vdbench.model import Definition, Parameter, Verdicts
from plimsoll.formats.vdbench.storage import Planning
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


def seats(groups: Sequence[Sequence[Definition]], verdicts: Verdicts, target: str = "") -> dict[Definition, Seat]:
    """The seat of every FSD, from the FSDs of each run, below a typed ``target`` if there is one.

    Raises `InputError` for anchors that cannot be.
    """
    every = list(dict.fromkeys(fsd for group in groups for fsd in group))
    paths = {fsd: _path(fsd) for fsd in every}
    if target:
        paths = {fsd: _below_root(path) for fsd, path in paths.items()}
    _check(every, paths)
    found: dict[Definition, Seat] = {}
    for together in _joined(groups, paths):
        named = _names(together, paths)
        if target:
            found |= _moved(together, paths, named, target)
        else:
            found |= {fsd: Seat(paths[fsd], "", named[fsd]) for fsd in together}
            _say(together, verdicts, alone=len({paths[fsd] for fsd in together}) == 1)
    if target:
        _say_of_target(found, verdicts)
    return found


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
    parameter = fsd.get("anchor")
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
        ours, theirs = fsd.get(name), other.get(name)
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


def _say(together: Sequence[Definition], verdicts: Verdicts, *, alone: bool) -> None:
    what = "the target; Plimsoll makes the directory" if alone else "a directory of the target, with a marker of its own; Plimsoll makes it"
    for fsd in together:
        anchor = _anchor(fsd)
        if _OF_WINDOWS.match(anchor.word):
            verdicts.unsupported(anchor, "it is a directory of Windows; name one of this system with --target, or with anchor=")
        else:
            verdicts.native(anchor, f"{what}, or takes one that it made")


def _say_of_target(found: dict[Definition, Seat], verdicts: Verdicts) -> None:
    for fsd, seat in found.items():
        below = f", below which the tree lies in {seat.path}" if seat.path else ""
        verdicts.native(_anchor(fsd), f"--target {seat.directory} takes its place{below}")


#: The FWD that says how Vdbench formats; it is never run.
FORMAT = "format"


class Forest:
    """The trees of all runs of a file."""

    def __init__(self, planning: Planning) -> None:
        self._planning = planning
        self._say_of_format()

    @cached_property
    def seats(self) -> dict[Definition, Seat]:
        """Where the tree of every FSD lies that a run works on."""
        groups = [self.fsds_of(run) for run in self._planning.file.of("rd").values()]
        return seats(groups, self._planning.verdicts, self._planning.targets.target)

    def workloads_of(self, run: Definition) -> list[Definition]:
        """The FWDs of a run."""
        parameter = run.get("fwd")
        if parameter is None:
            raise run.head.wrong(f"RD {quoted(run.name)} has no fwd; write fwd=NAME, or fwd=* for all of them.")
        known = {name: fwd for name, fwd in self._planning.file.of("fwd").items() if name != FORMAT}
        found = [known[name] for name in chosen(parameter, list(known))]
        self._planning.used |= set(found)
        return found

    def fsds_of_workload(self, workload: Definition) -> list[Definition]:
        """The FSDs that a FWD works on."""
        parameter = workload.get("fsd")
        if parameter is None:
            raise workload.head.wrong(f"FWD {quoted(workload.name)} has no fsd; write fsd=NAME, or fsd=* for all of them.")
        known = self._planning.file.of("fsd")
        found = [known[name] for name in chosen(parameter, list(known))]
        self._planning.used |= set(found)
        return found

    def target_of(self, workload: Definition) -> Definition | None:
        """The FSD that files are copied or moved to."""
        parameter = workload.get("target")
        if parameter is None:
            return None
        known = self._planning.file.of("fsd")
        found = chosen(parameter, list(known))
        if len(found) != 1 or known[found[0]] in self.fsds_of_workload(workload):
            raise parameter.wrong("copy and move go to one other FSD; write target=NAME with one that the FWD does not work on.")
        self._planning.used.add(known[found[0]])
        return known[found[0]]

    def fsds_of(self, run: Definition) -> list[Definition]:
        """The FSDs that a run works on, those that it copies to among them."""
        found: dict[Definition, None] = {}
        for workload in self.workloads_of(run):
            target = self.target_of(workload)
            found |= dict.fromkeys([*self.fsds_of_workload(workload), *([] if target is None else [target])])
        return list(found)

    def _say_of_format(self) -> None:
        found = self._planning.file.of("fwd").get(FORMAT)
        if found is None:
            return
        self._planning.used.add(found)
        self._planning.verdicts.native(found.head, "it says how Vdbench formats")
        for name, parameter in found.own.items():
            if name != "fwd":
                self._planning.verdicts.ignored(parameter, "Plimsoll lays trees out with threads and sizes of its own")
