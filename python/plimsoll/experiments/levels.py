"""Levels as they are written: ``1..64``, ``1,2,4``, ``["8k", "16k"]``.

Model: a list holds levels one by one; a text holds them between commas. ``1..64`` doubles, ``1..64*3`` multiplies, ``1..32+4`` adds; both
ends are included, the last one also where the progression steps over it. Numbers become int or float, exactly as decimals say; other texts
(sizes, times, words) stay as they are, because what they mean is for the engine to say. Rates take ``k`` and ``M``.
Limits: ranges are of plain numbers. A text with ``=`` is one level, since shares are written with commas themselves; so is a target.

    levels_of("queue_depth", "1..8")             # (1, 2, 4, 8)
    levels_of("block_size", "8k,16k")            # ('8k', '16k')
    ends_of("rate", "500..20k")                  # (500, 20000)
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from plimsoll.displayed import quoted
from plimsoll.errors import InputError
from plimsoll.units import THOUSANDS

#: More levels than this on one axis are a slip of the pen.
LEVELS_MAX = 1000
EXAMPLE = "'1..64' (doubling), '1..64*3', '1..32+4' or [1, 2, 4]"

#: Options whose levels are whole numbers; every other axis of numbers may take any.
WHOLE_OPTIONS = frozenset(
    (
        "threads",
        "users",
        "terminals",
        "warehouses",
        "workflows",
        "iterations",
        "rows",
        "loops",
        "queue_depth",
        "burst_size",
        "flush_every",
        "workers",
        "seed",
        "size",
        "align",
        "stride",
        "block_size",
        "read_block_size",
        "write_block_size",
        "trim_block_size",
        "region_start",
        "sequential_start",
        "region_length",
        "requests",
        "amount",
        "run_length",
        "zone_length",
        "zone_amount",
        "zone_skip",
        "parts",
        "parts_unit",
        "merge_depth",
        "refill_depth",
        "pause_requests",
        "share_group",
        "streams",
    )
)

_NUMBER = r"\d+(?:\.\d+)?"
_PLAIN = re.compile(rf"{_NUMBER}")
_SCALED = re.compile(rf"({_NUMBER})\s*([kKmM]?)(?:/s)?")
_RANGE = re.compile(r"\s*([^.*+\s]+(?:\.\d+)?[kKmM]?)\s*\.\.\s*([^*+\s]+)\s*(?:([*+])\s*(\S+)\s*)?")


def levels_of(option: str, written: Any) -> tuple[Any, ...]:
    """The levels of one axis in the order written; raises `InputError` with what would be right, without the place."""
    parts = written if isinstance(written, list) else _split(option, written) if isinstance(written, str) else [written]
    levels = [level for part in parts for level in _expanded(option, part)]
    if not levels:
        raise InputError(f"no level is given; write {EXAMPLE}.")
    if len(levels) > LEVELS_MAX:
        raise InputError(f"there are more than {LEVELS_MAX} levels; write a coarser range.")
    seen: set[str] = set()
    for level in levels:
        if repr(level) in seen:
            raise InputError(f"level {quoted(level)} stands twice; name it once, and repeat the measurement instead.")
        seen.add(repr(level))
    return tuple(levels)


def is_whole(option: str) -> bool:
    """Whether levels of an option, of all streams or of one, are whole numbers."""
    return option.rpartition(".")[2] in WHOLE_OPTIONS


def ends_of(option: str, written: Any) -> tuple[float, float]:
    """The two ends between which a level is looked for: ``"1..64"`` or ``[1, 64]``."""
    found = _RANGE.fullmatch(written) if isinstance(written, str) else None
    if found is not None and found[3]:
        raise InputError(
            f"{quoted(written)} says how to step; write only the ends here, '{found[1]}..{found[2]}', and the steps as 'growth'."
        )
    texts = [found[1], found[2]] if found is not None else written
    if not isinstance(texts, list) or len(texts) != 2:
        raise InputError(f"{quoted(written)} does not say between which two numbers to look; write '1..64' or [1, 64].")
    start, stop = (level_number(option, text) for text in texts)
    if not 0 < start < stop:
        raise InputError(f"{quoted(written)} does not rise from a level above 0; write the lower end first, for example '1..64'.")
    return start, stop


def level_number(option: str, value: Any) -> int | float:
    """The number that a level is; texts are read as in a range."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return _finite(value)
    number = _decimal(option, value) if isinstance(value, str) else None
    if number is None:
        raise InputError(f"{quoted(value)} is not a number; write for example 8{' or 20k' if is_rate(option) else ''}.")
    return _native(number)


def is_rate(option: str) -> bool:
    """Whether an option, of all streams or of one, counts requests per second."""
    return option.rpartition(".")[2] in ("rate", "maximum")


def is_target(option: str) -> bool:
    """Whether the axis is what is measured rather than an option of the engine."""
    return option == "target"


def _split(option: str, text: str) -> list[str]:
    if is_target(option) or "=" in text:
        return [text]
    return [part.strip() for part in text.split(",")]


def _expanded(option: str, part: Any) -> Iterator[Any]:
    if isinstance(part, bool) or (isinstance(part, dict) and part):
        yield part
    elif isinstance(part, (int, float)):
        yield _finite(part)
    elif not isinstance(part, str):
        raise InputError(f"{quoted(part)} is not a level; write {EXAMPLE}.")
    elif not part.strip():
        raise InputError(f"a level is missing beside ','; write {EXAMPLE}.")
    elif ".." in part and not is_target(option):
        yield from _progression(option, part)
    else:
        number = None if is_target(option) else _decimal(option, part)
        yield part.strip() if number is None else _native(number)


def _progression(option: str, text: str) -> Iterator[int | float]:
    found = _RANGE.fullmatch(text)
    if found is None:
        raise InputError(f"{quoted(text)} is not a range; write START..STOP, START..STOP*FACTOR or START..STOP+STEP, for example '1..64'.")
    start, stop = (_end(option, text, end) for end in (found[1], found[2]))
    how, step = found[3] or "*", _end(option, text, found[4]) if found[4] else Decimal(2)
    if stop < start:
        raise InputError(f"{quoted(text)} does not rise; write the lower end first.")
    if how == "*" and start == 0:
        raise InputError(f"{quoted(text)} starts at 0, which stays 0 when multiplied; write for example '{found[1]}..{found[2]}+1'.")
    if step <= (1 if how == "*" else 0):
        raise InputError(f"{quoted(text)} never arrives; write a {'factor above 1' if how == '*' else 'step above 0'}.")
    level, count = start, 0
    while level < stop and count <= LEVELS_MAX:
        yield _native(level)
        level, count = (level * step if how == "*" else level + step), count + 1
    yield _native(stop)


def _end(option: str, text: str, end: str) -> Decimal:
    number = _decimal(option, end)
    if number is None:
        raise InputError(f"{quoted(text)} is not a range of plain numbers; write its levels one by one, for example '4k,8k,16k'.")
    return number


def _decimal(option: str, text: str) -> Decimal | None:
    """The number that a text says; None when it says something else."""
    if not is_rate(option):
        return Decimal(text.strip()) if _PLAIN.fullmatch(text.strip()) else None
    found = _SCALED.fullmatch(text.strip())
    return Decimal(found[1]) * THOUSANDS[found[2].lower()] if found else None


def _native(number: Decimal) -> int | float:
    return int(number) if number == number.to_integral_value() else float(number)


def _finite(number: float) -> int | float:
    if number != number or number in (float("inf"), float("-inf")):
        raise InputError(f"{number} is not a level; write {EXAMPLE}.")
    return int(number) if number == int(number) else number
