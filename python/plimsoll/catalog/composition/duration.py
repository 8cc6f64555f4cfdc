"""A time in a target's words, as the engine reads it in options.

Model: numbers with units, from the largest down, each unit once; a number alone counts seconds. The catalog may not ask the engine, so
the rule of ``crates/workload/src/units.rs`` is here once more; a test holds both together.

    seconds("1m30s")        # 90.0
    nanoseconds("3us")      # 3000
    seconds("10 parsecs")   # None
"""

from __future__ import annotations

import re
from fractions import Fraction

_NS = {
    "d": 86_400 * 10**9,
    "h": 3_600 * 10**9,
    "m": 60 * 10**9,
    "min": 60 * 10**9,
    "s": 10**9,
    "sec": 10**9,
    "": 10**9,
    "ms": 10**6,
    "us": 10**3,
    "µs": 10**3,
    "ns": 1,
}
_TERM = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([^0-9.\s]*)\s*")


def nanoseconds(text: str) -> int | None:
    """A whole number of nanoseconds below 2^64; None if the text is no such time."""
    rest, total_ns, last_unit_ns = text.strip(), Fraction(0), None
    while rest or last_unit_ns is None:
        term = _TERM.match(rest)
        unit_ns = _NS.get(term[2]) if term else None
        if term is None or unit_ns is None:
            return None
        if last_unit_ns is not None and (unit_ns >= last_unit_ns or not term[2]):
            return None
        part_ns = Fraction(term[1]) * unit_ns
        if part_ns.denominator != 1:
            return None
        rest, total_ns, last_unit_ns = rest[term.end() :], total_ns + part_ns, unit_ns
    return int(total_ns) if total_ns < 2**64 else None


def seconds(text: str) -> float | None:
    """The same in seconds."""
    time_ns = nanoseconds(text)
    return None if time_ns is None else time_ns / 10**9
