"""What Iometer's targets are here, and how several of them become the one target of a job.

Model: Linux names are kept (``sdb`` is ``/dev/sdb``; of a mounted file system the file ``iobw.tst``, as Iometer does). Drive letters and
physical drives of Windows have no counterpart: alone they are whatever the caller measures, beside others each is a scratch file. Several
targets become a concatenation, of which each stream uses its part. How long a file is made says the caller, or the maximum disk size that
its workers have.

    storage = Storage.of("sdb", {})
    storage.path                              # '/dev/sdb'
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from plimsoll.formats.known_targets import KnownTargets
from plimsoll.formats.parts import TargetParts

SECTOR = 512
#: Scratch files are made in steps of this.
STEP = 4096
TEST_FILE = "iobw.tst"

_DISK = re.compile(r"(?:sd[a-z]+|hd[a-z]+|vd[a-z]+|xvd[a-z]+)\d*|nvme\d+n\d+(?:p\d+)?|md\d+|dm-\d+|loop\d+|mmcblk\d+(?:p\d+)?|ram\d+")
_RAW = re.compile(r"raw\d+")
_MOUNTED = re.compile(r"(/.*?)(?:\s*\[[^\]]*\])?")
_LETTER = re.compile(r"([A-Za-z]):.*")


@dataclass(frozen=True)
class Counterpart:
    """What the caller says a target of the file is here; a size that is left open is looked up."""

    path: str
    size_bytes: int | None = None


#: The size of a path in bytes; None where it does not exist, or nobody can look.


@dataclass(frozen=True)
class Storage:
    """A target of the file: its counterpart here if there is one.

    ``is_file``: made by us when it does not exist. ``stands_in``: a scratch file in the place of a drive. ``typed``: the target of the
    command line. ``given``: its size where the file says none and nothing is there; ``overrides``: the size of all that is made.
    ``remedy``: what to do where a size is missing.
    """

    name: str
    path: str | None
    is_file: bool
    size_bytes: int | None = None
    stands_in: bool = False
    typed: bool = False
    given: int | None = None
    overrides: bool = False
    remedy: str = ""

    @classmethod
    def of(cls, name: str, counterparts: Mapping[str, Counterpart]) -> Storage:
        """What ``name`` is."""
        if name in counterparts:
            return cls(name, counterparts[name].path, is_file=False, size_bytes=counterparts[name].size_bytes)
        if name.startswith("/dev/"):
            return cls(name, name, is_file=False)
        if _DISK.fullmatch(name):
            return cls(name, f"/dev/{name}", is_file=False)
        if _RAW.fullmatch(name):
            return cls(name, f"/dev/raw/{name}", is_file=False)
        mounted = _MOUNTED.fullmatch(name)
        if mounted:
            return cls(name, f"{mounted[1].rstrip('/')}/{TEST_FILE}", is_file=True)
        return cls(name, None, is_file=_LETTER.fullmatch(name) is not None)

    def made(self, number: int) -> Storage:
        """With a scratch file in the place of what has no counterpart."""
        if self.path is not None:
            return self
        letter = _LETTER.fullmatch(self.name)
        return replace(self, path=f"iobw-{letter[1].lower() if letter else number}.tst", stands_in=True)

    def measured(self, targets: KnownTargets) -> Storage:
        """With the size that it has now, where it exists, or the one that was given."""
        drive = self.stands_in and not self.is_file
        # A scratch file in the place of a physical drive is only the nearest thing, whatever its size.
        if self.size_bytes is not None or self.path is None or (drive and targets.given is None):
            return replace(self, remedy=targets.remedy)
        size = targets(self.path)
        given = targets.given if size is None else None
        overrides = targets.overrides and targets.given is not None
        return replace(self, size_bytes=size, given=given, overrides=overrides, is_file=self.is_file or drive, remedy=targets.remedy)


def storages_of(names: Iterable[str], counterparts: Mapping[str, Counterpart], targets: KnownTargets) -> tuple[Storage, ...]:
    """What targets of these names are; beside each other, drives without counterpart are scratch files."""
    if targets.target:
        size = targets(targets.target)
        return tuple(Storage(name, targets.target, is_file=size is None, size_bytes=size, typed=True) for name in names)
    found = [Storage.of(name, counterparts) for name in names]
    if len(found) < 2:
        return tuple(found)
    return tuple(item.made(number).measured(targets) for number, item in enumerate(found, start=1))


@dataclass(frozen=True)
class Layout:
    """Where the storages lie in the target of a job. ``target`` is None for whatever the caller measures; ``size_bytes`` is the size of
    scratch files; ``parts`` numbers the parts of a concatenation, ``lengths`` are in bytes where a region has to end before the target;
    ``sizes_missing`` names files of which nothing says how long they are made."""

    target: str | None
    label: str
    size_bytes: int | None
    parts: Mapping[str, int]
    lengths: Mapping[str, int | None]
    sizes_missing: tuple[str, ...] = ()


def laid_out(storages: Sequence[Storage], needed: Mapping[str, int]) -> Layout:
    """One target of ``storages``; ``needed`` says how many bytes of each are used, 0 for all there are."""
    if storages and storages[0].typed:
        return _shared(storages, needed)
    if len(storages) > 1:
        return _concatenated(storages, needed)
    if not storages:
        return Layout(None, "", None, {}, {})
    only = storages[0]
    size = _rounded(needed[only.name]) if only.is_file or only.path is None else 0
    return Layout(only.path, only.name, size or None, {}, {only.name: None})


def _shared(storages: Sequence[Storage], needed: Mapping[str, int]) -> Layout:
    """The typed target, from its start on for each."""
    first, label = storages[0], storages[0].name if len(storages) == 1 else "all targets"
    size = max(_rounded(needed[item.name]) for item in storages) if first.is_file and all(needed[item.name] for item in storages) else 0
    alone = len(storages) == 1
    return Layout(
        first.path,
        label,
        size or None,
        {},
        {item.name: None if alone else item.size_bytes for item in storages},
    )


def _concatenated(storages: Sequence[Storage], needed: Mapping[str, int]) -> Layout:
    """Each file that is not there is made as long as is used of it."""
    made = {item.name: _rounded(needed[item.name]) or item.given for item in storages if item.is_file and item.size_bytes is None}
    unsized = [item for item in storages if item.size_bytes is None and (item.is_file or item.stands_in)]
    missing = tuple(item.name for item in unsized if not made.get(item.name))
    sizes = [made.get(item.name) or None for item in storages]
    if None not in sizes and any(item.overrides for item in storages):
        # A typed size is that of all files alike.
        sizes = [max(size for size in sizes if size)] * len(sizes)
    placed = TargetParts(tuple(item.path or "" for item in storages), tuple(sizes))
    parts = {item.name: number for number, item in enumerate(storages)}
    return Layout(placed.target, "all targets", placed.size_bytes, parts, dict.fromkeys(parts), missing)


def _rounded(size_bytes: int) -> int:
    return -(-size_bytes // STEP) * STEP
