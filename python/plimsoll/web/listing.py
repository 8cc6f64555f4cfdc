"""The stored runs as a browser lists them: read once, and again only where something changed.

Model: a run's line comes from its ``run.json`` and the names in its directory, never from its points, so that ten thousand points are
listed at once. How many points raise a doubt needs their results, which are read afterwards (`Listing.count_doubts`); until then it is
None. What changed is told by the times of the two directories and of ``run.json``.

    listing = Listing("results")
    listing.entries()[0]["status"]
"""

from __future__ import annotations

import os
import shlex
import threading
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal, TypedDict

from plimsoll.displayed import displayed_in_line
from plimsoll.errors import StoreError
from plimsoll.store.reader import DamagedRun, StoredRun, list_runs, open_run
from plimsoll.stored import Run

#: Points that raise a doubt are counted for so long at a time, in seconds.
COUNTED_FOR_S = 0.5
#: Seconds for which nobody looks at the store again: all browsers together read it once.
FRESH_S = 0.5

RunStatus = Literal["running", "complete", "interrupted", "failed", "incomplete", "unreadable"]


class Entry(TypedDict):
    """A stored run in the list."""

    name: str
    label: str | None
    #: ``unreadable`` is a run of which something is damaged; ``problem`` says what.
    status: RunStatus
    problem: str | None
    #: What it measured: a suite's title, else its workloads.
    what: str
    targets: list[str]
    command: str
    created: str | None
    finished: str | None
    #: Points that ended, and how many there are to be; None where results decide that.
    points: int
    planned: int | None
    #: What its experiments found, in their own sentences.
    found: list[str]
    #: Points with a doubt or worse; None until they were counted.
    doubts: int | None
    modelled: bool


@dataclass
class _Read:
    """A line that was read, and the state of the directory that it was read from."""

    state: tuple[int, ...]
    entry: Entry


class Listing:
    """The runs in the store ``out``, newest first; or ``only`` one of them."""

    def __init__(self, out: str, only: str | None = None) -> None:
        self.out = out
        self._only = only
        self._known: dict[str, _Read] = {}
        self._lock = threading.Lock()
        self._looked_s = float("-inf")
        self._entries: list[Entry] = []

    def entries(self, *, anew: bool = False) -> list[Entry]:
        """The lines, for who acts on them ``anew``; raises `StoreError` where the store itself cannot be read."""
        with self._lock:
            if anew or time.monotonic() - self._looked_s >= FRESH_S:
                self._entries = self._look()
                self._looked_s = time.monotonic()
            return list(self._entries)

    def _look(self) -> list[Entry]:
        names = [name for name in _names(self.out) if self._only in (None, name)]
        changed = [name for name in names if self._has_changed(name)]
        there = set(names)
        self._known = {name: read for name, read in self._known.items() if name in there}
        if changed:
            for run in _runs(self.out, changed):
                state = _state(os.path.join(self.out, run.name))
                before = self._known.get(run.name)
                entry = _line(run)
                if before is not None and entry["points"] == before.entry["points"]:
                    entry["doubts"] = before.entry["doubts"]
                self._known[run.name] = _Read(state, entry)
        entries = [read.entry for read in self._known.values()]
        return sorted(
            entries, key=lambda entry: (entry["name"][: len("2026-11-23T08-00-58")], entry["created"] or "", entry["name"]), reverse=True
        )

    def _has_changed(self, name: str) -> bool:
        read = self._known.get(name)
        # Of a run that goes on nothing more may change than that its process is gone.
        return read is None or read.entry["status"] == "running" or read.state != _state(os.path.join(self.out, name))

    def count_doubts(self) -> bool:
        """Count the doubts of runs that have ended, for a while; whether any count is new."""
        until_s = time.monotonic() + COUNTED_FOR_S
        any_new = False
        for entry in self.entries():
            if entry["doubts"] is not None or entry["status"] in ("running", "unreadable"):
                continue
            if time.monotonic() > until_s:
                return any_new
            doubts = _doubts(self.out, entry["name"])
            with self._lock:
                entry["doubts"] = doubts
            any_new = True
        return any_new


