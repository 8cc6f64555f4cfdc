"""Which candidates are tried, in rounds, until the first of the queue that carry the demand are known.

Model: candidates that differ by the number of their drives alone are a *series*. More drives carry no less of the same load: each has less
to do. So one that misses its objective by far (`plimsoll.choice.trial.Outcome.far`) excludes those of its series with fewer drives; how far
covers what a level may do better with fewer members (a row of parity of three needs three operations for a small write, one of four needs
four) and the scatter of the trial. Nothing is concluded from one that misses it narrowly, nor from one that carries it.
A series is tried at its first candidate, then at its last one, which may exclude all before it, then at the middle of what is left. What
lies behind the last candidate that is wanted is not tried. Rounds have sizes that depend on nothing but their number, so the answer is the
same with any number of processes.
Limits: a candidate counts as one of a series only where ``drives`` was an axis of its word. RAIDZ and dRAID are
in none: there a record lies on many drives, so that more of them need not carry more.

    search = Search(queue, finalists=2)
    while places := search.next():
        for place in places:
            search.learn(place, tried(queue[place]))
    search.entries()
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from plimsoll.choice.ranking import Entry

#: A round has at most so many candidates.
_ROUND_MAX = 32


class Search:
    """See the module."""

    def __init__(self, queue: Sequence[Entry], finalists: int) -> None:
        self._queue = list(queue)
        self._finalists = finalists
        self._open = set(range(len(queue)))
        self._carrying: list[int] = []
        self._tried: set[int] = set()
        self._size = finalists
        self._series = _series(self._queue)

    def next(self) -> list[int]:
        """The places in the queue that are to be tried now; none when all is known."""
        left = [place for place in sorted(self._open) if place < self._end]
        if not self._tried:
            return left[: self._size]
        self._size = min(2 * self._size, _ROUND_MAX)
        chosen: list[int] = []
        for series in dict.fromkeys(self._series[place] for place in left):
            if len(chosen) < self._size:
                chosen.append(self._of_series(series, left))
        return sorted(chosen)

    def learn(self, place: int, entry: Entry) -> None:
        """What came of a place that `next` named."""
        self._queue[place] = entry
        self._open.discard(place)
        self._tried.add(place)
        if entry.carries:
            self._carrying.append(place)
        elif list(entry.outcomes.values())[-1].far:
            for other in self._before(place):
                self._open.discard(other)
                self._queue[other] = replace(self._queue[other], rejected=_dominated(entry))

    def entries(self) -> list[Entry]:
        """All of the queue, with what was found."""
        return [replace(entry, rejected=self._needless(entry)) if place in self._open else entry for place, entry in enumerate(self._queue)]

    @property
    def _end(self) -> int:
        """The place behind which nothing is wanted."""
        known = sorted(self._carrying)
        return known[self._finalists - 1] if len(known) >= self._finalists else len(self._queue)

    def _of_series(self, series: object, left: Sequence[int]) -> int:
        own = [place for place in left if self._series[place] == series]
        tried = [place for place in self._tried if self._series[place] == series]
        carrying = min((place for place in self._carrying if self._series[place] == series), default=len(self._queue))
        below = [place for place in own if place < carrying]
        if not below or not tried:
            return own[0]
        beyond = any(place > below[-1] for place in tried)
        return below[len(below) // 2] if beyond else below[-1]

    def _before(self, place: int) -> list[int]:
        drives = self._queue[place].considered.drives
        own = (other for other in self._open if self._series[other] == self._series[place])
        return [other for other in own if self._queue[other].considered.drives < drives]

    def _needless(self, entry: Entry) -> str:
        what = "dearer than" if entry.price is not None else "not fewer drives than"
        return f"not simulated: {what} {'the one that carries' if self._finalists == 1 else f'the {self._finalists} that carry'} it"


def _dominated(entry: Entry) -> str:
    return f"not simulated: fewer drives than {entry.candidate.name}, which misses it by far"


def _series(queue: Sequence[Entry]) -> list[object]:
    """The series of each place; a place of its own where nothing but the order is known."""
    return [entry.candidate.series or place for place, entry in enumerate(queue)]
