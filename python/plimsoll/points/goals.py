"""When a point may end before its duration: at a precision, or when an amount has been transferred.

Model: an amount is a multiple of the target's size, which is known once the target has been prepared.

    goal_of(point, inspection)        # None, Precision(0.02), Amount(2 << 30)
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from plimsoll.points.point import PlannedPoint
from plimsoll.stored import Inspection

if TYPE_CHECKING:
    from plimsoll.analysis.point.stopping_rule import Goal


def goal_of(point: PlannedPoint, inspection: Inspection) -> Goal | None:
    """What `plimsoll.measure` watches for; None when the point lasts its duration."""
    if point.amount is None and point.precision is None:
        return None
    from plimsoll.analysis.point.stopping_rule import Amount, parse_precision

    if point.amount is not None:
        return Amount(round(point.amount * inspection["size_bytes"]))
    return replace(parse_precision(str(point.precision)), least_s=point.least_s, own=point.decides_itself)
