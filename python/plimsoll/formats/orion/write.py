"""ORION's summary.txt, with the command line that asks for points of ours, and a file in the place of its hist.txt.

Model: sizes, writes, kind of large requests and how many each stream has outstanding are those of the streams ``small`` and ``large``; the
matrix and the number of disks are the smallest whose points are those of the plane. The lines of the summary and their order are those of
the tool; latencies are milliseconds up to release 11.1. From 11.2 on they are microseconds, and beside each best of small requests stand
mean, range and deviation. Numbers of small and large requests are listed as measured. The histogram says for each point how many requests
took how long, in powers of two of microseconds: the first bucket ends at 32 µs, each next one at twice that, up to the first that holds the
slowest request; beside each the number of requests and the share of all up to its end. A point has a block for each kind of request that
occurred. The counts come from histograms with a relative error of 1/256, so a request that near to a boundary may be counted beside it.
Limits: where no matrix has exactly these points, it is the smallest that has all of them. The share of writes is one for both streams. The
point without requests, which ORION counts, is counted in the total only when it is in the plane. The version line names Plimsoll, since
ORION did not measure this. How ORION lays out its own histogram file is not known, so the first line says that this layout is Plimsoll's;
its trace.txt, whose layout is not known either, is not written.

    words_for(points, plane, "night")       # ["-run", "advanced", "-testname", "night", "-matrix", "basic", "-num_disks", "1", …]
    write_summary(About(command, luns, version="0.3.0"), plane)
    write_histograms(histograms_of(points))
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from plimsoll.formats.mix import random_percent, shares
from plimsoll.formats.orion.grid import LARGE_PER_DISK, OLTP_PER_DISK, SMALL_PER_DISK, Shape, points
from plimsoll.formats.orion.plane import Latency, Plane, Where
from plimsoll.formats.orion.read import Command
from plimsoll.formats.orion.table import WIDTH, Unit
from plimsoll.formats.stored_point import Recorded
from plimsoll.histogram import Histogram
from plimsoll.stored import Stream

#: Above so many disks the points of a matrix are not listed to find out whether they are the same.
_LISTED_MAX = 200


def words_for(recorded: Sequence[Recorded], plane: Plane, test: str) -> list[str]:
    """The command line; streams of one kind of request are called small and large."""
    job = recorded[0].result.job
    streams: dict[str, Stream] = {}
    depths: dict[str, int] = {}
    for point in recorded:
        settings = point.result.place.get("settings") or {}
        for stream in point.result.job.definition.get("stream") or []:
            name = str(stream.get("name"))
            streams.setdefault(name, stream)
            depths[name] = max(depths.get(name, 1), int(settings.get(f"{name}.queue_depth", stream.get("queue_depth", 1))))
    matrix = _matrix(plane)
    words = ["-run", "oltp"] if matrix[0] == "oltp" else ["-run", "advanced", "-matrix", matrix[0]]
    words += ["-testname", test, *_options(*matrix), "-duration", str(max(1, round(job.duration_s)))]
    words += _sizes(streams)
    if "large" in streams and not random_percent(streams["large"]):
        words += ["-type", "seq", "-num_streamIO", str(depths["large"])]
    writes = max((shares(stream)[1] for stream in streams.values()), default=0.0)
    return [*words, "-write", f"{writes:.0f}"]


def _sizes(streams: Mapping[str, Stream]) -> list[str]:
    words: list[str] = []
    for name in ("small", "large"):
        size = streams[name].get("block_size") if name in streams else None
        if isinstance(size, int) and size >= 1024:
            words += [f"-size_{name}", str(size // 1024)]
    return words


def _matrix(plane: Plane) -> tuple[str, Shape]:
    """ORION's word for the matrix, or ``oltp``, and its shape."""
    asked = set(plane.points) - {(0, 0)}
    few, many = plane.small() or [0], plane.large() or [0]
    fixed = {"num_small": few[0], "num_large": many[0]}
    disks = max(_whole(few[-1], SMALL_PER_DISK), _whole(many[-1], LARGE_PER_DISK), 1)
    if len(asked) == 1:
        return "point", Shape(1, **fixed)
    shapes = [("basic", disks), ("row", _whole(few[-1], SMALL_PER_DISK)), ("col", _whole(many[-1], LARGE_PER_DISK))]
    shapes += [("detailed", disks), ("oltp", _whole(few[-1], OLTP_PER_DISK))]
    listed = {
        matrix: Shape(max(1, count), **fixed)
        for matrix, count in shapes
        if count <= _LISTED_MAX and asked <= set(points(matrix, Shape(max(1, count), **fixed)))
    }
    for matrix, shape in listed.items():
        if asked == set(points(matrix, shape)) - {(0, 0)}:
            return matrix, shape
    smallest = min(listed, key=lambda matrix: len(points(matrix, listed[matrix])), default="detailed")
    return smallest, listed.get(smallest, Shape(disks))


