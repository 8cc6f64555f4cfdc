"""Which requests follow the end of an earlier one: sequential, also when several runs are interleaved.

Model: for each target the ends of the latest requests are kept, as many as `WINDOW`; a request that begins at one of them continues that
run. How many runs were touched since, on average, says how many go on at once.
Limits: a run that others pushed out of the window begins anew. Backward and strided runs count as random.

    runs.follows("8,0", offset=8192, length=4096)
"""

from __future__ import annotations

WINDOW = 64
_MOST_TARGETS = 4096
#: The place of an end in the window is looked up once in so many sequential requests.
_LOOK_EVERY = 16


class Runs:
    """The ends of the latest requests of every target."""

    __slots__ = ("_ends", "_looks", "_passed", "sequential")

    def __init__(self) -> None:
        self._ends: dict[str, dict[int, None]] = {}
        self.sequential = 0
        self._looks = 0
        self._passed = 0

    def follows(self, target: str, offset: int, length: int) -> bool:
        """Whether a request continues a run; it is one of the latest from now on."""
        ends = self._ends.get(target)
        if ends is None:
            if len(self._ends) >= _MOST_TARGETS:
                self._ends.clear()
            ends = self._ends[target] = {}
        follows = offset in ends
        if follows:
            if self.sequential % _LOOK_EVERY == 0:
                self._looks += 1
                self._passed += len(ends) - 1 - list(ends).index(offset)
            self.sequential += 1
            del ends[offset]
        elif len(ends) >= WINDOW:
            del ends[next(iter(ends))]
        end = offset + length
        # Only a fresh key goes to the end of a dictionary.
        ends.pop(end, None)
        ends[end] = None
        return follows

    @property
    def at_once(self) -> float:
        """Runs that go on at once: those touched between two requests of one run, and this one."""
        return 1.0 + self._passed / self._looks if self._looks else 1.0
