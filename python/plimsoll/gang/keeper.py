"""Keeper of a gang on one host: starts the workers and what carries their calls, and takes all of it down, whatever becomes of the command.

Model: standard input is a pipe whose other end only the command has open. When that closes, or no relay was asked anything for `LEASE_S`,
what carries the calls is killed at once, so that no port stays open; workers finish the point they measure, store it and leave, and the
keeper goes with the last of them. Every process that it starts has the name of the gang's directory in its environment, by which they are
found even when they have made themselves independent. What ended a worker is written to a file beside its socket. On a host that was
reached from elsewhere the keeper also holds the note of the gang there, and removes what was stored once it is told that it was collected.
Limits: Linux. A keeper that is killed itself leaves its processes to the next command (`plimsoll.gang.leftovers`).

    python -m plimsoll.gang.keeper /tmp/plimsoll-x1 < pipe
"""

from __future__ import annotations

import ctypes
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Collection
from contextlib import suppress

from plimsoll.gang.nest import ENDED, FAILED, KEEPER, LEASE, MARK, NOTE, kill_marked
from plimsoll.store.writer import own_identity
from plimsoll.stored import Json

#: What a keeper on another host is told once nothing that is stored there is needed any more.
COLLECTED = b"collected"
LEASE_S = 20.0
#: Before a relay is asked for the first time, everything has to come up, on a machine that may be busy.
STARTS_S = 180.0
_LOOK_S = 0.05
#: How often is looked whether anybody asks any more, while nothing ends.
_CALM_S = 1.0
_MOST = 4096
#: How long the last word of the command is waited for.
_LAST_WORD_S = 10.0
#: How long what carries the calls stays when no worker is left.
_NEWS_S = 3.0
_PR_SET_CHILD_SUBREAPER = 36
#: How long a process that was told to leave is waited for when there is nothing left for it to do.
_LEAVES_S = 3600.0
_TOLD_S = 1.0


