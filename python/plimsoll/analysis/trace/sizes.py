"""Lengths of requests: every one that occurs while they are few, bands of a sixteenth of an octave beyond.

Limits: a length that appears after `MOST_SIZES` others is rounded down by at most 6 %.

    sizes.add(4096); sizes.counts          # {4096: 1}
"""

from __future__ import annotations

MOST_SIZES = 4096
_KEPT_BITS = 4


class Sizes:
    """How often each length occurs."""

    __slots__ = ("counts",)

    def __init__(self) -> None:
        self.counts: dict[int, int] = {}

    def add(self, length: int) -> None:
        """One request."""
        counts = self.counts
        if length in counts:
            counts[length] += 1
        elif len(counts) < MOST_SIZES:
            counts[length] = 1
        else:
            shift = max(0, length.bit_length() - 1 - _KEPT_BITS)
            rounded = length >> shift << shift
            counts[rounded] = counts.get(rounded, 0) + 1

    @property
    def total(self) -> int:
        """Requests."""
        return sum(self.counts.values())

    def shares(self) -> list[tuple[int, float]]:
        """Lengths with their share of the requests, the most frequent first."""
        total = self.total
        ordered = sorted(self.counts.items(), key=lambda item: (-item[1], item[0]))
        return [(size, count / total) for size, count in ordered]


def distance(first: Sizes, second: Sizes) -> float:
    """The largest difference between the two cumulative distributions (Kolmogorov–Smirnov)."""
    if not first.counts or not second.counts:
        return 0.0 if bool(first.counts) == bool(second.counts) else 1.0
    totals = first.total, second.total
    passed, largest = [0, 0], 0.0
    for size in sorted(first.counts.keys() | second.counts.keys()):
        passed[0] += first.counts.get(size, 0)
        passed[1] += second.counts.get(size, 0)
        largest = max(largest, abs(passed[0] / totals[0] - passed[1] / totals[1]))
    return largest
