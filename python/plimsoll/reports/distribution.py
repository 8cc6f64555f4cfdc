"""Latency distributions of a report: read percentiles, cut them into heat-map bands.

Model: a distribution is a sorted list of buckets ``(upper_ns, count)`` as ``Histogram.buckets()`` yields them; every I/O of a
bucket is taken at its upper bound, which is how HDR histograms report percentiles, so a percentile computed here equals the
one stored in the result.
Limits: nothing below the resolution of the histogram (1/256) can be told apart; the curve is thinned to what a screen can show.

    value_at([(100, 4), (200, 4)], 50.0)                   # 100
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable
from functools import cache
from itertools import accumulate

Buckets = list[tuple[int, int]]
"""Sorted ``(upper_ns, count)`` with counts above zero."""

Decoder = Callable[[Iterable[str]], Buckets]
"""From histograms as stored (HDR V2 deflate, base64) to the buckets of all together, added up without loss."""

BANDS_PER_DECADE = 12
"""A heat-map band is 21 % wide, and every twelfth edge is a power of ten."""

LEVELS = (0.0, 10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95, 99.99, 99.999, 99.9999)
"""Percentiles listed in the table below a curve, as far as the number of I/Os supports them."""

_CURVE_STEP_NINES = 0.012
_CURVE_STEP_RATIO = 1.08


def value_at(buckets: Buckets, percent: float) -> int:
    """The latency in ns that ``percent`` of the I/Os did not exceed (nearest rank, as HDR histograms define it)."""
    running = list(accumulate(count for _, count in buckets))
    rank = max(1, math.ceil(percent / 100.0 * running[-1] - 1e-9))
    return buckets[bisect_left(running, rank)][0]


def levels(buckets: Buckets) -> list[tuple[float, int]]:
    """``(percent, ns)`` for every level of LEVELS that at least one I/O lies beyond, and the maximum at 100."""
    total = sum(count for _, count in buckets)
    held = [percent for percent in LEVELS if total * (1.0 - percent / 100.0) >= 1.0]
    return [(percent, value_at(buckets, percent)) for percent in held] + [(100.0, buckets[-1][0])]


def curve(buckets: Buckets) -> list[tuple[float, int]]:
    """``(nines, ns)``: 0 is the minimum, 1 the 90th percentile, 2 the 99th, 3 the 99.9th; the last point is the maximum.

    The maximum of n I/Os is drawn at log10(n) nines, where the last single I/O stands.
    """
    total = sum(count for _, count in buckets)
    points: list[tuple[float, int]] = [(0.0, buckets[0][0])]
    running = 0
    for upper_ns, count in buckets[:-1]:
        running += count
        nines = -math.log10(1.0 - running / total)
        last_nines, last_ns = points[-1]
        if nines - last_nines >= _CURVE_STEP_NINES or upper_ns >= last_ns * _CURVE_STEP_RATIO:
            points.append((round(nines, 4), upper_ns))
    points.append((round(max(math.log10(total), points[-1][0]), 4), buckets[-1][0]))
    return points


@cache
def band_of(latency_ns: int) -> int:
    """The heat-map band a latency belongs to: band b covers 10^(b/12) to 10^((b+1)/12) ns."""
    return math.floor(math.log10(max(latency_ns, 1)) * BANDS_PER_DECADE + 1e-9)


def bands(buckets: Buckets) -> list[int]:
    """One heat-map column as ``[first band, count, count, …]``; empty when there was no I/O."""
    if not buckets:
        return []
    counted: Counter[int] = Counter()
    for upper_ns, count in buckets:
        counted[band_of(upper_ns)] += count
    first, last = min(counted), max(counted)
    return [first, *(counted[band] for band in range(first, last + 1))]