def _options(matrix: str, shape: Shape) -> list[str]:
    words = ["-num_disks", str(shape.disks)]
    if matrix in ("point", "col"):
        words += ["-num_small", str(shape.num_small)]
    if matrix in ("point", "row"):
        words += ["-num_large", str(shape.num_large)]
    return words


def _whole(number: int, by: int) -> int:
    return -(-number // by)


@dataclass(frozen=True)
class LunSize:
    """A LUN and how large it is."""

    path: str
    size_bytes: int


@dataclass(frozen=True)
class About:
    """What stands above the figures."""

    command: Command
    luns: Sequence[LunSize]
    version: str
    unit: Unit = "us"


def write_summary(about: About, plane: Plane) -> str:
    """The text of the file."""
    lines = [f"ORION VERSION Plimsoll {about.version}", "", "Commandline:", about.command.text]
    lines += ["", "This maps to this test:", *_test(about.command)]
    lines += [
        _listed("Small Columns", plane.small()),
        _listed("Large Columns", plane.large()),
        f"Total Data Points: {len(plane.points)}",
        "",
    ]
    lines += [f"Name: {lun.path}  Size: {lun.size_bytes}" for lun in about.luns]
    lines += [f"{len(about.luns)} FILEs found.", "", *_bests(plane, about.unit)]
    return "\n".join(lines) + "\n"


def _test(command: Command) -> list[str]:
    sequential = command.word("type") == "seq"
    striped = command.word("simulate") == "raid0"
    cache = command.value("cache_size")
    lines = [
        f"Test: {command.word('testname')}",
        f"Small IO size: {command.number('size_small')} KB",
        f"Large IO size: {command.number('size_large')} KB",
        f"IO Types: Small Random IOs, Large {'Sequential Streams' if sequential else 'Random IOs'}",
    ]
    if sequential:
        lines.append(f"Number of Concurrent IOs Per Stream: {command.number('num_streamIO')}")
    lines.append(f"Simulated Array Type: {'RAID 0' if striped else 'CONCAT'}")
    if striped:
        lines.append(f"Stripe Depth: {command.number('stripe')} KB")
    return [
        *lines,
        f"Write: {command.number('write')}%",
        f"Cache Size: {'Not Entered' if cache is None else f'{cache} MB'}",
        f"Duration for each Data Point: {command.number('duration')} seconds",
    ]


def _listed(title: str, counts: Sequence[int]) -> str:
    return ",".join([f"{title}:", *(f"{count:>{WIDTH}}" for count in counts)])


def _bests(plane: Plane, unit: Unit) -> list[str]:
    lines: list[str] = []
    large = plane.best("mbps", alone="large")
    if large is not None:
        lines.append(f"Maximum Large MBPS={large[1]:.2f} @ {_at(large[0])}")
    small = plane.best("iops", alone="small")
    if small is not None:
        lines.append(f"Maximum Small IOPS={small[1]:.0f} @ {_at(small[0])}")
        lines += _spread(plane.points[small[0]].latency, small[0], unit)
    quickest = plane.quickest()
    if quickest is not None:
        where, latency = quickest
        value = f"{latency.mean_us / 1000:.2f}" if unit == "ms" else f"{latency.mean_us:.2f} usecs"
        lines += [f"Minimum Small Latency={value} @ {_at(where)}", *_spread(latency, where, unit)]
    return lines


def _spread(latency: Latency | None, where: Where, unit: Unit) -> list[str]:
    if unit == "ms" or latency is None or latency.min_us is None or latency.max_us is None or latency.stddev_us is None:
        return []
    figures = f"avg={latency.mean_us:.0f} us, min={latency.min_us:.0f} us, max={latency.max_us:.0f} us, std dev={latency.stddev_us:.0f} us"
    return [f"Small Latency: {figures} @ {_at(where)}"]


def _at(where: Where) -> str:
    return f"Small={where[0]} and Large={where[1]}"


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
