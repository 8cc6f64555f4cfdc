"""Values with one entry for reads, one for writes and one for trims, as ``bs=4k,8k`` has them.

Model: entries are separated by commas; an entry that is not there repeats the one before it. An empty entry leaves its operation as it is:
``bs=,8k`` is the default for reads and 8k for writes and trims, ``bs=4k,`` is 4k for reads and the default for the others.

    by_direction("4k,8k", int_of)        # (4096, 8192, 8192)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from plimsoll.errors import InputError

Value = TypeVar("Value")

READ, WRITE, TRIM = range(3)


def by_direction(text: str, read: Callable[[str], Value]) -> tuple[Value | None, Value | None, Value | None]:
    """The entries for reads, writes and trims; None where the text has an empty one."""
    entries = [entry.strip() for entry in text.split(",")]
    if len(entries) > 3:
        raise InputError(f"{text!r} has {len(entries)} entries; there are at most three: reads, writes and trims.")
    if not any(entries):
        raise InputError(f"{text!r} has no value; write for example 4k or 4k,8k.")
    values: list[Value | None] = [read(entry) if entry else None for entry in entries]
    while len(values) < 3:
        values.append(values[-1])
    return values[0], values[1], values[2]
