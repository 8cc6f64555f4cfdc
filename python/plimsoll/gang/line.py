"""A line to one host of a gang: calls of its relay, and round trips between the clocks.

Model: whatever carries a gang gives a line for each host, and nothing else is asked of it. `Direct` calls a relay in this process, without
anything in between; `plimsoll.gang.switchboard` has the one that goes through Ray.

    line.call("events", 0, 0.5, within_s=8.0)
    line.trips(50)                       # [(sent_ns, theirs_ns, received_ns), …]
"""

from __future__ import annotations

import time
from typing import Any, Protocol

from plimsoll.gang.relay import Relay

Trip = tuple[int, int, int]


class LineLost(Exception):
    """Nothing more is heard of the host; the text says why."""


class Line(Protocol):
    """See the module."""

    def call(self, verb: str, *arguments: Any, within_s: float) -> Any:
        """What the relay's ``verb`` answers. Raises `LineLost` when no answer comes ``within_s``, or none ever will."""

    def trips(self, count: int) -> list[Trip]:
        """So many round trips: our clock, theirs, ours again, in nanoseconds. Raises `LineLost`."""

    def close(self) -> None:
        """Nothing more is asked."""


class Direct:
    """A line to a relay in this process."""

    def __init__(self, relay: Relay) -> None:
        self._relay = relay

    def call(self, verb: str, *arguments: Any, within_s: float) -> Any:
        return getattr(self._relay, verb)(*arguments)

    def trips(self, count: int) -> list[Trip]:
        return round_trips(self._relay.clock, count)

    def close(self) -> None:
        self._relay.close()


def round_trips(clock: Any, count: int) -> list[Trip]:
    """Asks ``clock`` so often for the other's monotonic time."""
    trips: list[Trip] = []
    for _ in range(count):
        sent_ns = time.monotonic_ns()
        theirs_ns = clock()[0]
        trips.append((sent_ns, int(theirs_ns), time.monotonic_ns()))
    return trips
