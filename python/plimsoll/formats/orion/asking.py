"""The command line of ORION that asks for points of ours, for the summary that stands beside them.

Model: sizes, writes, kind of large requests and how many each stream has outstanding are those of the streams ``small`` and ``large``;
the matrix and the number of disks are the smallest whose points are those of the plane.
Limits: where no matrix has exactly these points, it is the smallest that has all of them. The share of writes is one for both streams.

    words_for(points, plane, "night")       # ["-run", "advanced", "-testname", "night", "-matrix", "basic", "-num_disks", "1", …]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from plimsoll.formats.mix import random_percent, shares
from plimsoll.formats.orion.grid import LARGE_PER_DISK, OLTP_PER_DISK, SMALL_PER_DISK, Shape, points
from plimsoll.formats.orion.point import Plane
from plimsoll.formats.recorded import Recorded

Json = dict[str, Any]

#: Above so many disks the points of a matrix are not listed to find out whether they are the same.
_LISTED_MAX = 200


def words_for(recorded: Sequence[Recorded], plane: Plane, test: str) -> list[str]:
    """The command line; streams of one kind of request are called small and large."""
    job = recorded[0].result.job
    streams: dict[str, Json] = {}
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


def _sizes(streams: Mapping[str, Json]) -> list[str]:
    words: list[str] = []
    for name in ("small", "large"):
        size = streams.get(name, {}).get("block_size")
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
