"""When requests come: the gaps between them, and how many come in windows of equal length.

Model: gaps are counted in classes of bounded relative width (1.6 %); windows begin at 1 ms and double their length whenever there are more
than `MOST_WINDOWS`. A request that is older than the one before it counts as coming at the same time, and is counted as out of order.
Limits: silence before the first and after the last request is not known.

    spacing.add(at_ns)
    spacing.rate_per_s, spacing.variation, spacing.dispersion(32)
"""

from __future__ import annotations

import math

MOST_WINDOWS = 8192
FIRST_WINDOW_NS = 1_000_000
_BITS = 6
#: Into so many parts a window is cut to see what happens within.
_FINE = 10
_NS_PER_S = 1e9


class Spacing:
    """Arrivals."""

    __slots__ = ("_squares", "_sum", "count", "first_ns", "gaps", "last_ns", "out_of_order", "window_ns", "windows")

    def __init__(self) -> None:
        self.count = 0
        self.first_ns = 0
        self.last_ns = 0
        self.out_of_order = 0
        self.gaps: dict[int, int] = {}
        self.window_ns = FIRST_WINDOW_NS
        self.windows: list[int] = [0]
        self._sum = 0.0
        self._squares = 0.0

    def add(self, at_ns: int) -> None:
        """One arrival."""
        if self.count == 0:
            self.first_ns = self.last_ns = at_ns
        else:
            gap = at_ns - self.last_ns
            if gap < 0:
                self.out_of_order += 1
                gap, at_ns = 0, self.last_ns
            self.last_ns = at_ns
            shift = max(0, gap.bit_length() - 1 - _BITS)
            key = gap >> shift << shift
            self.gaps[key] = self.gaps.get(key, 0) + 1
            self._sum += gap
            self._squares += float(gap) * gap
        self.count += 1
        index = (at_ns - self.first_ns) // self.window_ns
        if index >= len(self.windows):
            index = self._reach(at_ns)
        self.windows[index] += 1

    @property
    def span_ns(self) -> int:
        """From the first to the last."""
        return self.last_ns - self.first_ns

    @property
    def rate_per_s(self) -> float:
        """Arrivals per second between the first and the last; 0 when all came at once."""
        return (self.count - 1) / self.span_ns * _NS_PER_S if self.span_ns else 0.0

    @property
    def variation(self) -> float:
        """Coefficient of variation of the gaps: 0 constant, 1 Poisson, more in bunches."""
        number = self.count - 1
        if number < 1 or not self._sum:
            return 0.0
        mean = self._sum / number
        return math.sqrt(max(0.0, self._squares / number - mean * mean)) / mean

    def quantile(self, share: float) -> int:
        """The gap that ``share`` of the gaps do not exceed, in nanoseconds."""
        wanted, passed, last = share * (self.count - 1), 0, 0
        for gap in sorted(self.gaps):
            passed, last = passed + self.gaps[gap], gap
            if passed >= wanted:
                break
        return last

    def merged(self, most: int) -> tuple[int, list[int]]:
        """At most ``most`` windows of equal length that cover the whole time: their length and their counts; the last may be cut short."""
        together = math.ceil(len(self.windows) / most)
        counts = [sum(self.windows[at : at + together]) for at in range(0, len(self.windows), together)]
        return self.window_ns * together, counts

    def dispersion(self, most: int) -> float:
        """Index of dispersion, variance over mean, of the counts in at most ``most`` windows, the last left out: 1 for Poisson."""
        counts = self.merged(most)[1][:-1]
        if len(counts) < 2:
            return 1.0
        mean = sum(counts) / len(counts)
        return sum((count - mean) ** 2 for count in counts) / (len(counts) - 1) / mean if mean else 1.0

    def local_dispersion(self, most: int) -> float:
        """Index of dispersion of the counts within each of at most ``most`` windows: what changes from one to the next is not in it."""
        together = math.ceil(len(self.windows) / most)
        fine = max(1, together // _FINE)
        variances = means = 0.0
        for start in range(0, len(self.windows) - together, together):
            counts = [sum(self.windows[at : at + fine]) for at in range(start, start + together - fine + 1, fine)]
            if len(counts) > 1:
                mean = sum(counts) / len(counts)
                variances += sum((count - mean) ** 2 for count in counts) / (len(counts) - 1)
                means += mean
        return variances / means if means else 1.0

    def _reach(self, at_ns: int) -> int:
        while (at_ns - self.first_ns) // self.window_ns >= MOST_WINDOWS:
            windows = self.windows if len(self.windows) % 2 == 0 else [*self.windows, 0]
            self.windows = [windows[at] + windows[at + 1] for at in range(0, len(windows), 2)]
            self.window_ns *= 2
        index = (at_ns - self.first_ns) // self.window_ns
        self.windows.extend([0] * (index + 1 - len(self.windows)))
        return index


def distance(first: Spacing, second: Spacing) -> float:
    """The largest difference between the two cumulative distributions of gaps (Kolmogorov–Smirnov)."""
    totals = sum(first.gaps.values()), sum(second.gaps.values())
    if not all(totals):
        return 0.0 if totals[0] == totals[1] else 1.0
    passed, largest = [0, 0], 0.0
    for gap in sorted(first.gaps.keys() | second.gaps.keys()):
        passed[0] += first.gaps.get(gap, 0)
        passed[1] += second.gaps.get(gap, 0)
        largest = max(largest, abs(passed[0] / totals[0] - passed[1] / totals[1]))
    return largest
