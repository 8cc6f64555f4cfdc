"""Arrivals of a trace: when requests come, and the option that comes nearest.

Spacing: the gaps between requests, and how many come in windows of equal length.

Model: gaps are counted in classes of bounded relative width (1.6 %); windows begin at 1 ms and double their length whenever there are more
than `MOST_WINDOWS`. A request that is older than the one before it counts as coming at the same time, and is counted as out of order.
Limits: silence before the first and after the last request is not known.

    spacing.add(at_ns)
    spacing.rate_per_s, spacing.variation, spacing.dispersion(32)

The fit: which arrival of ours is nearest, constant, poisson, or a schedule of rates.

Model: gaps that hardly vary are constant. Otherwise the rate is looked at in windows: where their counts scatter no more from window to
window than within one, arrival is poisson; where they do, it is a schedule, of steps that are merged while their rates differ by no more
than noise.
Limits: within a step of a schedule, and within poisson, gaps are exponential; requests that come in bunches shorter than a window, or more
evenly, do so no more. A warning says so.

    arrival(spacing).kind
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from plimsoll.units import significant

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


def gap_distance(first: Spacing, second: Spacing) -> float:
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


MOST_STEPS = 120
#: Windows of a trace's rate have so many requests on average, so that noise stays below 20 %.
_REQUESTS_PER_WINDOW = 25
CONSTANT_BELOW = 0.15
#: The highest rate of a stream.
FASTEST_PER_S = 1e9
_DEVIATIONS = 4.0
#: Windows whose rates differ by less than this share of the mean are not worth a schedule.
_LEVEL = 0.05
_ALIKE_DEVIATIONS = 3.0
#: Gaps of a Poisson process have a variation of 1.
_EVEN, _BUNCHED = 0.8, 1.3
#: Counts within a window scatter so much more than Poisson's before it is said.
_LOCALLY_BUNCHED = 1.5


@dataclass(frozen=True)
class Arrival:
    """``kind`` is an arrival of ours; ``steps`` are (from ns, requests per second)."""

    kind: str
    rate_per_s: float
    steps: tuple[tuple[int, float], ...] = ()
    warning: str | None = None


def arrival(spacing: Spacing) -> Arrival:
    """The nearest arrival; ``closed`` when all requests have the same time."""
    rate = spacing.rate_per_s
    if rate == 0:
        return Arrival("closed", 0.0)
    if rate > FASTEST_PER_S:
        return Arrival(
            "poisson", FASTEST_PER_S, warning=f"{significant(rate)} requests/s are more than the {FASTEST_PER_S:.0e} that a load can have"
        )
    if spacing.variation < CONSTANT_BELOW and spacing.count > 2:
        return Arrival("constant", rate)
    most = min(MOST_STEPS, spacing.count // _REQUESTS_PER_WINDOW)
    if most < 3:
        return Arrival("poisson", rate, warning=_unlike_poisson(spacing.variation))
    bunched = max(1.0, spacing.local_dispersion(most))
    if _is_level(spacing, most, bunched):
        return Arrival("poisson", rate, warning=_unlike_poisson(spacing.variation))
    return Arrival("schedule", rate, _steps(spacing, most, bunched), _bunched(bunched))


def _is_level(spacing: Spacing, most: int, bunched: float) -> bool:
    counts = spacing.merged(most)[1][:-1]
    if len(counts) < 2:
        return True
    mean = sum(counts) / len(counts)
    dispersion = spacing.dispersion(most)
    noise = bunched * (1 + _DEVIATIONS * math.sqrt(2 / (len(counts) - 1)))
    return dispersion <= noise or math.sqrt(dispersion / mean) < _LEVEL


def _bunched(dispersion: float) -> str | None:
    if dispersion > _LOCALLY_BUNCHED:
        scatter = f"within a step counts scatter {dispersion:.2f} times as much as Poisson's"
        return f"{scatter}: requests come in bunches that the workload does not have"
    return None


def _unlike_poisson(variation: float) -> str | None:
    if variation > _BUNCHED:
        return f"gaps vary more than Poisson's (coefficient {variation:.2f}): requests come in bunches that the workload does not have"
    if variation < _EVEN:
        return f"gaps vary less than Poisson's (coefficient {variation:.2f}): requests come more evenly than the workload's"
    return None


def _steps(spacing: Spacing, most: int, bunched: float) -> tuple[tuple[int, float], ...]:
    """Rates of stretches of windows, neighbours merged while they are alike; ``bunched`` is how much more than Poisson's counts scatter."""
    window_ns, counts = spacing.merged(most)
    stretches: list[tuple[int, int]] = []
    # The last window is cut short where the trace ends; it goes on as the one before it.
    for count in counts[:-1]:
        if stretches and _alike(stretches[-1], count, bunched):
            windows, before = stretches[-1]
            stretches[-1] = (windows + 1, before + count)
        else:
            stretches.append((1, count))
    steps, at_ns = [], 0
    for windows, count in stretches:
        steps.append((at_ns, min(FASTEST_PER_S, count / windows / window_ns * _NS_PER_S)))
        at_ns += windows * window_ns
    return tuple(steps)


def _alike(stretch: tuple[int, int], count: int, bunched: float) -> bool:
    windows, before = stretch
    expected = before / windows
    return abs(count - expected) <= _ALIKE_DEVIATIONS * math.sqrt(bunched * max(1.0, expected * (1 + 1 / windows)))
