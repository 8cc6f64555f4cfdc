"""Runs a blocking verb of the engine in a thread, so that the calling thread keeps serving signals and events.

Model: the verb pushes events from its own thread; ``take`` receives them here, in order, until the verb returns or raises. A ``take``
that raises makes the verb give up; its exception leaves once the verb has ended, so nothing runs on unseen.
Limits: Python delivers signals to the main thread only; called from another thread, this serves events but no signals.

    summary, failure = served(lambda push: engine.run_job(job, push, control), take, give_up=control.abort)
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, TypeVar

from plimsoll.errors import PlimsollError

T = TypeVar("T")
Push = Callable[[str, dict[str, Any]], None]


def served(verb: Callable[[Push], T], take: Push, *, give_up: Callable[[], None]) -> tuple[T | None, PlimsollError | None]:
    """What ``verb`` returned, or the `PlimsollError` it raised; anything else it raises is a mistake of ours and passes on."""
    events: SimpleQueue[tuple[str, Any]] = SimpleQueue()

    def body() -> None:
        try:
            events.put(("returned", verb(lambda kind, event: events.put((kind, event)))))
        except BaseException as problem:  # whatever it is, it belongs to the caller
            events.put(("raised", problem))

    thread = threading.Thread(target=body, name="plimsoll-engine", daemon=True)
    thread.start()
    broken: Exception | None = None
    while True:
        kind, event = events.get()
        if kind in ("returned", "raised"):
            break
        if broken is None:
            try:
                take(kind, event)
            except Exception as problem:
                broken = problem
                give_up()
    thread.join()
    if broken is not None:
        raise broken
    if kind == "returned":
        return event, None
    if isinstance(event, PlimsollError):
        return None, event
    raise event
