"""What hosts of a gang work out of models, as many pieces at a time as they have processors: functions of what they are told alone.

Model: a piece is a request whose answer nothing but the request decides, so who answers makes no difference, and what a host had under way
when it was lost is asked of another one. Workers on one machine divide its processors. Nothing is stored, and nothing begins by the clock.
Limits: a piece goes to a host when that has a processor to spare; hosts of unequal speed end unequally late.

    with host_work("local:3") as work:                      # plimsoll.points.gang
        for place, value in work.done([{"ask": "rate", ...}, ...]): ...
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from plimsoll.errors import EngineError, Interrupted
from plimsoll.gang.driver import GangEngine
from plimsoll.gang.gang import refusal
from plimsoll.stored import Json

_LOOK_S = 0.1


class HostWork:
    """See the module."""

    def __init__(self, engine: GangEngine) -> None:
        self._gang = engine.gang()
        self._room = places_of(engine)

    @property
    def count(self) -> int:
        """How many pieces are worked out at a time."""
        return sum(self._room.values())

    def done(self, requests: Sequence[Json], stopped: Callable[[], bool] = bool) -> Iterator[tuple[int, Any]]:
        """The place of each request with its answer, as they come. Raises what the first refused with, `EngineError` once all hosts are
        lost, and `Interrupted` where it was ``stopped``."""
        waiting = deque(range(len(requests)))
        under_way: dict[tuple[str, int], int] = {}
        while waiting or under_way:
            if stopped():
                self._gang.abort()
                raise Interrupted("stopped")
            self._hand_out(requests, waiting, under_way)
            heard = self._gang.heard(_LOOK_S)
            if heard is None:
                continue
            host, event = heard
            if event["say"] == "lost":
                for key in [key for key in under_way if key[0] == host]:
                    waiting.appendleft(under_way.pop(key))
            place = under_way.pop((host, event.get("id", -1)), None)
            if place is None:
                continue
            if event["say"] == "refused":
                raise refusal(host, event)
            yield place, event["value"]

    def _hand_out(self, requests: Sequence[Json], waiting: deque[int], under_way: dict[tuple[str, int], int]) -> None:
        alive = [host for host in self._room if host not in self._gang.lost]
        if not alive:
            raise EngineError("; ".join(f"{host} is lost: {lost.why}" for host, lost in self._gang.lost.items()) + ".")
        busy = Counter(host for host, _ in under_way)
        for host in alive:
            while waiting and busy[host] < self._room[host]:
                place = waiting.popleft()
                under_way[host, self._gang.hand(host, requests[place])] = place
                busy[host] += 1


def places_of(engine: GangEngine) -> dict[str, int]:
    """How many pieces each host works out at a time: one for each processor, which workers on one machine divide."""
    engine.gang()
    known = engine.introduced
    together = Counter(known[host]["machine"] for host in engine.hosts)
    return {host: max(1, int(known[host]["processors"]) // together[known[host]["machine"]]) for host in engine.hosts}
