"""Runs a blocking verb of the engine in a thread, so that the calling thread keeps serving signals and events.

Model: the verb pushes events from its own thread; ``take`` receives them here, in order, until the verb returns or raises. A ``take``
that raises makes the verb give up; its exception leaves once the verb has ended, so nothing runs on unseen. So does a KeyboardInterrupt.
Limits: Python delivers signals to the main thread only; called from another thread, this serves events but no signals.

    summary, failure = served(lambda push: engine.run_job(job, push, control), take, give_up=control.abort)
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Any, TypeVar

from plimsoll.errors import PlimsollError

T = TypeVar("T")
#: From when on it is worth a word that no event comes.
QUIET_FROM_S = 5.0
_LOOK_S = 1.0
Push = Callable[[str, dict[str, Any]], None]


def served(
    verb: Callable[[Push], T], take: Push, *, give_up: Callable[[], None], quiet: Callable[[float], None] = lambda _: None
) -> tuple[T | None, PlimsollError | None]:
    """What ``verb`` returned, or the `PlimsollError` it raised; anything else it raises is a mistake of ours and passes on.

    ``quiet`` is told once a second for how many seconds no event has come, from `QUIET_FROM_S` on.
    """
    events: SimpleQueue[tuple[str, Any]] = SimpleQueue()

    def body() -> None:
        try:
            events.put(("returned", verb(lambda kind, event: events.put((kind, event)))))
        except BaseException as problem:  # whatever it is, it belongs to the caller
            events.put(("raised", problem))

    thread = threading.Thread(target=body, name="plimsoll-engine", daemon=True)
    thread.start()
    broken: BaseException | None = None
    while True:
        try:
            kind, event = _next(events, quiet if broken is None else lambda _: None)
            if kind in ("returned", "raised"):
                break
            if broken is None:
                take(kind, event)
        # Also a Ctrl-C that nobody handles: the verb must not run on behind whoever called.
        except (Exception, KeyboardInterrupt) as problem:
            broken = broken or problem
            give_up()
    thread.join()
    if broken is not None:
        raise broken
    if kind == "returned":
        return event, None
    if isinstance(event, PlimsollError):
        return None, event
    raise event


def _next(events: SimpleQueue[tuple[str, Any]], quiet: Callable[[float], None]) -> tuple[str, Any]:
    """The next event; ``quiet`` is told while none comes."""
    begin_s = monotonic()
    while True:
        try:
            return events.get(timeout=_LOOK_S)
        except Empty:
            silent_s = monotonic() - begin_s
            if silent_s >= QUIET_FROM_S:
                quiet(silent_s)
