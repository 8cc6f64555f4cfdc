"""DiskSpd's effective distributions: shares of the requests to ranges of the target, in percent or in bytes.

Model: ``90/10:10/90`` sends 90 % of the requests to the first 10 % of the target and the rest to what follows. What the ranges leave over
of requests goes to what they leave over of the target; that is also how our hot zones are meant.

    read_ranges("90/10:5/20", "pct")            # Ranges('pct', ((90, 10), (5, 20)))
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from plimsoll.errors import InputError
from plimsoll.formats.diskspd.quantity import size, whole

Kind = Literal["pct", "abs"]
RANGES_MAX = 1000


@dataclass(frozen=True)
class Ranges:
    """Percent of the requests, with percent (``pct``) or bytes (``abs``) of the target, one range after the other."""

    kind: Kind
    pairs: tuple[tuple[int, int], ...]


def read_ranges(text: str, kind: Kind, block: int = 1) -> Ranges:
    """The ranges that a flag says; raises `InputError` without a place."""
    example = "90/10:10/90" if kind == "pct" else "90/10G:10/100G"
    pairs = []
    for part in text.split(":"):
        share, slash, length = part.partition("/")
        if not slash:
            raise InputError(f"{part[:40]!r} is not a share of requests and one of the target; write for example -rd{kind}{example}.")
        pairs.append((whole(share, 0, 100), whole(length, 1, 100) if kind == "pct" else size(length, block)))
    return checked(Ranges(kind, tuple(pairs)))


def checked(ranges: Ranges) -> Ranges:
    """The ranges, if they can be; raises `InputError` without a place."""
    shares, lengths = (sum(pair[side] for pair in ranges.pairs) for side in (0, 1))
    if len(ranges.pairs) > RANGES_MAX:
        raise InputError(f"there are more than {RANGES_MAX} ranges; write fewer.")
    if shares > 100:
        raise InputError(f"the requests sum to {shares} percent; write shares that sum to 100 or less.")
    if any(length == 0 for _, length in ranges.pairs):
        raise InputError("a range has no length; write how much of the target it covers, above 0.")
    if ranges.kind == "pct" and lengths > 100:
        raise InputError(f"the ranges sum to {lengths} percent of the target; write ranges that sum to 100 or less.")
    if ranges.kind == "pct" and lengths == 100 and shares < 100:
        raise InputError(f"{100 - shares} percent of the requests have nowhere to go; write shares that sum to 100.")
    return ranges


def zones(ranges: Ranges, region_bytes: int | None) -> list[list[float]] | None:
    """Our hot zones; None when the ranges are in bytes and the region's size is unknown or too small for them."""
    if ranges.kind == "pct":
        return [[share, length] for share, length in ranges.pairs]
    total = sum(length for _, length in ranges.pairs)
    full = sum(share for share, _ in ranges.pairs)
    if not region_bytes or total > region_bytes or (total == region_bytes and full < 100):
        return None
    return [[share, float(Fraction(100 * length, region_bytes))] for share, length in ranges.pairs]


def as_toml(found: Sequence[Sequence[float]]) -> dict[str, Any]:
    """The value of our option ``distribution``."""
    return {"kind": "hot", "zones": [list(zone) for zone in found]}
