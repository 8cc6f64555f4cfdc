"""DiskSpd's numbers: whole numbers, and sizes with one of the letters K M G T (steps of 1024) or b (blocks).

size("64K", block=65536)        # 65536
size("4b", block=65536)         # 262144
"""

from __future__ import annotations

import re

from plimsoll.errors import InputError

_SIZE = re.compile(r"(\d{1,15})([KMGTkmgtBb]?)")
_FACTORS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
#: Larger than any device, and what the engine takes at most.
SIZE_MAX = 1 << 50


def size(text: str, block: int) -> int:
    """Bytes; ``block`` is what a ``b`` counts. Raises `InputError` without a place."""
    found = _SIZE.fullmatch(text)
    if found is None:
        raise InputError(
            f"{text[:40]!r} is not a size; write a whole number of bytes, or one with K, M, G, T or b (blocks), for example 64K."
        )
    unit = found[2].lower()
    value = int(found[1]) * (block if unit == "b" else _FACTORS[unit])
    if value > SIZE_MAX:
        raise InputError(f"{text[:40]!r} is more than 1 PiB; write a smaller size.")
    return value


def whole(text: str, least: int, most: int) -> int:
    """A whole number between two bounds. Raises `InputError` without a place."""
    if not (text.isascii() and text.isdigit() and len(text) <= 18 and least <= int(text) <= most):
        raise InputError(f"{text[:40]!r} is out of range or no whole number; write {least} to {most}.")
    return int(text)


def between(value: int, least: int, most: int) -> int:
    """A size that has bounds of its own."""
    if not least <= value <= most:
        raise InputError(f"{value} bytes is out of range; write {least} to {most}.")
    return value
