"""Removal of stored runs: nothing outside the store, nothing that is being measured, nothing that somebody else put there.

Model: a run is first renamed to a hidden name, in one step, so that a process that is killed leaves a whole run or none; hidden
directories are no runs, and the next removal finishes them. What is removed lies in the store itself, is no link, and holds nothing but
what Plimsoll writes.

    removal = Removal.of(open_run("latest", "results"), "results")
    removal.size_bytes
    removal.carry_out()
"""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from plimsoll.displayed import quoted
from plimsoll.errors import InputError
from plimsoll.store.durable import store_error, sync
from plimsoll.store.reader import StoredRun, open_run

#: What Plimsoll writes into a run's directory; reports end in anything that `plimsoll report` writes.
_OURS = ("run.json", "points", "hosts", "superseded")
_REPORT = "report."
_HIDDEN = ".forgotten-"


@dataclass(frozen=True)
class Removal:
    """A run that may be removed, and how much room that makes."""

    run: StoredRun
    size_bytes: int

    @classmethod
    def of(cls, run: StoredRun, out: str) -> Removal:
        """Raises `InputError` for a run that has to stay."""
        if os.path.islink(run.path.rstrip(os.sep)):
            raise InputError(f"{run.path}: this is a link to a run; remove the link itself, or name the run in its store.")
        if os.path.dirname(os.path.realpath(run.path)) != os.path.realpath(out):
            raise InputError(f"{run.path} is not in the store {quoted(out)}; name its store with --out.")
        _check_unused(run)
        return cls(run, sum(_sizes(run.path)))

    def carry_out(self) -> None:
        """Remove it; a run that somebody took over meanwhile is refused like one that was going on from the first."""
        folder, name = os.path.split(os.path.realpath(self.run.path))
        hidden = os.path.join(folder, f"{_HIDDEN}{name}")
        try:
            held = os.open(os.path.join(folder, name), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                # Under the lock with which a run is taken over to be resumed.
                fcntl.flock(held, fcntl.LOCK_EX)
                _check_unused(open_run(self.run.path))
                os.rename(os.path.join(folder, name), hidden)
                sync(folder)
            finally:
                os.close(held)
            shutil.rmtree(hidden)
        except OSError as problem:
            raise store_error(self.run.path, problem) from None


def finish_removals(out: str) -> None:
    """Remove what an earlier removal that was killed has hidden."""
    with suppress(OSError):
        for name in os.listdir(out):
            if name.startswith(_HIDDEN):
                shutil.rmtree(os.path.join(out, name), ignore_errors=True)


def _check_unused(run: StoredRun) -> None:
    if run.status == "running":
        pid = (run.meta.get("process") or {}).get("pid")
        raise InputError(f"{run.path} is being measured by process {pid}; wait for it or stop it first.")
    foreign = sorted(name for name in os.listdir(run.path) if name not in _OURS and not name.startswith((_REPORT, ".")))
    if foreign:
        raise InputError(f"{run.path} also holds {quoted(foreign[0])}, which Plimsoll did not write; move it elsewhere first.")


def _sizes(path: str) -> Iterator[int]:
    for folder, _, names in os.walk(path):
        for name in names:
            with suppress(OSError):
                found = os.lstat(os.path.join(folder, name))
                yield found.st_size if stat.S_ISREG(found.st_mode) else 0