class Keeper:
    """See the module; ``nest`` is the directory."""

    def __init__(self, nest: str) -> None:
        self._nest = nest
        with open(os.path.join(nest, KEEPER), encoding="utf-8") as file:
            self._told: Json = json.load(file)
        self._begun = time.time()
        self._workers: dict[int, str] = {}
        self._carriers: dict[int, str] = {}
        self._collected = False
        self._ended_s: float | None = None

    def keep(self) -> None:
        """Until everything that was started has ended."""
        self._note_gang()
        ends = _told_of_ends()
        self._start()
        try:
            while self._is_wanted():
                ready = select.select([0, ends], [], [], _LOOK_S if self._ended_s else _CALM_S)[0]
                if ends in ready:
                    os.read(ends, _MOST)
                if 0 in ready:
                    if not (said := _heard()):
                        break
                    self._collected = COLLECTED in said
                self._reap()
        finally:
            self._end()

    def _note_gang(self) -> None:
        """For whoever finds the gang when its keeper was killed as well."""
        if (store := self._told.get("store")) is not None:
            own = own_identity()
            note = {"nest": self._nest, "driver": own, "keeper": own, "hosts": self._told["workers"], "run": None}
            _note(os.path.join(store, NOTE), note)

    def _start(self) -> None:
        environment = {**os.environ, MARK: self._nest}
        for_load, for_carriers = divided(os.sched_getaffinity(0), carried=bool(self._told["carriers"]))
        for name in self._told["workers"]:
            folder = os.path.join(self._nest, name)
            process = _started([sys.executable, "-m", "plimsoll.worker", folder], environment, os.path.join(folder, "log"))
            self._workers[process] = name
            _keep_on(process, for_load)
        for name, command, settings in self._told["carriers"]:
            process = _started(command, {**environment, **settings}, os.path.join(self._nest, f"{name}.log"))
            self._carriers[process] = name
            # Before it starts others, which inherit it.
            _keep_on(process, for_carriers)

    def _is_wanted(self) -> bool:
        """Whether somebody has asked a relay of this host lately, or may yet for the first time, and a worker is left.

        Beside the command itself there are no workers: there the pipe alone tells. On another host nobody can ask a relay whose carrier
        has ended.
        """
        if not self._told["workers"]:
            return True
        if self._told.get("store") and len(self._carriers) < len(self._told["carriers"]):
            return False
        if not self._workers:
            # Whoever asks the relay has to hear how the last of them ended.
            return self._ended_s is not None and time.monotonic() - self._ended_s < _NEWS_S
        leases = [os.path.join(self._nest, name, LEASE) for name in self._workers.values()]
        youngest = max((_changed(path) for path in leases), default=0.0)
        patience_s = LEASE_S if youngest > self._begun else STARTS_S
        return time.time() - max(youngest, self._begun) < patience_s

    def _reap(self) -> None:
        while True:
            try:
                process, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if process == 0:
                return
            if (name := self._workers.pop(process, None)) is not None:
                self._ended_s = time.monotonic()
                _note(os.path.join(self._nest, name, ENDED), {"how": f"its worker {how(status)}"})
            if (name := self._carriers.pop(process, None)) is not None and status:
                log = os.path.join(self._nest, f"{name}.log")
                _note(os.path.join(self._nest, FAILED), {"how": f"{name} {how(status)}", "log": log})
                # On another host nobody reads the note: what started this keeper hears it.
                with suppress(OSError), open(log, encoding="utf-8", errors="replace") as said:
                    lines = [line.strip() for line in said if line.strip()]
                    sys.stderr.write(f"{name} {how(status)}: {lines[-1] if lines else 'it said nothing'}\n")
                    sys.stderr.flush()

    def _let_leave(self) -> None:
        """What others should hear of before it is gone says goodbye itself, in the time that it was given."""
        until_s = time.monotonic() + float(self._told.get("leaves_s", 0.0))
        if time.monotonic() < until_s:
            for process in self._carriers:
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGTERM)
        while self._carriers and time.monotonic() < until_s:
            self._reap()
            time.sleep(_LOOK_S)

    def _end(self) -> None:
        """Nothing that listens stays; workers leave when they have stored what they measure."""
        self._let_leave()
        kill_marked(self._nest, but={os.getpid(), *self._workers})
        self._reap()
        until_s = time.monotonic() + _LEAVES_S
        told_s = 0.0
        while self._workers and time.monotonic() < until_s:
            if time.monotonic() - told_s >= _TOLD_S:
                # Again and again: one that has just been started ignores it, as this keeper does.
                told_s = time.monotonic()
                for process in self._workers:
                    with suppress(ProcessLookupError):
                        os.kill(process, signal.SIGTERM)
            self._reap()
            time.sleep(_LOOK_S)
        kill_marked(self._nest, but={os.getpid()})
        self._reap()
        shutil.rmtree(self._nest, ignore_errors=True)
        if (store := self._told.get("store")) is not None and self._is_collected():
            shutil.rmtree(store, ignore_errors=True)

    def _is_collected(self) -> bool:
        """Whether the command has said so, who may still be about to."""
        until_s = time.monotonic() + _LAST_WORD_S
        while not self._collected and select.select([0], [], [], max(0.0, until_s - time.monotonic()))[0]:
            if not (said := _heard()):
                break
            self._collected = COLLECTED in said
        return self._collected


def how(status: int) -> str:
    """What ended a process, of the status that waitpid(2) gives."""
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        with suppress(ValueError):
            return f"was killed by {signal.Signals(number).name}"
        return f"was killed by signal {number}"
    return f"ended with exit code {os.waitstatus_to_exitcode(status)}"


def divided(cores: Collection[int], *, carried: bool) -> tuple[set[int], set[int]]:
    """The cores of workers and those of what carries their calls: the last one, where there are more than two."""
    if not carried or len(cores) <= 2:
        return set(cores), set(cores)
    last = max(cores)
    return set(cores) - {last}, {last}


def _keep_on(process: int, cores: set[int]) -> None:
    with suppress(OSError):
        os.sched_setaffinity(process, cores)


def _started(command: list[str], environment: dict[str, str], log: str) -> int:
    with open(log, "ab") as said:
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=said, stderr=said, env=environment).pid


def _told_of_ends() -> int:
    """A pipe into which every end of a child is written, so that nobody has to look for it."""
    there, here = os.pipe()
    os.set_blocking(there, False)
    os.set_blocking(here, False)
    signal.set_wakeup_fd(here, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    return there


def _heard() -> bytes:
    try:
        return os.read(0, 64)
    except OSError:
        return b""


def _changed(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0.0


def _note(path: str, said: Json) -> None:
    with suppress(OSError):
        with open(f"{path}.part", "w", encoding="utf-8") as file:
            json.dump(said, file)
        os.replace(f"{path}.part", path)


def main(nest: str) -> int:
    """Keep the gang of this directory."""
    # A signal to the group of a terminal is not for the gang.
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    # What makes itself independent becomes a child of the keeper, which sees it end.
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    Keeper(nest).keep()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
