"""The files of the I/O test: how large each is, made, found again, and named as one target of the block engine.

Model: the total is shared out evenly, in whole requests. Where the file system has no room for it, files are smaller, and a tenth of what
is free stays free. A note beside them says what they are and whether they were written to their end.
Limits: room is what the file system says is free before, with what earlier files of the test take.

    found = extent("/mnt/array/iotest/io-test", 8, "memory", 65536)
    found.file_bytes, found.is_shrunk
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

from plimsoll.apps.io_test.options import MEMORY
from plimsoll.errors import TargetError
from plimsoll.host.device import free_bytes
from plimsoll.host.machine import meminfo
from plimsoll.stored import Json
from plimsoll.target import Target
from plimsoll.units import binary, size_bytes

#: So much of what is free stays free.
_KEPT_FREE = 0.1
_NOTE = "files.json"


@dataclass(frozen=True)
class Extent:
    """How many files of which size. ``wanted_bytes`` is what all together should have been, ``memory_bytes`` the memory of the host."""

    streams: int
    file_bytes: int
    wanted_bytes: int
    memory_bytes: int

    @property
    def total_bytes(self) -> int:
        """All files together."""
        return self.streams * self.file_bytes

    @property
    def is_shrunk(self) -> bool:
        """Whether there was not room enough: more is missing than the rounding to whole requests took."""
        return self.total_bytes < 0.99 * self.wanted_bytes

    def to_json(self) -> Json:
        """For notes and results."""
        return {**asdict(self), "total_bytes": self.total_bytes, "is_shrunk": self.is_shrunk}


def extent(home: str, streams: int, total: str, block_bytes: int) -> Extent:
    """The files that ``total`` asks for, as large as the file system lets them be. Raises `TargetError` where there is no room at all."""
    memory = meminfo("MemTotal")
    wanted = memory if total == MEMORY else size_bytes(total)
    free = free_bytes(home) + sum(os.stat(path).st_blocks * 512 for path in paths(home))
    room = int(free * (1 - _KEPT_FREE))
    file_bytes = min(wanted, room) // streams // block_bytes * block_bytes
    if file_bytes == 0:
        raise TargetError(
            f"{home}: {binary(min(wanted, room))} are too little for {streams} files of a request each; "
            "make room, or ask for fewer streams (--set streams=)."
        )
    return Extent(streams, file_bytes, wanted, memory)


def paths(home: str) -> list[str]:
    """The files that are there, in order."""
    numbers = sorted(int(name[1:]) for name in os.listdir(home) if name[:1] == "f" and name[1:].isdigit())
    return [os.path.join(home, f"f{number}") for number in numbers]


def make(home: str, wanted: Extent) -> None:
    """Make the files anew, without content, with their length. What is written to them later is allocated then."""
    with suppress(FileNotFoundError):
        os.unlink(os.path.join(home, _NOTE))
    for path in paths(home):
        os.unlink(path)
    for number in range(wanted.streams):
        path = os.path.join(home, f"f{number}")
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
            try:
                os.ftruncate(descriptor, wanted.file_bytes)
            finally:
                os.close(descriptor)
        except OSError as problem:
            raise TargetError(f"{path} cannot be made: {str(problem.strerror).lower()}.") from None
    _write(home, {**asdict(wanted), "written": False})


def note(home: str, written: Extent) -> None:
    """Say that every file was written to its end."""
    _write(home, {**asdict(written), "written": True})


def are_written(home: str, wanted: Extent) -> bool:
    """Whether files of these sizes are there and were written to their end."""
    found = _read(home)
    if found is None or not found["written"] or (found["streams"], found["wanted_bytes"]) != (wanted.streams, wanted.wanted_bytes):
        return False
    there = paths(home)
    return len(there) == found["streams"] and all(os.stat(path).st_size == found["file_bytes"] for path in there)


def read_note(home: str, phase: str) -> Extent:
    """The files as they were made; raises `TargetError` where they are not what ``phase`` needs."""
    found = _read(home)
    if found is None or (phase == "read" and not found["written"]):
        raise TargetError(f"{home}: the files of the I/O test are not there any more; something else has removed or changed them.")
    return Extent(**{name: int(found[name]) for name in ("streams", "file_bytes", "wanted_bytes", "memory_bytes")})


def target_of(home: str, made: Extent) -> Target:
    """All files as one target, of which each is a part."""
    there = [os.path.join(home, f"f{number}").replace("%", "%25") for number in range(made.streams)]
    if made.streams == 1:
        return Target(os.path.join(home, "f0"))
    return Target("concat:" + ",".join(path.replace(",", "%2C").replace("?", "%3F").replace(" ", "%20") for path in there))


def _write(home: str, document: Json) -> None:
    path = os.path.join(home, _NOTE)
    with open(f"{path}.new", "w", encoding="utf-8") as file:
        json.dump(document, file)
    os.replace(f"{path}.new", path)


def _read(home: str) -> Mapping[str, Any] | None:
    with suppress(OSError, ValueError, KeyError, TypeError), open(os.path.join(home, _NOTE), encoding="utf-8") as file:
        found: Mapping[str, Any] = json.load(file)
        return found if {"streams", "file_bytes", "wanted_bytes", "memory_bytes", "written"} <= set(found) else None
    return None
