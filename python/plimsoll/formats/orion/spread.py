"""A file in the place of ORION's hist.txt: for each point how many requests took how long, in powers of two of microseconds.

The buckets are ORION's, which it also prints in its summary; how its own file lays them out is not known, so the first line says that this
layout is Plimsoll's. Its trace.txt, whose layout is not known either, is not written.

Model: the first bucket ends at 32 µs, each next one at twice that, up to the first that holds the slowest request; beside each the number
of requests and the share of all up to its end. A point has a block for each kind of request that occurred. The counts come from histograms
with a relative error of 1/256, so a request that near to a boundary may be counted beside it.

    write_histograms(histograms_of(points))
"""

from __future__ import annotations

from collections.abc import Mapping

from plimsoll.formats.orion.point import Where
from plimsoll.histogram import Histogram

#: The first line of the file.
LABEL = "* In Plimsoll's own layout: how ORION lays out this file is not documented. Its buckets are ORION's."
FIRST_US = 32
#: The kinds of request in ORION's order: stream and operation.
KINDS = (("small", "read"), ("small", "write"), ("large", "read"), ("large", "write"))


def buckets(histogram: Histogram) -> list[tuple[int, int, int]]:
    """From and to in microseconds, and the count, up to the slowest request."""
    ends = [FIRST_US]
    while ends[-1] * 1000 < histogram.max:
        ends.append(ends[-1] * 2)
    counts = [0] * len(ends)
    for value_ns, count in histogram.buckets():
        index = next((number for number, end in enumerate(ends) if value_ns <= end * 1000), len(ends) - 1)
        counts[index] += count
    return [(end // 2 if number else 0, end, count) for number, (end, count) in enumerate(zip(ends, counts, strict=True))]


def write_histograms(points: Mapping[Where, Mapping[tuple[str, str], Histogram]]) -> str:
    """The text of the file; ``points`` are by outstanding requests, then by stream and operation."""
    lines: list[str] = []
    for (few, many), kinds in sorted(points.items()):
        for stream, op in KINDS:
            histogram = kinds.get((stream, op))
            if histogram is None or not histogram.count:
                continue
            lines += [f"{stream.capitalize()} {op.capitalize()} Latency Histogram @ Small={few} and Large={many}"]
            lines += ["      Latency (us)      :      Count  Cumulative %"]
            lines += _block(histogram)
            lines.append("")
    return "\n".join([LABEL, "", *lines]) + "\n" if lines else ""


def _block(histogram: Histogram) -> list[str]:
    lines, seen = [], 0
    for start, end, count in buckets(histogram):
        seen += count
        lines.append(f"{start:>10} - {end:<10} : {count:>10}  {100 * seen / histogram.count:>11.2f}%")
    return lines
