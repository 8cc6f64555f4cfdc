"""What a list said of stored runs before, as long as nothing was written to any file that it rests on: a thousand runs are listed at once.

Model: a file for each store in ``$XDG_CACHE_HOME/plimsoll/lists``. It keeps the line of every run that has ended and was found whole, with
a digest of the state of what was read for it: number, size and both times of ``run.json``, of the drawn intervals and of every result. The
time of change (ctime) is set by the kernel at every write and by nobody else, so damage shows also where size and time of content were set
back. A run is read anew unless all of this is as it was. Runs that go on or are damaged, that have points without a result, or that were
changed within the last two seconds are not kept: two writes within one tick of a file system's clock leave one time.
Limits: a medium that gives other bytes than were written, without a write, is noticed by who reads the run and not by a list.

    listed = Listed("results")
    state = listed.state("2026-11-21T03-36-29_proliant")
    listed.line("2026-11-21T03-36-29_proliant", state)         # None: read it, and keep() what was found
    listed.save()
"""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from dataclasses import asdict, field
from hashlib import blake2b
from typing import Any

from plimsoll.displayed import encoded
from plimsoll.errors import StoreError
from plimsoll.records import dataclass
from plimsoll.store.document import fitting, read_document
from plimsoll.store.durable import replace_file

#: Raised when results are checked for more than before.
VERSION = 1
#: A file that was changed so lately may change again without another time.
_SETTLED_NS = 2_000_000_000


@dataclass(frozen=True)
class State:
    """Of the files of a run: a digest, and whether it will change when they do."""

    digest: str
    settled: bool


@dataclass(frozen=True)
class _Kept:
    state: str
    line: dict[str, Any]


@dataclass(frozen=True)
class _File:
    version: int
    runs: dict[str, _Kept] = field(default_factory=dict)


class Listed:
    """The lines of the runs in the store ``out`` that are known; where nothing can be kept, none are."""

    def __init__(self, out: str) -> None:
        self._out = out
        named = blake2b(encoded(os.path.realpath(out)), digest_size=16).hexdigest()
        self._path = os.path.join(_folder(), f"{named}.json")
        self._before = _read(self._path)
        self._now: dict[str, _Kept] = {}

    def state(self, name: str) -> State | None:
        """The state of a run, to be asked for before it is read; None for one that has no end yet, or is none."""
        path = os.path.join(self._out, name)
        points = os.path.join(path, "points")
        newest_ns, seen = 0, [""]
        try:
            ids = sorted(name for name in os.listdir(points) if not name.startswith("."))
            files = [os.path.join(path, "run.json"), *(os.path.join(points, one, "result.json") for one in ids)]
            for file in files:
                facts = os.stat(file)
                newest_ns = max(newest_ns, facts.st_ctime_ns)
                seen.append(f"{file[len(path) :]} {facts.st_ino} {facts.st_size} {facts.st_mtime_ns} {facts.st_ctime_ns}")
        except OSError:
            return None
        with suppress(OSError):
            facts = os.lstat(os.path.join(path, "uncertainty.json"))
            newest_ns = max(newest_ns, facts.st_ctime_ns)
            seen.append(f"uncertainty {facts.st_ino} {facts.st_size} {facts.st_mtime_ns} {facts.st_ctime_ns}")
        digest = blake2b(encoded("\n".join(seen)), digest_size=16).hexdigest()
        return State(digest, settled=newest_ns < time.time_ns() - _SETTLED_NS)

    def line(self, name: str, state: State | None) -> dict[str, Any] | None:
        """What was said of a run whose files are as they were; None where it has to be read."""
        known = self._before.get(name)
        if known is None or state is None or known.state != state.digest:
            return None
        self._now[name] = known
        return known.line

    def keep(self, name: str, state: State | None, line: dict[str, Any]) -> None:
        """Remember what was said of a run that has ended and is whole, whose ``state`` was taken before it was read."""
        if state is not None and state.settled:
            self._now[name] = _Kept(state.digest, line)

    def save(self) -> None:
        """Keep what is known for the next list."""
        if self._now == self._before:
            return
        with suppress(OSError, StoreError):
            os.makedirs(os.path.dirname(self._path), exist_ok=True)
            replace_file(self._path, json.dumps(asdict(_File(VERSION, self._now))).encode(), durable=False)


def _read(path: str) -> dict[str, _Kept]:
    try:
        found: _File = fitting(read_document(path), _File, path)
    except StoreError:
        return {}
    return found.runs if found.version == VERSION else {}


def _folder() -> str:
    root = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(root, "plimsoll", "lists")
