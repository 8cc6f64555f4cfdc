"""Sizes, rates and times with units, as the number that a key of an array counts in: its last letters say in what.

Model: the forms are those of the command line (`crates/workload/src/units.rs`), which a test compares with these: ``k m g t p`` and ``KiB``
count in steps of 1024, ``kB`` in steps of 1000, times are those of `duration`. A bare number never comes here: it is in the key's unit.
Limits: ``KB`` and ``mb`` are refused, because both readings are common. Bytes and nanoseconds come out whole or not at all.

    with_unit("link.fc.rate_bytes_per_s", "400MB/s")         # 400_000_000
    with_unit("host.request_ns", "3us")                      # 3000
    with_unit("host.mode", "direct")                         # None: the key has no unit
"""

from __future__ import annotations

import re
from fractions import Fraction

from plimsoll.catalog.composition.duration import nanoseconds
from plimsoll.errors import InputError

_POWERS = {letter: power for power, letter in enumerate("kmgtp", 1)}
_SIZE = re.compile(r"(\d+(?:\.\d+)?) *([A-Za-z]*)")
#: Units of time that keys count in.
_NS = {"ns": 1, "us": 10**3, "ms": 10**6}
#: What keys count in, by how they end: the longer ending first.
_COUNTED = ("bytes_per_s", "bytes_max", "bytes", "ns", "us", "ms")
_EXAMPLES = {"bytes_per_s": "400MB/s", "bytes_max": "64KiB", "bytes": "64KiB"}


def with_unit(key: str, text: str) -> int | float | None:
    """The number that ``key`` means with a text, or None where its values have no unit. Raises `InputError` without a place."""
    last = key.rpartition(".")[2]
    counted = next((word for word in _COUNTED if last == word or last.endswith(f"_{word}")), None)
    if counted is None:
        return None
    found: int | float | None
    if counted.startswith("bytes"):
        found = _bytes(text.removesuffix("/s") if counted == "bytes_per_s" else text)
    else:
        # A time without a unit would be seconds, and a bare number of a key is in the key's unit.
        found = _in_unit(None if text[-1:].isdigit() else nanoseconds(text), _NS[counted])
    if found is None:
        what = "a time" if counted in _NS else "a rate" if counted == "bytes_per_s" else "a size"
        example = _EXAMPLES.get(counted, "250us")
        raise InputError(f"{text!r} is not {what}; write a number of {_plain(counted)}, or one with its unit, for example {example}.")
    return found


def _plain(counted: str) -> str:
    return {"ns": "nanoseconds", "us": "microseconds", "ms": "milliseconds", "bytes_per_s": "bytes per second"}.get(counted, "bytes")


def _bytes(text: str) -> int | None:
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        return None
    number, unit = Fraction(found[1]), found[2]
    letter, rest = unit[:1], unit[1:]
    if unit in ("", "B", "b"):
        factor = 1
    elif letter.lower() not in _POWERS:
        return None
    elif rest.lower() in ("", "i", "ib"):
        factor = 1024 ** _POWERS[letter.lower()]
    elif rest == "B" and letter in "kMGTP":
        factor = 1000 ** _POWERS[letter.lower()]
    else:
        return None
    size = number * factor
    return int(size) if size.denominator == 1 else None


def _in_unit(ns: int | None, unit_ns: int) -> int | float | None:
    """Whole where it is whole; times that are counted in more than nanoseconds may be broken."""
    if ns is None:
        return None
    return ns // unit_ns if ns % unit_ns == 0 else ns / unit_ns
