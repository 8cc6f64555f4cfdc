"""Points of modelled targets, measured before they are asked for: in virtual time points do not disturb each other, so as many are worked
out at the same time as there are hands.

Model: what an experiment will ask for is known where no result decides it. Such points are handed out in their order, and each is taken
when it is asked for, from wherever it was measured: equal points give equal results, whoever measures them. What was not foreseen, or was
foreseen and lost with a process that died, is measured as if there were no hands. Points are handed out once measuring the first ones has
shown that it is worth the start of other processes.
Limits: a point that was handed out and is never asked for is measured in vain. Results that wait are held back at `WAITING_PER_HAND`.

    with Ahead(foreseen, Processes, brake) as ahead:
        kept = ahead.taken(point)          # None: measure it here
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from types import TracebackType
from typing import Protocol, Self

from plimsoll.points.brake import Brake
from plimsoll.points.point import PlannedPoint
from plimsoll.records import dataclass
from plimsoll.result import Result

#: Other processes are started for what takes longer than this.
WORTH_S = 2.0
#: So many points of each hand may wait to be asked for.
WAITING_PER_HAND = 8
_LOOK_S = 0.1
#: Kinds of target in virtual time.
MODELS = ("array", "queue")


@dataclass(frozen=True)
class Kept:
    """A point that was measured elsewhere: what was stored when it began, its result, the directory with both and its intervals, and the
    exit code of its failure."""

    skeleton: Result
    result: Result
    folder: str
    failure_code: int


class Hands(Protocol):
    """Who measures points beside each other."""

    @property
    def count(self) -> int:
        """How many there are, idle or not."""

    @property
    def idle(self) -> int:
        """How many have nothing to do."""

    def begin(self, number: int, point: PlannedPoint) -> None:
        """Hand a point to an idle one."""

    def ended(self, within_s: float) -> list[tuple[int, Kept | None]]:
        """The points that have ended since, by number; None for one that was lost with who measured it."""

    def close(self) -> None:
        """Let all go, whatever they are doing."""


class Ahead:
    """See the module."""

    def __init__(self, foreseen: Iterable[PlannedPoint], hands: Callable[[int], Hands], brake: Brake) -> None:
        #: What is still to be asked for, by number in the order of asking.
        self._left = {number: replace(point, left=None) for number, point in enumerate(foreseen)}
        self._next = 0
        self._made = hands
        self._hands: Hands | None = None
        self._brake = brake
        self._ended: dict[int, Kept | None] = {}
        self._under_way: set[int] = set()
        self._here_s: float | None = None

    def taken(self, point: PlannedPoint) -> Kept | None:
        """The point as it was measured elsewhere; None for one that is to be measured here."""
        asked = replace(point, left=None)
        number = next((number for number, one in self._left.items() if one == asked), None)
        if number is None:
            return None
        if self._hands is None:
            self._judge()
        if self._hands is None or (number >= self._next and not self._hands.count):
            del self._left[number]
            return None
        while number not in self._ended and not self._brake.pulled and self._hands.count:
            self._hand_out()
            self._hear(_LOOK_S)
        self._hand_out()
        del self._left[number]
        return self._ended.pop(number, None)

    def _judge(self) -> None:
        """Begin with others once what was measured here says that it is worth it."""
        now_s = time.monotonic()
        if self._here_s is not None and (now_s - self._here_s) * len(self._left) > WORTH_S and len(self._left) > 1:
            self._hands = self._made(len(self._left))
            self._next = min(self._left)
        self._here_s = now_s

    def _hand_out(self) -> None:
        if self._hands is None:
            return
        while self._hands.idle and len(self._under_way) + len(self._ended) < WAITING_PER_HAND * self._hands.count:
            number = next((number for number in self._left if number >= self._next), None)
            if number is None:
                return
            self._next = number + 1
            self._under_way.add(number)
            self._hands.begin(number, self._left[number])

    def _hear(self, within_s: float) -> None:
        if self._hands is None:
            return
        for number, kept in self._hands.ended(within_s):
            self._under_way.discard(number)
            self._ended[number] = kept

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _kind: type[BaseException] | None, _problem: BaseException | None, _trace: TracebackType | None) -> None:
        if self._hands is not None:
            self._hands.close()


def is_modelled(point: PlannedPoint) -> bool:
    """Whether a point takes place in virtual time, and does not build on another."""
    target = point.target
    return (target.document is not None or target.kind in MODELS) and not target.layout and point.place.get("role") != "precondition"
