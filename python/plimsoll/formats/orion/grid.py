"""Which points a run of ORION measures, and the experiments that measure them here.

Model: with d disks, ``basic`` has 0 to 5d small requests alone and then 1 to 2d large ones alone, ``detailed`` their full product, ``row``
and ``col`` one of the two fixed, ``point`` both; ``oltp`` has 1 to d and then multiples of d up to 20d small ones. The point without any
request, which ORION counts, asks nothing and is left out. With random large requests that is a ``grid`` of kind ``matrix``; with sequential
streams the level is the number of streams, so the same points are spelled out over ``large.threads``, small requests alone first.
Limits: the lists behind ``-run dss`` and ``-matrix max`` are not published, and not here.

    points("basic", Shape(disks=1))         # [(0, 0), (1, 0), … (5, 0), (0, 1), (0, 2)]
"""

from __future__ import annotations

from dataclasses import dataclass

from plimsoll.stored import Json

Points = list[tuple[int, int]]

SMALL_PER_DISK, LARGE_PER_DISK, OLTP_PER_DISK = 5, 2, 20
#: ORION's words for a matrix → ours for a grid.
GRIDS = {"basic": "basic", "detailed": "detailed", "point": "point", "col": "column", "row": "row", "oltp": "oltp"}
#: Which numbers a matrix holds fixed.
FIXED = {"point": ("num_small", "num_large"), "col": ("num_small",), "row": ("num_large",)}
#: More levels on one axis than an experiment takes.
LEVELS_MAX = 1000
#: More points than anybody waits for: two months of one-minute points.
POINTS_MAX = 100_000


@dataclass(frozen=True)
class Shape:
    """How many disks, and what is held fixed."""

    disks: int
    num_small: int = 0
    num_large: int = 0


def points(matrix: str, shape: Shape) -> Points:
    """The points (small, large) that ORION counts, the empty one included."""
    small, large = range(SMALL_PER_DISK * shape.disks + 1), range(LARGE_PER_DISK * shape.disks + 1)
    if matrix == "basic":
        return [(count, 0) for count in small] + [(0, count) for count in large[1:]]
    if matrix == "detailed":
        return [(few, many) for many in large for few in small]
    if matrix == "oltp":
        climb = [*range(1, shape.disks + 1), *range(2 * shape.disks, OLTP_PER_DISK * shape.disks + 1, shape.disks)]
        return [(count, 0) for count in [0, *climb]]
    if matrix == "col":
        return [(shape.num_small, count) for count in large]
    if matrix == "row":
        return [(count, shape.num_large) for count in small]
    return [(shape.num_small, shape.num_large)]


def point_count(matrix: str, shape: Shape) -> int:
    """How many points there are, without listing them."""
    small, large = SMALL_PER_DISK * shape.disks + 1, LARGE_PER_DISK * shape.disks + 1
    oltp = 1 + shape.disks + OLTP_PER_DISK - 1
    return {"basic": small + large - 1, "detailed": small * large, "oltp": oltp, "col": large, "row": small, "point": 1}[matrix]


def announced_minutes(count: int) -> int:
    """The minutes that ORION announces at its start for ``count`` points of 60 s."""
    return count + 1


def random_experiments(matrix: str, shape: Shape) -> list[Json]:
    """One experiment with ORION's grid; its own keys only."""
    fixed = {name: getattr(shape, name) for name in FIXED.get(matrix, ())}
    return [{"grid": GRIDS[matrix], "disks": shape.disks, **fixed, "small": "small", "large": "large"}]


def sequential_experiments(matrix: str, shape: Shape) -> list[Json]:
    """The same points with sequential streams: small requests alone, then everything with streams; their own keys only."""
    asked = [point for point in points(matrix, shape) if point != (0, 0)]
    alone = [few for few, many in asked if not many]
    experiments = [_over({"small.queue_depth": alone}, {"large.threads": 0})] if alone else []
    few = list(dict.fromkeys(few for few, many in asked if many))
    many = list(dict.fromkeys(many for _, many in asked if many))
    if not many:
        return experiments
    if len(few) == 1:
        return [*experiments, _over({"large.threads": many}, {"small.queue_depth": few[0]})]
    return [*experiments, _over({"large.threads": many, "small.queue_depth": few}, {})]


def too_many(matrix: str, shape: Shape, *, sequential: bool) -> str | None:
    """Why there are more points than can be measured; None when there are not."""
    count = point_count(matrix, shape)
    if count > POINTS_MAX:
        return f"it makes {count:,} points, more than {POINTS_MAX:,}; nearest: a -matrix with fewer, or fewer disks"
    if sequential and matrix != "point" and SMALL_PER_DISK * shape.disks + 1 > LEVELS_MAX:
        return f"so many disks make more than {LEVELS_MAX} levels of sequential streams; nearest: 199"
    return None


def has_streams(experiment: Json) -> bool:
    """Whether an experiment of `sequential_experiments` has sequential streams in it."""
    return "large.threads" in experiment["over"]


def _over(axes: dict[str, list[int]], fixed: Json) -> Json:
    return {"over": axes, "set": fixed}
