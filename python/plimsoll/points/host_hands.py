"""Hosts of a gang that measure points of modelled targets, as many as they have processors; nothing begins by the clock.

Model: a point goes whole to a host that has a processor to spare, is measured and stored there like any other, and comes back as a copy.
What a host had under way when it was lost is told as lost.
Limits: a host's own points are copied one after the other.

    hands = HostHands(engine)
    hands.begin(0, point)
    hands.ended(0.1)
"""

from __future__ import annotations

import os
import shutil
import tempfile
from dataclasses import asdict

from plimsoll.gang.driver import GangEngine
from plimsoll.points.ahead import Kept
from plimsoll.points.host_work import places_of
from plimsoll.points.point import PlannedPoint
from plimsoll.result import Result
from plimsoll.store.reader import StoredPoint
from plimsoll.stored import Json


class HostHands:
    """See the module; `plimsoll.points.ahead.Hands`."""

    def __init__(self, engine: GangEngine) -> None:
        self._gang = engine.opened()
        self._folder = tempfile.mkdtemp(prefix="plimsoll-points-")
        self._places = {host: places for host, places in places_of(engine).items() if host not in self._gang.lost}
        #: What each host has under way: the numbers of points by those of requests.
        self._busy: dict[str, dict[int, int]] = {host: {} for host in self._places}

    @property
    def count(self) -> int:
        return sum(self._places[host] for host in self._busy)

    @property
    def idle(self) -> int:
        return sum(self._places[host] - len(own) for host, own in self._busy.items())

    def begin(self, number: int, point: PlannedPoint) -> None:
        # The host that has the largest part of its processors to spare.
        host = max(self._busy, key=lambda one: 1 - len(self._busy[one]) / self._places[one])
        request = self._gang.hand(host, _request(number, point, self._places[host]))
        self._busy[host][request] = number

    def ended(self, within_s: float) -> list[tuple[int, Kept | None]]:
        heard = self._gang.heard(within_s)
        if heard is None:
            return []
        host, event = heard
        if event["say"] == "lost":
            return [(number, None) for number in self._busy.pop(host, {}).values()]
        number = self._busy.get(host, {}).pop(event.get("id", -1), None)
        return [] if number is None else [(number, self._kept(host, event))]

    def close(self) -> None:
        if any(self._busy.values()):
            self._gang.abort()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _kept(self, host: str, event: Json) -> Kept | None:
        if event["say"] != "result":
            return None
        into = os.path.join(self._folder, host)
        self._gang.collect(host, event["point"], into)
        folder = os.path.join(into, "points", os.path.basename(event["point"]))
        if not os.path.exists(os.path.join(folder, "result.json")):
            return None
        return Kept(StoredPoint(folder).begun(), Result.from_json(event["result"], f"what {host} measured"), folder, 0)


def _request(number: int, point: PlannedPoint, places: int) -> Json:
    """The point in words that go over a wire, to a host that measures so many at a time."""
    words = asdict(point) | {"chosen": sorted(point.chosen), "target": point.target.text, "document": point.target.document}
    return {**words, "ask": "point", "point": f"{number + 1:04d}-{point.workload['name']}", "alone": True, "places": places}
