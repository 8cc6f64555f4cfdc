"""ORION's summary.txt: what was typed, what it maps to, the LUNs, and the best that the points reached.

Model: the lines and their order are those of the tool; latencies are milliseconds up to release 11.1. From 11.2 on they are microseconds,
and beside each best of small requests stand mean, range and deviation. Numbers of small and large requests are listed as measured.
Limits: the point without requests, which ORION counts, is counted in the total only when it is in the plane. The version line names
Plimsoll, since ORION did not measure this.

    write_summary(About(command, luns, version="0.3.0"), plane)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from plimsoll.formats.orion.command import Command
from plimsoll.formats.orion.point import Latency, Plane, Where
from plimsoll.formats.orion.table import WIDTH, Unit


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