def running(listing: Listing) -> list[str]:
    """Directories of the runs that go on; none where the store cannot be read."""
    try:
        return [os.path.join(listing.out, entry["name"]) for entry in listing.entries() if entry["status"] == "running"]
    except StoreError:
        return []


def _names(out: str) -> list[str]:
    """Directories of the store that can be runs."""
    try:
        with os.scandir(out) as found:
            return [one.name for one in found if not one.name.startswith(".")]
    except FileNotFoundError:
        return []
    except OSError as problem:
        raise StoreError(f"{out}: cannot be read ({str(problem.strerror).lower()}).") from None


def _runs(out: str, names: Sequence[str]) -> Iterable[StoredRun | DamagedRun]:
    """The runs called ``names``; what is none is left out."""
    if len(names) > 1:
        wanted = set(names)
        return [run for run in list_runs(out) if run.name in wanted]
    path = os.path.join(out, names[0])
    if not os.path.lexists(os.path.join(path, "run.json")) and not os.path.isdir(os.path.join(path, "points")):
        return []
    try:
        return [open_run(path)]
    except StoreError as problem:
        return [DamagedRun(names[0], problem)]


def _state(path: str) -> tuple[int, ...]:
    """When the run's record and the list of its points last changed."""
    times = []
    for name in ("run.json", "points"):
        try:
            times.append(os.stat(os.path.join(path, name)).st_mtime_ns)
        except OSError:
            times.append(0)
    return tuple(times)


def _line(run: StoredRun | DamagedRun) -> Entry:
    if isinstance(run, DamagedRun):
        return _damaged(run.name, str(run.problem))
    try:
        points = _ended(run)
    except StoreError as problem:
        return _damaged(run.name, str(problem))
    meta = run.meta
    targets = _targets(meta)
    return {
        "name": run.name,
        "label": meta.get("label"),
        "status": run.status,  # type: ignore[typeddict-item]  # the words of the store
        "problem": None,
        "what": _what(run),
        "targets": targets,
        "command": displayed_in_line(shlex.join(meta.get("command", []))),
        "created": meta.get("created"),
        "finished": meta.get("finished"),
        "points": points,
        "planned": meta.get("points_planned"),
        "found": _found(meta),
        "doubts": None,
        "modelled": bool(targets) and all(target.startswith(("array:", "queue:")) for target in targets),
    }


def _damaged(name: str, problem: str) -> Entry:
    return {
        "name": name,
        "label": None,
        "status": "unreadable",
        "problem": displayed_in_line(problem),
        "what": "",
        "targets": [],
        "command": "",
        "created": None,
        "finished": None,
        "points": 0,
        "planned": None,
        "found": [],
        "doubts": None,
        "modelled": False,
    }


def _ended(run: StoredRun) -> int:
    """Points that have a result."""
    return sum(os.path.lexists(os.path.join(point.path, "result.json")) for point in run.points)


def _what(run: StoredRun) -> str:
    """A suite's title; else the workloads, of which a few are named."""
    suite = run.meta.get("suite")
    if suite:
        return displayed_in_line(suite.get("title") or suite["name"])
    names: dict[str, None] = {}
    for experiment in run.meta.get("experiments") or ():
        names.update(dict.fromkeys(str(name) for name in experiment.get("workloads") or ()))
    listed = list(names) or [run.name.partition("_")[2]]
    return displayed_in_line(", ".join(listed[:3]) + (f" and {len(listed) - 3} more" if len(listed) > 3 else ""))


def _targets(meta: Run) -> list[str]:
    found: dict[str, None] = {}
    for experiment in meta.get("experiments") or ():
        for configuration in experiment.get("configurations") or ():
            target = configuration.get("target")
            found.update({displayed_in_line(str(target)): None} if target else {})
    return list(found)


def _found(meta: Run) -> list[str]:
    """The first sentence of each conclusion."""
    conclusions = meta.get("conclusions") or ()
    return [displayed_in_line(str(one["sentences"][0])) for one in conclusions if one.get("sentences")]


def _doubts(out: str, name: str) -> int:
    """Points of a run with a flag that is more than a note; what cannot be read raises none."""
    doubtful = 0
    with suppress(StoreError):
        for point in open_run(os.path.join(out, name)).points:
            with suppress(StoreError):
                doubtful += any(flag.severity != "note" for flag in point.result.flags)
    return doubtful
