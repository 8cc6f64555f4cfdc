"""Sizes, rates, times and shares with units, as the number that a key of an array counts in: its last letters say in what.

Model: the forms are those of `plimsoll.units`. A bare number is in the key's unit, so a text without a unit is taken only where the command
line would count in the same. Only keys in seconds, hours or percent may be broken.

    with_unit("link.fc.rate_bytes_per_s", "400MB/s")         # 400_000_000
    with_unit("host.request_ns", "3us")                      # 3000
    with_unit("host.mode", "direct")                         # None: the key has no unit
    without_units({"host": {"request_ns": "3us"}})           # {'host': {'request_ns': 3000}}
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from plimsoll.catalog.composition.merge import SOURCES
from plimsoll.catalog.composition.place import below, entries
from plimsoll.displayed import quoted
from plimsoll.errors import InputError
from plimsoll.records import dataclass
from plimsoll.units import NS_PER_S, TIMES, percent, size_bytes, time_ns


@dataclass(frozen=True)
class Unit:
    """What a key counts in: a ``word`` for values with a unit, the ``name`` of one, how many bytes, nanoseconds or percent it is."""

    word: str
    name: str
    base: int
    example: str
    broken: bool = False


#: By how keys end: the longer ending before what it ends in.
UNITS = {
    "bytes_per_s": Unit("rate", "bytes per second", 1, "400MB/s"),
    "bytes_max": Unit("size", "bytes", 1, "64KiB"),
    "bytes": Unit("size", "bytes", 1, "64KiB"),
    "sectors": Unit("size", "sectors of 512 bytes", 512, "64KiB"),
    "ns": Unit("time", "nanoseconds", 1, "250us"),
    "us": Unit("time", "microseconds", TIMES["us"], "250us"),
    "ms": Unit("time", "milliseconds", TIMES["ms"], "250ms"),
    "s": Unit("time", "seconds", NS_PER_S, "1m30s", broken=True),
    "hours": Unit("time", "hours", TIMES["h"], "2d", broken=True),
    "percent": Unit("share", "percent", 1, "70%", broken=True),
}


def unit_of(key: str) -> Unit | None:
    """What a key counts in, by its last letters; None where it has no unit, as requests per second have none."""
    last = key.rpartition(".")[2]
    if last.endswith("_per_s") and not last.endswith("bytes_per_s"):
        return None
    return next((unit for ending, unit in UNITS.items() if last == ending or last.endswith(f"_{ending}")), None)


def with_unit(key: str, text: str) -> int | float | None:
    """The number that ``key`` means with a text, or None where its values have no unit. Raises `InputError` without a place."""
    unit = unit_of(key)
    if unit is None:
        return None
    bare = text.strip()[-1:].isdigit() and unit.base != (NS_PER_S if unit.word == "time" else 1)
    exact = None if bare else _exact(unit.word, text.strip())
    found = None if exact is None else exact / unit.base
    if found is None or not (unit.broken or found.denominator == 1):
        of, whole = ("", "") if unit.broken else (f" in whole {unit.name}", "whole ")
        raise InputError(
            f"{quoted(text)} is not a {unit.word}{of}; write a {whole}number of {unit.name} from 0 on, or a {unit.word} with its unit, "
            f"for example {unit.example}."
        )
    return int(found) if found.denominator == 1 else float(found)


def without_units(value: Any, path: str = "") -> Any:
    """The value with numbers for texts in units, wherever they stand; `InputError` begins with the place. Sources are texts and stay."""
    if isinstance(value, dict):
        return {key: entry if key == SOURCES else without_units(entry, below(path, key)) for key, entry in value.items()}
    if isinstance(value, list):
        return [without_units(entry, place) for place, entry in entries(path, value)]
    if not isinstance(value, str):
        return value
    try:
        found = with_unit(path, value)
    except InputError as problem:
        raise InputError(f"{path}: {problem}") from None
    return value if found is None else found


def _exact(word: str, text: str) -> Fraction | None:
    try:
        return Fraction(_READERS[word](text))
    except InputError:
        return None


_READERS: dict[str, Callable[[str], float]] = {
    "size": size_bytes,
    "rate": lambda text: size_bytes(text.removesuffix("/s")),
    "time": time_ns,
    "share": percent,
}
