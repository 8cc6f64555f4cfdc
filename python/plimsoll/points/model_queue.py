"""Points of models that come one by one and are measured by processes of this machine, as many at a time as it has to spare.

Model: a thread hands each point to a process that has nothing to do and tells what came of it, in the order in which points end.
Limits: a point whose process died is told as lost; whoever asked for it asks again.

    queue = ModelQueue(4, host_facts(), told)
    queue.put(request_id, point)
    queue.close()
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable

from plimsoll.points.ahead import Hands, Kept
from plimsoll.points.point import PlannedPoint
from plimsoll.points.processes import Processes
from plimsoll.stored import HostFacts

_LOOK_S = 0.05


class ModelQueue:
    """See the module; ``told`` hears from the thread."""

    def __init__(self, most: int, host: HostFacts, told: Callable[[int, Kept | None], None]) -> None:
        self._most, self._host, self._told = most, host, told
        self._waiting: deque[tuple[int, PlannedPoint]] = deque()
        self._come = threading.Event()
        self._closing = False
        # Processes end with the thread that started them.
        self._thread = threading.Thread(target=self._serve, name="plimsoll-models", daemon=True)
        self._thread.start()

    def put(self, number: int, point: PlannedPoint) -> None:
        """One more."""
        self._waiting.append((number, point))
        self._come.set()

    def close(self) -> None:
        """Let all go, whatever they are doing."""
        self._closing = True
        self._come.set()
        self._thread.join()

    def _serve(self) -> None:
        self._come.wait()
        if self._closing:
            return
        hands = Processes(self._host, self._most)
        under_way = 0
        try:
            while not self._closing:
                if not under_way and not self._waiting:
                    self._come.clear()
                    if not self._waiting and not self._closing:
                        self._come.wait()
                under_way += self._begin(hands)
                for number, kept in hands.ended(_LOOK_S):
                    under_way -= 1
                    self._told(number, kept)
        finally:
            hands.close()

    def _begin(self, hands: Hands) -> int:
        begun = 0
        while self._waiting and hands.idle:
            hands.begin(*self._waiting.popleft())
            begun += 1
        while self._waiting and not hands.count:
            # Every process has died.
            self._told(self._waiting.popleft()[0], None)
        return begun
