"""The product of any options: size × block × access × target, nested in the order written.

Model: the last axis changes fastest, like the innermost of nested loops. With a seed, every repeat goes through all points in an order of
its own, so that neither drift of the machine nor what one point leaves behind in a cache falls on the same points each time. No axis gives
the one point that the workload is as it stands.

    plan = matrix({"region_length": ["2GiB", "4GiB"], "block_size": ["8k", "16k"]}, repeat=2, shuffle=7)
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from plimsoll.experiments import wording
from plimsoll.experiments.plan import Ask, Conclusion, Plan
from plimsoll.result import Result


def matrix(axes: Mapping[str, Sequence[Any]], repeat: int = 1, shuffle: int | None = None) -> Plan:
    """Every combination of the values in ``axes``; ``shuffle`` is the seed of their order."""
    points: list[tuple[str, Result]] = []
    for number, settings in _ordered(axes, repeat, shuffle):
        result = yield Ask(settings, repeat=number)
        where = ", ".join(f"{name} {value}" for name, value in settings.items()) or "the only place"
        points.append((where, result))
    failed = wording.failures(points)
    return Conclusion("matrix", tuple(failed), figures={"axes": list(axes), "points": len(points), "failed": len(failed)})


def _ordered(axes: Mapping[str, Sequence[Any]], repeat: int, shuffle: int | None) -> Iterator[tuple[int, dict[str, Any]]]:
    """Number of the repeat and settings, in the order of measuring."""
    draws = None if shuffle is None else random.Random(shuffle)  # noqa: S311 - an order, not a secret
    for number in range(1, repeat + 1):
        points = [dict(zip(axes, values, strict=True)) for values in product(*axes.values())]
        if draws is not None:
            draws.shuffle(points)
        yield from ((number, point) for point in points)
