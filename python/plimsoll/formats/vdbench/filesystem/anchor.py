"""Anchors: in which directory the tree of each FSD lies.

Model: every anchor is a directory of its own; a run on several has them all as its target (``concat:``), each with one tree. So Plimsoll
judges, claims and marks what the file names, and nothing above it. Below a typed target the trees lie as their anchors lie below the
deepest directory above all that any run uses together. FSDs of one anchor are one tree. Anchors in each other are an error, as in Vdbench.

    seats(groups, verdicts)[fsd].directory                     # '/data/tree1'
    seats(groups, verdicts, "/mnt/t")[fsd].directory, ….path   # '/mnt/t', 'tree1'
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from dataclasses import dataclass

from plimsoll.formats.vdbench.definition import Definition
from plimsoll.formats.vdbench.naming import slug, unique
from plimsoll.formats.vdbench.numbered import filled
from plimsoll.formats.vdbench.parameter import Parameter
from plimsoll.formats.vdbench.verdicts import Verdicts

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
        raise fsd.head.wrong(f"FSD {fsd.name!r} has no anchor; write for example anchor=/data/tree.")
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
                theirs = f"{paths[other]}, the anchor of FSD {other.name!r}"
                raise _anchor(fsd).wrong(f"{paths[fsd]} and {theirs}, lie in each other; write anchors beside each other.")


def _check_alike(fsd: Definition, other: Definition) -> None:
    for name in _STRUCTURE:
        ours, theirs = fsd.get(name), other.get(name)
        if (ours.texts if ours else ()) != (theirs.texts if theirs else ()):
            where = ours or _anchor(fsd)
            raise where.wrong(f"FSD {other.name!r} has the same anchor with another {name}; write the same one, or another anchor.")


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
