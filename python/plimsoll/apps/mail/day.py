"""One working day at a mail server: users log in, the day passes, what is queued is delivered, and every letter is looked for.

Model: the server is told by its verbs alone (`Server`), so that private servers and those of the user's own are worked at alike. Users are
the engine's (``crates/engine/src/mail``). Meanwhile the queue is counted, and servers are killed where the workload says so.
Limits: a day whose servers cannot be started, or that refuse a user, ends before it begins.

    Day(server, native_mail()).pass_(job, on_event, control)["mail"]["account"]["lost"]
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from email.utils import formatdate
from typing import Any, Protocol, cast

from plimsoll.apps.mail.accounting import Mark, accounted
from plimsoll.apps.mail.kills import Killable, Killing
from plimsoll.apps.mail.queue import QueueWatch, deliveries
from plimsoll.apps.mail.room import Room, RoomWatch
from plimsoll.engine import Control, Job, NativeMail, OnEvent
from plimsoll.errors import InputError, PlimsollError, TargetError
from plimsoll.stored import EngineOutcome, Json

#: How long letters may be on their way after the last task.
_DELIVERY_S = 120.0
#: How long a guard may take to notice that its server has ended.
_GUARDED_S = 1.0


class Server(Killable, Protocol):
    """What a day needs of a server."""

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


class Day:
    """See the module."""

    def __init__(self, server: Server, mail: NativeMail) -> None:
        self._server, self._mail = server, mail

    def pass_(self, job: Job, on_event: OnEvent, control: Control) -> EngineOutcome:
        """Let it pass. Raises `TargetError` with the reason where it cannot, or where a server ended by itself."""
        try:
            return self._pass(job, on_event, control)
        finally:
            self._server.close()

    def _pass(self, job: Job, on_event: OnEvent, control: Control) -> EngineOutcome:
        workload = cast("Mapping[str, Any]", job["workload"])
        run, since_ns = f"{time.time_ns():x}", time.time_ns()
        users = sum(stream["users"] for stream in workload["stream"])
        killing = self._killing(job, run)
        try:
            self._server.start(_telling(on_event, control))
            ledger = os.path.join(self._server.home, "ledger")
            with suppress(FileNotFoundError):
                os.unlink(ledger)
            facts, logged = self._server.facts(), _size_of(self._server.delivery_log)
            options = {**job["job"], **({"on_error": "continue"} if killing is not None else {})}
            asked = {"workload": workload, "job": options, "run": run, "date": formatdate(), "ledger": ledger}
            asked["server"] = self._server.seen_by_users(users)
            outcome, mail = self._worked(asked, on_event, control, killing)
            came_s = float(outcome["end_ns"]) / 1e9 + mail["queue"]["empty_after_s"]
            marks = self._server.marks(run, since_ns, users)
            if not self._server.read_when_stopped:
                marks = list(marks)
        finally:
            self._server.stop()
        if self._server.cpu_s and killing is None:
            mail["servers_cpu_s"] = self._server.cpu_s
        if self._server.delivery_log is not None:
            mail["delivery"] = deliveries(self._server.delivery_log, logged).to_json(came_s)
        mail["account"] = accounted(ledger, marks, killing.again if killing is not None else None).to_json()
        cast("Json", outcome)["mail"] = mail
        engine = outcome.get("engine")
        if engine is not None:
            engine["facts"] = {**facts, **_told(mail)}
        return outcome

    def _worked(self, asked: Json, on_event: OnEvent, control: Control, killing: Killing | None) -> tuple[EngineOutcome, Json]:
        """The users' day and what became of their letters, until nothing is queued any more."""
        watch, room = QueueWatch(self._server.queued), RoomWatch(self._server.room, control.stop)

        def hear(kind: str, event: Any) -> None:
            if kind == "start":
                on_event("servers", {"pids": self._server.processes()})
                watch.begin()
                room.begin()
                if killing is not None:
                    killing.begin()
            on_event(kind, event)

        try:
            outcome = self._mail.run(asked, hear, control)
        except PlimsollError:
            died = None if killing is not None else self._ended()
            if room.look() is None and died is None:
                raise
            raise TargetError(room.sentence or f"{died}{room.beside}.") from None
        finally:
            watch.end()
            room.end()
            if killing is not None:
                killing.end()
        if room.look() is not None or (died := self._server.died()) is not None:
            raise TargetError(room.sentence or f"{died}{room.beside}.")
        if isinstance(first := outcome.get("first_error"), dict):
            first["message"] += room.beside
        queued, empty_after_s = self._emptied(room)
        mail: Json = cast("Json", outcome).get("mail", {})
        mail["queue"] = {**watch.to_json(), "at_end": queued, "empty_after_s": empty_after_s}
        if killing is not None:
            mail["kills"] = killing.kills
        return outcome, mail

    def _ended(self) -> str | None:
        """The sentence for a server that ended by itself; who was cut off by that may know it before its guard does."""
        until = time.monotonic() + _GUARDED_S
        while (died := self._server.died()) is None and time.monotonic() < until:
            time.sleep(0.02)
        return died

    def _killing(self, job: Job, run: str) -> Killing | None:
        workload, options = cast("Mapping[str, Any]", job["workload"]), job["job"]
        if workload["kill"] == "none":
            return None
        every_s, lasts_s = float(workload["kill_every"]), float(options["warmup"]) + float(options["duration"])
        if every_s >= lasts_s:
            raise InputError(f"kill_every is {every_s:g} s and the point lasts {lasts_s:g} s, so nothing is killed; lower kill_every.")
        return Killing(self._server, workload["kill"], every_s, run)

    def _emptied(self, room: RoomWatch) -> tuple[int, float]:
        """Letters that were queued when the last task had ended, and the seconds until none was; raises when they stay."""
        begun = time.monotonic()
        queued = self._server.queued()
        while self._server.queued():
            if room.look() is not None:
                raise TargetError(str(room.sentence))
            if time.monotonic() > begun + _DELIVERY_S:
                raise TargetError(self._server.stuck(_DELIVERY_S))
            time.sleep(0.05)
        return queued, time.monotonic() - begun


def _telling(on_event: OnEvent, control: Control) -> Callable[[], bool]:
    """Whether to stop; tells once a second that servers are starting, so that nobody takes that for a target that gives no answer."""
    told_s = [time.monotonic()]

    def stopped() -> bool:
        if time.monotonic() >= told_s[0] + 1.0:
            told_s[0] = time.monotonic()
            on_event("entering", {})
        return control.stopped

    return stopped


def _told(mail: Json) -> dict[str, str]:
    """What became of the letters, as facts of the engine."""
    return {name: str(mail[key]) for name, key in (("letters accepted", "letters"), ("deliveries", "deliveries")) if key in mail}


def _size_of(path: str | None) -> int:
    with suppress(OSError):
        return os.path.getsize(path) if path is not None else 0
    return 0
