"""Mail servers at work, from their start to the account of every letter, whoever acts for the users: this host, or several.

Model: the server is told by its verbs alone (`Server`), so that private servers and those of the user's own are worked at alike. Meanwhile
the queue is counted, room is looked at, and servers are killed where the workload says so. When the users have ended, letters that are on
their way get time to arrive; then each that was accepted is looked for (`plimsoll.apps.mail.accounting`).
Limits: of a host that was lost, letters that it could not write down are left out, and no fault of the server's.

    shift = Shift(server, job, control.stop)
    shift.start(lambda: control.stopped)
    shift.begin(); shift.end()
    shift.closed(end_ns=12_000_000_000)["account"]["lost"]
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from email.utils import formatdate
from typing import Any, Protocol, cast

from plimsoll.apps.mail.accounting import Mark, accounted
from plimsoll.apps.mail.kills import Killable, Killing
from plimsoll.apps.mail.queue import QueueWatch, deliveries
from plimsoll.apps.mail.room import Room, RoomWatch
from plimsoll.engine.protocol import Job
from plimsoll.errors import InputError, TargetError
from plimsoll.stored import Json

#: How long letters may be on their way after the last task.
_DELIVERY_S = 120.0
#: How long a guard may take to notice that its server has ended.
_GUARDED_S = 1.0


class Server(Killable, Protocol):
    """What is needed of a server."""

    #: Where the ledger is kept.
    home: str

    cpu_s: float

    @property
    def room(self) -> Room | None:
        """Where it writes; None where that is not known."""

    @property
    def read_when_stopped(self) -> bool:
        """Whether letters are looked for when the server has stopped, not before."""

    def start(self, stopped: Callable[[], bool]) -> None: ...

    def stop(self) -> None: ...

    def close(self) -> None: ...

    def died(self) -> str | None: ...

    def facts(self) -> dict[str, str]: ...

    def processes(self) -> list[int]:
        """Processes of this host that work for the users."""

    def seen_by_users(self, users: int) -> Json: ...

    def queued(self) -> int: ...

    @property
    def delivery_log(self) -> str | None: ...

    def marks(self, run: str, since_ns: int, users: int) -> Iterable[Mark]: ...

    def stuck(self, seconds: float) -> str: ...


class Shift:
    """See the module; ``stop`` is called once the servers' disk is full."""

    def __init__(self, server: Server, job: Job, stop: Callable[[], None]) -> None:
        workload = cast("Mapping[str, Any]", job["workload"])
        self._server = server
        self._run, self._since_ns = f"{time.time_ns():x}", time.time_ns()
        self._users = sum(stream["users"] for stream in workload["stream"])
        self._killing = _killing(server, job, self._run)
        self._watch, self._room = QueueWatch(server.queued), RoomWatch(server.room, stop)
        self._logged = 0
        self._began = False
        self.facts: dict[str, str] = {}

    @property
    def ledger(self) -> str:
        """Where it is written down what was accepted."""
        return os.path.join(self._server.home, "ledger")

    @property
    def pids(self) -> list[int]:
        """Processes of this host that work for the users."""
        return self._server.processes()

    def start(self, stopped: Callable[[], bool]) -> None:
        """Start the servers; ``stopped`` is asked meanwhile."""
        self._server.start(stopped)
        with suppress(FileNotFoundError):
            os.unlink(self.ledger)
        self.facts, self._logged = self._server.facts(), _size_of(self._server.delivery_log)

    def given(self) -> Json:
        """What users are told: where the servers are and what they log in with, what their letters are marked with, and whether they go on
        after a failure."""
        goes_on = {"on_error": "continue"} if self._killing is not None else {}
        return {"run": self._run, "date": formatdate(), "server": self._server.seen_by_users(self._users), "options": goes_on}

    def begin(self) -> None:
        """Users begin to work."""
        self._began = True
        self._watch.begin()
        self._room.begin()
        if self._killing is not None:
            self._killing.begin()

    def end(self) -> None:
        """They have ended. Raises where a server that was killed did not come back."""
        self._watch.end()
        self._room.end()
        if self._killing is not None:
            self._killing.end()

    @property
    def beside(self) -> str:
        """What is said beside a failure of a task."""
        return self._room.beside

    def why(self, *, waiting: bool) -> str | None:
        """Why users could not go on; None where that is not the servers' doing.

        With ``waiting``, who was cut off may know it before the guard of the server does.
        """
        died = self._server.died() if not waiting or self._killing is not None else self._ended()
        full = self._room.look()
        return full or (None if died is None else f"{died}{self._room.beside}.")

    def closed(self, end_ns: int, unknown: Collection[int] = (), hosts: int = 1) -> Json:
        """What became of the letters, once none is queued any more; the server has stopped then. ``end_ns`` is the last task's end.

        Of the hosts with the numbers ``unknown``, of so many, the ledger is not known to be whole.
        """
        queued, empty_after_s = self._emptied()
        marks = self._server.marks(self._run, self._since_ns, self._users)
        if not self._server.read_when_stopped:
            marks = list(marks)
        self._server.stop()
        found: Json = {"queue": {**self._watch.to_json(), "at_end": queued, "empty_after_s": empty_after_s}}
        if self._killing is not None:
            found["kills"] = self._killing.kills
        elif self._server.cpu_s:
            found["servers_cpu_s"] = self._server.cpu_s
        if self._server.delivery_log is not None:
            found["delivery"] = deliveries(self._server.delivery_log, self._logged).to_json(end_ns / 1e9 + empty_after_s)
        again = self._killing.again if self._killing is not None else None
        found["account"] = accounted(self.ledger, marks, again, lambda mark: mark.host(hosts) in unknown).to_json()
        return found

    def _ended(self) -> str | None:
        """The sentence for a server that ended by itself."""
        until = time.monotonic() + _GUARDED_S
        while (died := self._server.died()) is None and time.monotonic() < until:
            time.sleep(0.02)
        return died

    def _emptied(self) -> tuple[int, float]:
        """Letters that were queued when the last task had ended, and the seconds until none was; raises when they stay."""
        begun = time.monotonic()
        queued = self._server.queued()
        # A letter that is tried again goes back from the folders that are looked at last, so one empty look may have passed it by.
        while self._server.queued() or self._server.queued():
            if self._room.look() is not None:
                raise TargetError(str(self._room.sentence))
            if time.monotonic() > begun + _DELIVERY_S:
                raise TargetError(self._server.stuck(_DELIVERY_S))
            time.sleep(0.05)
        return queued, time.monotonic() - begun


def _killing(server: Server, job: Job, run: str) -> Killing | None:
    workload, options = cast("Mapping[str, Any]", job["workload"]), job["job"]
    if workload["kill"] == "none":
        return None
    every_s, lasts_s = float(workload["kill_every"]), float(options["warmup"]) + float(options["duration"])
    if every_s >= lasts_s:
        raise InputError(f"kill_every is {every_s:g} s and the point lasts {lasts_s:g} s, so nothing is killed; lower kill_every.")
    return Killing(server, workload["kill"], every_s, run)


def _size_of(path: str | None) -> int:
    with suppress(OSError):
        return os.path.getsize(path) if path is not None else 0
    return 0
