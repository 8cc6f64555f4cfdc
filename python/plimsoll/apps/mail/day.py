"""One working day at a mail server: users log in, the day passes, what is queued is delivered, and every letter is looked for.

Model: users are the engine's (``crates/engine/src/mail``), the servers' part is a `plimsoll.apps.mail.shift`.
Limits: a day whose servers cannot be started, or that refuse a user, ends before it begins.

    Day(server, native_mail()).pass_(job, on_event, control)["mail"]["account"]["lost"]
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, cast

from plimsoll.apps.mail.shift import Server, Shift
from plimsoll.engine.mail import NativeMail
from plimsoll.engine.protocol import Control, Job, OnEvent
from plimsoll.errors import PlimsollError, TargetError
from plimsoll.stored import EngineOutcome, Json


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
        shift = Shift(self._server, job, control.stop)
        try:
            shift.start(telling(on_event, control))
            outcome = self._worked(shift, job, on_event, control)
            mail: Json = cast("Json", outcome).setdefault("mail", {})
            mail |= shift.closed(int(outcome["end_ns"]))
        finally:
            self._server.stop()
        engine = outcome.get("engine")
        if engine is not None:
            engine["facts"] = {**shift.facts, **_told(mail)}
        return outcome

    def _worked(self, shift: Shift, job: Job, on_event: OnEvent, control: Control) -> EngineOutcome:
        """The users' day. Raises why they could not go on where that is the servers' doing."""

        def hear(kind: str, event: Any) -> None:
            if kind == "start":
                on_event("servers", {"pids": shift.pids})
                shift.begin()
            on_event(kind, event)

        given = shift.given()
        options = {**job["job"], **given.pop("options")}
        try:
            outcome = self._mail.run({"workload": job["workload"], "job": options, "ledger": shift.ledger, **given}, hear, control)
        except PlimsollError:
            if (why := shift.why(waiting=True)) is None:
                raise
            raise TargetError(why) from None
        finally:
            shift.end()
        if (why := shift.why(waiting=False)) is not None:
            raise TargetError(why)
        if isinstance(first := outcome.get("first_error"), dict):
            first["message"] += shift.beside
        return outcome


def telling(on_event: OnEvent, control: Control) -> Callable[[], bool]:
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
