"""The distribution of latencies as a report draws it: percentiles, the curve, the bands of a heat map.

Model: a distribution is a sorted list of buckets ``(upper_ns, count)`` as ``Histogram.buckets()`` yields them; every I/O of a
bucket is taken at its upper bound, which is how HDR histograms report percentiles, so a percentile computed here equals the
one stored in the result. What is here is the definition, in plain Python; `plimsoll.histogram.Distribution` answers the same quickly.
Limits: nothing below the resolution of the histogram (1/256) can be told apart; the curve is thinned to what a screen can show.

    Distribution([(100, 4), (200, 4)]).value_at(50.0)      # 100
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import accumulate
from typing import Any, Protocol

Buckets = list[tuple[int, int]]
"""Sorted ``(upper_ns, count)`` with counts above zero."""


class LatencyDistribution(Protocol):
    """What is asked of a distribution, as `Distribution` answers it."""

    @property
    def count(self) -> int:
        """How many I/Os there are."""

    def add(self, other: Any, /) -> None:
        """Add another's counts."""

    def value_at(self, percent: float, /) -> int | None:
        """The latency in ns that ``percent`` of the I/Os did not exceed (nearest rank); None without I/Os."""

    def values_at(self, percents: Sequence[float], /) -> list[int]:
        """The same for each of ``percents``; empty without I/Os."""

    def levels(self, percents: Sequence[float], /) -> list[tuple[float, int]]:
        """``(percent, ns)`` for each of ``percents`` that at least one I/O lies beyond, and the maximum at 100; there are I/Os."""

    def curve(self, step_nines: float, step_ratio: float, /) -> list[tuple[float, int]]:
        """``(nines, ns)`` from the minimum to the maximum, a step of nines or a factor in latency from each other; there are I/Os."""

    def bands(self, edges_ns: Sequence[int], /) -> list[int]:
        """One heat-map column as ``[first band, count, count, …]`` of bands with these lowest latencies; empty without I/Os."""

    def buckets(self) -> Buckets:
        """The buckets."""


Decoder = Callable[[Iterable[str]], LatencyDistribution]
"""From histograms as stored (HDR V2 deflate, base64) to the distribution of all together, added up without loss."""

BANDS_PER_DECADE = 12
"""A heat-map band is 21 % wide, and every twelfth edge is a power of ten."""

LONGEST_NS = 2**42 - 1
"""The longest latency that a histogram tells apart."""

LEVELS = (0.0, 10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95, 99.99, 99.999, 99.9999)
"""Percentiles listed in the table below a curve, as far as the number of I/Os supports them."""

CURVE_STEPS = (0.012, 1.08)
"""How far apart points of a curve are at least: in nines, or as a factor in latency. Closer ones fall together on a screen."""


class Distribution:
    """The buckets, and what is asked of them."""

    def __init__(self, buckets: Buckets) -> None:
        self._buckets = buckets
        self._running = list(accumulate([count for _, count in buckets]))

    @property
    def count(self) -> int:
        """How many I/Os there are."""
        return self._running[-1] if self._running else 0

    def add(self, other: Distribution) -> None:
        """Add another's counts."""
        total = Counter(dict(self._buckets))
        for upper_ns, count in other.buckets():
            total[upper_ns] += count
        self._buckets = sorted(total.items())
        self._running = list(accumulate(total[upper_ns] for upper_ns, _ in self._buckets))

    def value_at(self, percent: float) -> int | None:
        """The latency in ns that ``percent`` of the I/Os did not exceed (nearest rank, as HDR histograms define it)."""
        if not self._buckets:
            return None
        return _at_rank(self._buckets, self._running, percent)

    def values_at(self, percents: Sequence[float]) -> list[int]:
        """The same for each of ``percents``; empty without I/Os."""
        return [_at_rank(self._buckets, self._running, percent) for percent in percents] if self._buckets else []

    def levels(self, percents: Sequence[float]) -> list[tuple[float, int]]:
        """``(percent, ns)`` for each of ``percents`` that at least one I/O lies beyond, and the maximum at 100."""
        held = [percent for percent in percents if self.count * (1.0 - percent / 100.0) >= 1.0]
        return [*zip(held, self.values_at(held), strict=True), (100.0, self._buckets[-1][0])]

    def curve(self, step_nines: float, step_ratio: float) -> list[tuple[float, int]]:
        """``(nines, ns)``: 0 is the minimum, 1 the 90th percentile, 2 the 99th, 3 the 99.9th; the last point is the maximum.

        The maximum of n I/Os is drawn at log10(n) nines, where the last single I/O stands.
        """
        points: list[tuple[float, int]] = [(0.0, self._buckets[0][0])]
        for (upper_ns, _), running in list(zip(self._buckets, self._running, strict=True))[:-1]:
            nines = -math.log10(1.0 - running / self.count)
            last_nines, last_ns = points[-1]
            if nines - last_nines >= step_nines or upper_ns >= last_ns * step_ratio:
                points.append((round(nines, 4), upper_ns))
        points.append((round(max(math.log10(self.count), points[-1][0]), 4), self._buckets[-1][0]))
        return points

    def bands(self, edges_ns: Sequence[int]) -> list[int]:
        """One heat-map column as ``[first band, count, count, …]``; empty when there was no I/O."""
        if not self._buckets:
            return []
        numbers = [bisect_right(edges_ns, upper_ns) - 1 for upper_ns, _ in self._buckets]
        column = [0] * (numbers[-1] - numbers[0] + 1)
        for number, (_, count) in zip(numbers, self._buckets, strict=True):
            column[number - numbers[0]] += count
        return [numbers[0], *column]

    def buckets(self) -> Buckets:
        """The buckets."""
        return self._buckets


def _at_rank(buckets: Buckets, running: Sequence[int], percent: float) -> int:
    rank = max(1, math.ceil(percent / 100.0 * running[-1] - 1e-9))
    return buckets[bisect_left(running, rank)][0]


@cache
def band_of(latency_ns: int) -> int:
    """The heat-map band a latency belongs to: band b covers 10^(b/12) to 10^((b+1)/12) ns."""
    return math.floor(math.log10(max(latency_ns, 1)) * BANDS_PER_DECADE + 1e-9)


@cache
def _edge(band: int) -> int:
    """The lowest whole latency of a band, in ns."""
    edge = max(0, math.floor(10 ** (band / BANDS_PER_DECADE)) - 1)
    while band_of(edge) < band:
        edge += 1
    return edge


@cache
def band_edges_ns() -> tuple[int, ...]:
    """The lowest latency of every band that a histogram reaches."""
    return tuple(_edge(band) for band in range(band_of(LONGEST_NS) + 1))
