"""Whether the sides of a point were measured in turn: A B A B, as interleaved experiments do.

Model: results of one run are numbered in the order measured. Sides were measured in turn if all have equally many repeats, at least two,
and the first of every side came before the second of any, and so on. Where a repeat has failed or ended early, turns are not complete.

    in_turn([[a1, a2, a3], [b1, b2, b3]])
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from plimsoll.result import Result


def in_turn(sides: Sequence[Sequence[Result]]) -> bool:
    """Of the repeats of one point, side by side; all are results of one run."""
    counts = {len(side) for side in sides}
    if len(sides) < 2 or len(counts) > 1 or max(counts) < 2:
        return False
    if any(result.status != "complete" for side in sides for result in side):
        return False
    numbers = [[_number(result) for result in side] for side in sides]
    if any(number is None for side in numbers for number in side):
        return False
    turns = list(zip(*numbers, strict=True))
    return all(max(before) < min(after) for before, after in pairwise(turns))


def _number(result: Result) -> int | None:
    """Its place in its run, with which its name begins."""
    digits, _, _ = result.id.partition("-")
    return int(digits) if digits.isdecimal() else None
