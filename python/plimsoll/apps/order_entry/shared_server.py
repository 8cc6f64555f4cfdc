"""The database of order entry whose terminals are on several hosts: served, watched and checked from the host that commands them.

Model: the database is filled and claimed here, once; the hosts connect to it and do nothing else. A private server is started here and is
reached through its socket. What only the server knows is counted once, and what has to hold is checked once all hosts have ended.
Limits: a private server has a socket and no port, so its clients are on this machine.

    with driver.shared_server(job, on_event, control, count=3) as shared:
        shared.begin(t0_ns)                     # the hosts carry out transactions at shared.target
        shared.end()
    shared.section()["consistent"]
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from plimsoll.apps.course import Timing
from plimsoll.apps.order_entry.counters import Follower, watched_section
from plimsoll.apps.order_entry.store import Store, Watch
from plimsoll.errors import PlimsollError
from plimsoll.stored import Json

#: What one of several clients says of the database.
UNCHECKED: Json = {"consistent": None, "broken": [], "unchecked": "the database is checked once for all hosts, when they have ended"}


class SharedServer:
    """See the module. ``target`` is where clients reach the database; ``stream`` is that of all of them together."""

    #: What hosts are told besides where the database is.
    given: Mapping[str, Any] = {}

    #: The section of the outcome that it adds to.
    name = "orders"

    def __init__(self, target: str, store: Store, watch: Watch, stream: Json, timing: Timing) -> None:
        self.target = target
        self._store = store
        self._watch = watch
        self._stream = stream
        self._timing = timing
        self._before = {"orders_before": store.orders(), "size_bytes": store.size_bytes()}
        self._follower: Follower | None = None

    def begin(self, t0_ns: int) -> None:
        """All hosts begin at this instant of the monotonic clock."""
        from_ns = t0_ns + self._timing.warmup_ns
        to_ns = from_ns + self._timing.duration_ns
        self._follower = Follower(self._watch, lambda: from_ns <= time.monotonic_ns() < to_ns)

    def end(self) -> None:
        """All hosts have ended."""
        if self._follower is not None:
            self._follower.end()

    def take(self, number: int, fetch: Callable[[str], bool], *, whole: bool) -> None:
        """A host has ended; what it did, it has told."""

    def why(self) -> str | None:
        """Why hosts could not go on: each says that itself."""
        return None

    def section(self, hosts: list[Json], *, failed: bool) -> Json:
        """What is known here alone; ``failed`` says that one of the hosts could not go on."""
        del hosts
        if self._follower is not None:
            self._follower.check()
        return {**self._before, "stream": self._stream, **watched_section(self._watch.watched()), **checked(self._store, failed=failed)}


def checked(store: Store, *, failed: bool) -> Json:
    """What the conditions of consistency say; not known where the database is gone."""
    try:
        broken = list(store.broken())
    except PlimsollError as problem:
        if not failed:
            raise
        return {"consistent": None, "broken": [], "unchecked": str(problem)}
    return {"consistent": not broken, "broken": broken}
