"""What the page may do: start a shipped suite on a target that was given at start, and stop a run. Nothing else.

Model: a started suite is ``plimsoll suite`` in a process and session of its own, so that it goes on when the server ends, and the store
shows it like any other. One goes on per target. To stop a run is Ctrl-C for its process, once: what is in flight is awaited, what was
measured is kept, and the same suite on the same target goes on where it ended. A process is signalled only when it is the one that run.json
names and holds that run's directory open, so that no record in the store can point at another program.
Limits: runs of other hosts, and of other users unless the server is root's, are stopped where they were started.

    control = Control("results", grants(["/dev/sdb"], []))
    control.start({"suite": "four-corners", "target": "/dev/sdb", "quick": True}, entries)
    control.stop({"run": "2026-11-23T08-00-58_four-corners"}, entries)
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import IO, Any, TypedDict

from plimsoll import catalog
from plimsoll.displayed import displayed_in_line, quoted
from plimsoll.errors import EXIT_INTERRUPTED, InputError
from plimsoll.near import meant as nearest
from plimsoll.store.reader import open_run
from plimsoll.store.writer import is_alive
from plimsoll.stored import Json
from plimsoll.web.grants import Grant, meant
from plimsoll.web.listing import Entry

#: Suites that ended stay in the list until so many newer ones have.
KEPT = 8
#: So much of what a suite says is read, from the end.
_SAID_BYTES = 4000


class ShippedSuite(TypedDict):
    """A suite that can be started, and how long its forms take."""

    name: str
    title: str
    full: str
    quick: str


class GivenTarget(TypedDict):
    """A target that was given at start."""

    name: str
    #: Whether what is on it may be overwritten.
    destroys: bool
    #: Whether it is being measured.
    busy: bool


class StartedSuite(TypedDict):
    """A suite that the page started; ``said`` is why it did not come to its end."""

    number: int
    suite: str
    target: str
    status: str
    said: str | None


class ControlState(TypedDict):
    """What can be started, and what was."""

    suites: list[ShippedSuite]
    targets: list[GivenTarget]
    started: list[StartedSuite]


@dataclass
class _Started:
    number: int
    suite: str
    grant: Grant
    process: subprocess.Popen[bytes]
    output: IO[bytes]
    said: str | None = field(default=None)

    @property
    def status(self) -> str:
        code = self.process.poll()
        if code is None:
            return "running"
        return "complete" if code == 0 else "interrupted" if code == EXIT_INTERRUPTED else "failed"

    def told(self) -> StartedSuite:
        status = self.status
        if status == "failed" and self.said is None:
            self.said = _last_sentence(self.output)
        return {"number": self.number, "suite": self.suite, "target": self.grant.called, "status": status, "said": self.said}


class Control:
    """Starts and stops in the store ``out``; ``given`` are the targets."""

    def __init__(self, out: str, given: Sequence[Grant]) -> None:
        self._out = out
        self._given = tuple(given)
        self._started: list[_Started] = []
        self._stopped: set[tuple[int, int]] = set()
        self._suites: list[ShippedSuite] = []
        self._lock = threading.Lock()
        self._count = 0

    def state(self, entries: Sequence[Entry]) -> ControlState:
        """What the page shows."""
        with self._lock:
            self._suites = self._suites or [_shipped(name) for name in catalog.suite_names()]
            busy = self._busy(entries)
            targets: list[GivenTarget] = [
                {"name": one.called, "destroys": one.destroys is not None, "busy": one.called in busy} for one in self._given
            ]
            return {"suites": self._suites, "targets": targets, "started": [one.told() for one in reversed(self._started)]}

    def start(self, asked: object, entries: Sequence[Entry]) -> Json:
        """Start ``{"suite": NAME, "target": NAME, "quick": BOOL}``; raises `InputError` and `SafetyRefusal` with a sentence."""
        wanted = _fields(asked, {"suite": str, "target": str, "quick": bool})
        suite = wanted["suite"]
        if suite not in catalog.suite_names():
            raise InputError(f"{quoted(suite)} is no suite of Plimsoll's; {nearest(suite, catalog.suite_names())}")
        grant = meant(wanted["target"], self._given)
        with self._lock:
            if grant.called in self._busy(entries):
                raise InputError(f"{grant.called} is being measured; wait for the end of that run, or stop it.")
            grant.check()
            self._count += 1
            self._started.append(_begun(self._count, _command(self._out, suite, grant, quick=wanted["quick"]), suite, grant))
            ended = [one for one in self._started if one.status != "running"]
            for one in ended[:-KEPT]:
                one.output.close()
                self._started.remove(one)
            return {"number": self._count}

    def stop(self, asked: object, entries: Sequence[Entry]) -> Json:
        """Stop ``{"run": NAME}`` as Ctrl-C does."""
        name = _fields(asked, {"run": str})["run"]
        entry = next((one for one in entries if one["name"] == name), None)
        if entry is None:
            raise InputError(f"there is no run {quoted(name)} in this store.")
        run = open_run(os.path.join(self._out, name))
        process = run.meta.get("process") or {}
        pid, ticks = process.get("pid"), process.get("start_ticks")
        if run.status != "running" or pid is None or ticks is None:
            raise InputError(f"{name} is not being measured on this machine, so there is nothing to stop.")
        with self._lock:
            if (pid, ticks) in self._stopped:
                raise InputError(f"{name} is being stopped already: what is in flight is awaited.")
            _interrupt(pid, run.path, process)
            self._stopped.add((pid, ticks))
        return {"run": name}

    def close(self) -> int:
        """Leave the started suites to themselves; how many of them go on."""
        for one in self._started:
            one.output.close()
        return sum(one.status == "running" for one in self._started)

    def _busy(self, entries: Sequence[Entry]) -> set[str]:
        """Names of targets that are being measured: by a suite of this page, or by a run of the store that began elsewhere."""
        measured = {target for entry in entries if entry["status"] == "running" for target in entry["targets"]}
        started = {one.grant.called for one in self._started if one.status == "running"}
        return started | {one.called for one in self._given if displayed_in_line(one.target) in measured}


def _fields(asked: object, wanted: dict[str, type]) -> Json:
    """The fields of a request, all of them and no other."""
    if not isinstance(asked, dict) or asked.keys() != wanted.keys():
        raise InputError(f"a request has the fields {', '.join(wanted)} and no other.")
    for name, kind in wanted.items():
        if not isinstance(asked[name], kind):
            raise InputError(f"field {name} is {'true or false' if kind is bool else 'a text'}.")
    return asked


def _command(out: str, suite: str, grant: Grant, *, quick: bool) -> list[str]:
    """The command line; nothing in it comes from the request but a choice among what is known."""
    words = [sys.executable, "-m", "plimsoll", "suite", suite, "--out", out, "--target", grant.typed, "--quiet"]
    permission = [] if grant.destroys is None else ["--destroy-data" + (f"={grant.destroys}" if grant.destroys else "")]
    return [*words, *permission, *(["--quick"] if quick else [])]


def _begun(number: int, command: Sequence[str], suite: str, grant: Grant) -> _Started:
    # Unlinked: who ends last takes it along, be it the server or the suite.
    output = tempfile.TemporaryFile(prefix="plimsoll-suite-")  # noqa: SIM115
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=output, start_new_session=True)
    return _Started(number, suite, grant, process, output)


def _last_sentence(output: IO[bytes]) -> str:
    size = os.fstat(output.fileno()).st_size
    said = os.pread(output.fileno(), _SAID_BYTES, max(0, size - _SAID_BYTES)).decode(errors="replace").strip()
    _, mark, told = said.rpartition("plimsoll: ")
    return displayed_in_line(" ".join((told if mark else said).split())) or "it ended without a word."


def _interrupt(pid: int, path: str, process: Any) -> None:
    """Ctrl-C for the process that writes the run at ``path``; raises `InputError` where that is not to be told or not allowed."""
    refusal = InputError(f"the process of {os.path.basename(path)} cannot be told for certain; stop it where it was started.")
    try:
        handle = os.pidfd_open(pid)
    except OSError:
        raise refusal from None
    try:
        # Looked at only now that the handle keeps the number from being used again.
        if pid == os.getpid() or not is_alive(process) or not _holds(pid, path):
            raise refusal
        signal.pidfd_send_signal(handle, signal.SIGINT)
    except PermissionError:
        raise refusal from None
    except ProcessLookupError:
        raise InputError(f"{os.path.basename(path)} has just ended.") from None
    finally:
        os.close(handle)


def _holds(pid: int, path: str) -> bool:
    """Whether the process has the directory of the run open, as `plimsoll.store.writer.RunWriter.held` says."""
    folder = os.path.realpath(path)
    files = f"/proc/{pid}/fd"
    for name in os.listdir(files):
        try:
            if os.readlink(os.path.join(files, name)) == folder:
                return True
        except FileNotFoundError:
            continue
    return False


def _shipped(name: str) -> ShippedSuite:
    from plimsoll.points.arguments import Arguments
    from plimsoll.points.execution import brief_of
    from plimsoll.points.suites import suite_of

    full, quick = (brief_of(suite_of(name, Arguments(), lambda _: None, quick=short)).longest() for short in (False, True))
    return {"name": name, "title": str(catalog.suite_document(name).get("title", "")), "full": full, "quick": quick}
