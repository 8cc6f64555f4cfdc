"""The targets that the page may measure, and which of them it may overwrite: what was typed at start and nothing else.

Model: ``--destroy-data=SERIAL|PATH`` belongs to the target that it names, and to no other; without a name it belongs to the only target.
A path can lead to another disk by the time somebody presses a button, so a permission holds for the storage that was there at start.
Limits: whether writing is safe is judged by the started command, as for one that was typed.

    grants(["fast=/dev/sdb", "/dev/sdc"], ["WD-123"])       # the serial of sdb: sdc is only read
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from plimsoll.displayed import quoted
from plimsoll.engine import block as block_engine
from plimsoll.errors import InputError, PlimsollError, SafetyRefusal
from plimsoll.experiments.named_target import named_target
from plimsoll.host.target import target_facts, target_identity, target_paths
from plimsoll.stored import Inspection
from plimsoll.target import target_of


@dataclass(frozen=True)
class Grant:
    """A target as it was typed, what it is called, and the words of ``--destroy-data`` that name it; None where it is only read."""

    typed: str
    called: str
    destroys: str | None = None
    #: What storage the permission was given for.
    identity: tuple[str, ...] = ()

    @property
    def target(self) -> str:
        """Without the name of its side."""
        return named_target(self.typed).target

    def check(self) -> None:
        """Raise `SafetyRefusal` when the permission was given for other storage than is there now."""
        if self.destroys is not None and self.identity != _identity(self.target):
            raise SafetyRefusal(
                f"{self.called} is no longer the storage that --destroy-data was given for; look at it, and start 'plimsoll serve' anew."
            )


def grants(targets: Sequence[str], typed: Sequence[str]) -> tuple[Grant, ...]:
    """A grant for each target. Raises `InputError` for a permission that does not say for what it is."""
    named = [named_target(target) for target in targets]
    called = [one.called for one in named]
    twice = next((name for name in called if called.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"--target {twice} is given twice; name each target once.")
    if "" in typed and len(targets) != 1:
        raise InputError(f"--destroy-data does not say which of {len(targets)} targets it is for; write --destroy-data=SERIAL or =PATH.")
    of_target = [_names(one.target) for one in named]
    for words in typed:
        if words and not any(_naming(words, names) for names in of_target):
            raise InputError(f"--destroy-data={words} names none of the targets; write the path or the serial number of one.")
    return tuple(
        Grant(typed_target, name, words, _identity(one.target) if words is not None else ())
        for typed_target, one, name, words in zip(targets, named, called, [_permission(typed, names) for names in of_target], strict=True)
    )


def _permission(typed: Sequence[str], names: frozenset[str]) -> str | None:
    """The words that name this target; an empty text is the bare option, and None no permission."""
    found = [piece for words in typed for piece in _naming(words, names)]
    if found:
        return ",".join(dict.fromkeys(found))
    return "" if "" in typed else None


def _naming(words: str, names: frozenset[str]) -> list[str]:
    """The pieces of ``words`` that name a target; a path may have a comma in it."""
    whole = words.strip()
    if _names_one(whole, names):
        return [whole]
    return [piece for piece in (one.strip() for one in whole.split(",")) if _names_one(piece, names)]


def _names_one(word: str, names: frozenset[str]) -> bool:
    return bool(word) and (word in names or (os.sep in word and os.path.realpath(word) in names))


def _names(target: str) -> frozenset[str]:
    """What a target answers to: its paths and the serial numbers of its devices."""
    found = _inspected(target)
    if found is None:
        path = _path_of(target)
        return frozenset((path, os.path.realpath(path)))
    paths = target_paths(found)
    devices = [device for device in target_facts(found).get("devices", []) if device.get("below") is None]
    # Of a file the devices below are not the target: their serial number gives no leave to write to it.
    serials = [str(device["serial"]) for device in devices if device.get("serial")] if found.get("kind") != "file" else []
    return frozenset((*paths, *map(os.path.realpath, paths), *serials))


def _identity(target: str) -> tuple[str, ...]:
    found = _inspected(target)
    if found is not None:
        return tuple(target_identity(found))
    try:
        there = os.stat(_path_of(target))
    except OSError:
        return ("nothing",)
    return (f"device {there.st_dev}, inode {there.st_ino}",)


def _path_of(target: str) -> str:
    """Of a target of an application, such as ``duckdb:/mnt/array/dss``, or a directory."""
    kind, colon, path = target.partition(":")
    return path if colon and os.sep not in kind else target


def _inspected(target: str) -> Inspection | None:
    """What the block engine sees of it; None for what only other drivers measure."""
    try:
        return block_engine.native().inspect_target(target_of(target))
    except PlimsollError:
        return None


def meant(called: str, given: Sequence[Grant]) -> Grant:
    """The grant of that name; raises `InputError` for a target that was not given."""
    for grant in given:
        if grant.called == called:
            return grant
    raise InputError(f"{quoted(called)} is no target of this page; the targets are given to 'plimsoll serve' with --target.")
