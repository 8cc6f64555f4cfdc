"""Anchors: where on the target the tree of each FSD lies.

Model: a tree alone has its anchor as the target. FSDs that any run uses together share a target, the deepest directory above all of their
anchors, and each has the rest of its path. FSDs of one anchor are one tree. Anchors in each other are an error, as in Vdbench.
Limits: anchors that have nothing above them in common but the root are not used together.

    seats(groups, verdicts)[fsd].target, seats(groups, verdicts)[fsd].path        # ('/data', 'tree1')
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from plimsoll.formats.vdbench.definition import Definition
from plimsoll.formats.vdbench.naming import slug, unique
from plimsoll.formats.vdbench.numbered import filled
from plimsoll.formats.vdbench.parameter import Parameter
from plimsoll.formats.vdbench.storage import plain_path
from plimsoll.formats.vdbench.verdicts import Verdicts

_OF_WINDOWS = re.compile(r"[A-Za-z]:|\\|//")
#: What two FSDs of one anchor have in common.
_STRUCTURE = ("depth", "width", "files", "sizes", "distribution", "totalsize", "workingsetsize")


@dataclass(frozen=True)
class Seat:
    """Where the tree of an FSD lies: the target, the path below it (empty for the target itself), and the tree's name."""

    target: str
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
        found |= _moved(_seated(together, paths), target, verdicts) if target else _said(_seated(together, paths), verdicts)
    return found


def _below_root(path: str) -> str:
    """An anchor as if it hung below the root: without a drive, and with slashes."""
    return posixpath.normpath(f"/{re.sub(r'^[A-Za-z]:', '', path).replace(chr(92), '/')}")


def _moved(found: dict[Definition, Seat], target: str, verdicts: Verdicts) -> dict[Definition, Seat]:
    """The seats below the typed target."""
    for fsd, seat in found.items():
        verdicts.native(
            _anchor(fsd), f"--target {target} takes its place" + (f", below which the tree lies in {seat.path}" if seat.path else "")
        )
    return {fsd: replace(seat, target=target) for fsd, seat in found.items()}


def _said(found: dict[Definition, Seat], verdicts: Verdicts) -> dict[Definition, Seat]:
    for fsd, seat in found.items():
        _say(fsd, seat, verdicts)
    return found


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


def _seated(together: Sequence[Definition], paths: dict[Definition, str]) -> dict[Definition, Seat]:
    distinct = list(dict.fromkeys(paths[fsd] for fsd in together))
    above = distinct[0] if len(distinct) == 1 else _above(distinct)
    taken: set[str] = set()
    names: dict[str, str] = {}
    found = {}
    for fsd in together:
        path = paths[fsd]
        names.setdefault(path, "" if path in names else unique(slug(fsd.name), taken))
        rest = "" if path == above else posixpath.relpath(path, above or "/")
        found[fsd] = Seat(plain_path(above or "/"), rest, names[path])
    return found


def _above(paths: Sequence[str]) -> str:
    """The deepest directory above all of them; nothing where that is the root, or where some are relative and some are not."""
    try:
        common = posixpath.commonpath(paths)
    except ValueError:
        return ""
    return "" if common.strip("/") == "" and paths[0].startswith("/") else common or "."


def _say(fsd: Definition, seat: Seat, verdicts: Verdicts) -> None:
    anchor = _anchor(fsd)
    if _OF_WINDOWS.match(anchor.word):
        verdicts.unsupported(anchor, "it is a directory of Windows; name one of this system with --target, or with anchor=")
    elif seat.target == "/" and seat.path:
        why = (
            "a run works below one target, and the anchors of its FSDs have nothing above them in common; the nearest things are anchors "
            "below one directory, a directory named with --target, or an RD for each FSD"
        )
        verdicts.unsupported(anchor, why)
    elif seat.path:
        why = f"FSDs that runs use together lie below one target, {seat.target}; this one is the tree {seat.name!r} there, in {seat.path}"
        verdicts.native(anchor, why)
    else:
        verdicts.native(anchor, "the target; Plimsoll makes the directory, or takes one that it made")
