"""The plane of measured points that ORION's outputs show: so many small requests outstanding, so many large ones, and what they reached.

Model: a point is found by what its job asked for: the queue depths of the streams ``small`` and ``large``, or the threads of ``large``
where these are sequential streams. Repeats of a point are averaged, latencies weighted by their requests. MBPS counts 1024 × 1024 bytes, as
the tool's "1 MB" requests of 1024 KB do.
Limits: a result whose place does not name such streams is no point of the plane and is refused.

    plane = plane_of(points)
    plane.points[(4, 0)].iops
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from plimsoll.errors import InputError
from plimsoll.formats.stored_point import Course, Recorded, added
from plimsoll.histogram import Histogram
from plimsoll.result import Result, Totals
from plimsoll.stored import Stream

#: Outstanding requests: small, large.
Where = tuple[int, int]

BYTES_PER_MB = 1 << 20


@dataclass(frozen=True)
class Latency:
    """Microseconds of the small requests of a point; None for what is not known."""

    mean_us: float
    min_us: float | None = None
    max_us: float | None = None
    stddev_us: float | None = None


@dataclass(frozen=True)
class Point:
    """What one point reached: small requests per second and their latency, megabytes per second of large ones."""

    iops: float | None = None
    mbps: float | None = None
    latency: Latency | None = None


@dataclass(frozen=True)
class Plane:
    """All points of a run."""

    points: Mapping[Where, Point] = field(default_factory=dict)

    def small(self) -> list[int]:
        """The numbers of small requests that occur, rising."""
        return sorted({few for few, _ in self.points})

    def large(self) -> list[int]:
        """The numbers of large requests that occur, rising."""
        return sorted({many for _, many in self.points})

    def best(self, metric: str, *, alone: str) -> tuple[Where, float] | None:
        """The highest value of ``metric`` (``iops`` or ``mbps``) where only ``alone`` (``small`` or ``large``) requests were asked."""
        found = [
            (where, value)
            for where, point in sorted(self.points.items())
            if (where[1] if alone == "small" else where[0]) == 0 and (value := getattr(point, metric)) is not None
        ]
        return max(found, key=lambda item: item[1], default=None)

    def quickest(self) -> tuple[Where, Latency] | None:
        """The lowest mean latency of small requests alone."""
        found = [(where, point.latency) for where, point in sorted(self.points.items()) if not where[1] and point.latency is not None]
        return min(found, key=lambda item: item[1].mean_us, default=None)


def where_of(result: Result) -> Where:
    """How many small and large requests the point asked for."""
    settings = result.place.get("settings") or {}
    streams = {stream.get("name"): stream for stream in result.job.definition.get("stream", [])}
    known = {"small", "large"} & ({*streams} | {key.partition(".")[0] for key in settings})
    if not known:
        raise InputError(
            f"point {result.id}: no stream is called small or large, so it has no place among ORION's points; export it in another format."
        )
    return _level(streams.get("small"), "small", settings), _level(streams.get("large"), "large", settings)


def plane_of(points: Iterable[Recorded]) -> Plane:
    """The plane that ``points`` cover; those without totals (failed) leave their place blank."""
    gathered: dict[Where, list[Result]] = {}
    for recorded in points:
        gathered.setdefault(where_of(recorded.result), []).append(recorded.result)
    return Plane({where: _averaged([item for item in found if item.totals]) for where, found in sorted(gathered.items())})


def histograms_of(points: Iterable[Recorded]) -> dict[Where, dict[tuple[str, str], Histogram]]:
    """The latencies of each point by stream and operation, repeats together."""
    found: dict[Where, dict[tuple[str, str], Histogram]] = {}
    for recorded in points:
        course, kinds = Course(recorded), found.setdefault(where_of(recorded.result), {})
        for stream in course.streams:
            for op in ("read", "write"):
                histogram = course.latency(stream["name"], op)
                if histogram is not None:
                    key = (stream["name"], op)
                    kinds[key] = added(kinds.get(key), histogram)
    return found


def _level(stream: Stream | None, name: str, settings: Mapping[str, Any]) -> int:
    if stream is None:
        return 0
    sequential = name == "large" and stream.get("random_percent") == 0
    threads = int(settings.get(f"{name}.threads", stream.get("threads", 1)))
    depth = int(settings.get(f"{name}.queue_depth", stream.get("queue_depth", 1)))
    return 0 if not threads or not depth else threads if sequential else threads * depth


def _averaged(results: Sequence[Result]) -> Point:
    small = [totals for result in results if (totals := result.streams.get("small"))]
    large = [totals for result in results if (totals := result.streams.get("large"))]
    return Point(
        iops=_mean([sum(total.iops for total in totals.values()) for totals in small]),
        mbps=_mean([sum(total.bytes_per_s for total in totals.values()) / BYTES_PER_MB for totals in large]),
        latency=_latency(small),
    )


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _latency(found: Sequence[Totals]) -> Latency | None:
    """All operations and repeats together: means and squares add, weighted by their requests."""
    timed = [(total.count, total.latency_ns) for totals in found for total in totals.values() if total.latency_ns and total.count]
    count = sum(number for number, _ in timed)
    if not count:
        return None
    mean = sum(number * summary.mean for number, summary in timed) / count
    square = sum(number * (summary.stddev**2 + summary.mean**2) for number, summary in timed) / count
    return Latency(
        mean_us=mean / 1000,
        min_us=min(summary.min for _, summary in timed) / 1000,
        max_us=max(summary.max for _, summary in timed) / 1000,
        stddev_us=max(0.0, square - mean**2) ** 0.5 / 1000,
    )
