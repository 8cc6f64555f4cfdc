"""fio's latency bins: 29 groups of 64, 1,856 in all, exact to 127 ns and within 1/128 of the value above.

Model: with e = group − 1, bin ``i`` holds the values whose upper seven bits are equal; its value is the middle, 2^(e+6) + (i mod 64 +
½)·2^e. What lies beyond the last bin (17.2 s) is counted in it. Our histograms are finer and share these edges, so none of their buckets
is split.
Limits: fio reads a percentile off as the value of the bin in which the rank falls, so its percentiles are up to 1/128 beside ours.

    counts = binned(histogram)            # {bin: count}
    percentile(counts, 99.0)              # nanoseconds, the middle of a bin
"""

from __future__ import annotations

from collections.abc import Mapping

from plimsoll.histogram import Histogram, decoded

BINS = 1856
_EXACT = 128
_GROUP = 64

#: The percentiles of fio's default ``percentile_list``.
PERCENTILES = (1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95, 99.99)


def bin_of(value_ns: int) -> int:
    """The bin that counts ``value_ns``."""
    if value_ns < _EXACT:
        return max(0, value_ns)
    e = value_ns.bit_length() - 7
    return min(e * _GROUP + (value_ns >> e), BINS - 1)


def value_of(index: int) -> int:
    """The middle of bin ``index`` in nanoseconds."""
    if index < _EXACT:
        return index
    e = (index >> 6) - 1
    return (1 << (e + 6)) + (index & (_GROUP - 1)) * (1 << e) + (1 << e) // 2


def binned(histogram: Histogram | None) -> dict[int, int]:
    """How many values each bin counts, in rising order; bins that count none are absent."""
    counts: dict[int, int] = {}
    for value_ns, count in histogram.buckets() if histogram is not None else ():
        index = bin_of(value_ns)
        counts[index] = counts.get(index, 0) + count
    return counts


def percentile(counts: Mapping[int, int], percent: float) -> int:
    """The value of the first bin up to which at least ``percent`` of all values are counted."""
    wanted = percent / 100.0 * sum(counts.values())
    seen = 0
    last = 0
    for index in sorted(counts):
        seen, last = seen + counts[index], index
        if seen >= wanted:
            break
    return value_of(last)


def histogram_of(values: Mapping[int, int]) -> Histogram:
    """A histogram that holds every value (nanoseconds) as often as its count says.

    Counts go in bit by bit, the histogram so far being doubled in between, so that a run of a billion requests takes thirty steps.
    """
    total = Histogram()
    for bit in range(max(values.values(), default=0).bit_length() - 1, -1, -1):
        if total.count:
            total.add(decoded(total.encode()))
        for value_ns, count in values.items():
            if count >> bit & 1:
                total.record(value_ns)
    return total
