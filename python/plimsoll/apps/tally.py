"""Latencies of one cell of an interval: as they are while they are few, counted in a histogram once they are many.

Model: a histogram that is counted in takes 270 KiB of fresh memory, which costs a tenth of a millisecond to touch; for a statement a second
that is more than all else that is done for it. Of few values one is made folded, which takes no more than they do.
Limits: not for several threads at once.

    tally = Tally(); tally.record(1200); tally.histogram().percentile(99.0)
"""

from __future__ import annotations

from plimsoll.histogram import Histogram

#: So many are still cheaper to keep than to count.
FEW = 256


class Tally:
    """Begins with what is ``counted`` already, if anything."""

    __slots__ = ("_counted", "_few")

    def __init__(self, counted: Histogram | None = None) -> None:
        self._few: list[int] = []
        self._counted = counted

    @property
    def count(self) -> int:
        """How many were recorded."""
        return len(self._few) if self._counted is None else self._counted.count

    def record(self, value_ns: int) -> None:
        """One value in nanoseconds, 0 or more."""
        if self._counted is not None:
            self._counted.record(value_ns)
            return
        self._few.append(value_ns)
        if len(self._few) > FEW:
            self.counting()

    def record_text(self, counted: str) -> None:
        """Values as text (`Histogram.record_text`)."""
        self.counting().record_text(counted)

    def counting(self) -> Histogram:
        """The histogram in which all are counted from here on."""
        if self._counted is None:
            self._counted = Histogram.of_values(self._few)
            self._few = []
        return self._counted

    def histogram(self) -> Histogram:
        """All of them; it may be the one that is counted in, so it is not to be changed."""
        if self._counted is not None:
            return self._counted
        return Histogram.of_values(self._few)
