"""Numbers, times and series as Vdbench writes them.

Model: ``k m g t`` count in steps of 1024, also as ``kb mb gb tb``; a percent sign makes a percentage. In times ``m`` is minutes and ``h``
hours. Series stand in lists: ``(1-10,3)`` counts, ``(1-64,d)`` doubles, ``(64-1,d)`` halves.

    number(parameter)                 # Number(value=4096, percent=False) of xfersize=4k
    series(parameter)                 # the numbers 1, 2, 4, 8 of forthreads=(1-8,d)
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

from plimsoll.formats.vdbench.parameter import Parameter, Word

#: More values than this in one series are a slip of the pen.
SERIES_MAX = 1000
#: Larger than any size, rate or time that means something.
NUMBER_MAX = 1 << 62

_SCALES = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_DECIMAL = r"(?:\d{1,19}(?:\.\d{0,9})?|\.\d{1,9})"
_PLAIN = rf"{_DECIMAL}(?:[kmgt]b?)?"
_NUMBER = re.compile(rf"(-?)({_DECIMAL})(?:([kmgt])b?)?(%?)", re.IGNORECASE)
_RANGE = re.compile(rf"({_PLAIN})-({_PLAIN})", re.IGNORECASE)
_TIME = re.compile(r"(\d{1,12}(?:\.\d{1,9})?)([smh]?)", re.IGNORECASE)
_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600}


@dataclass(frozen=True)
class Number:
    """A value, whole where it can be, and whether it is a percentage."""

    value: int | float
    percent: bool = False


def is_number(word: Word) -> bool:
    """Whether a word is a number, or a range of them."""
    return not word.quoted and bool(_NUMBER.fullmatch(word.text) or _RANGE.fullmatch(word.text))


def parse(text: str) -> Number | None:
    """The number that a text is; a negative one is a percentage in Vdbench's own writing."""
    found = _NUMBER.fullmatch(text)
    if found is None:
        return None
    value = float(found[2]) * _SCALES[(found[3] or "").lower()] if "." in found[2] else int(found[2]) * _SCALES[(found[3] or "").lower()]
    if value > NUMBER_MAX:
        return None
    whole = int(value) if value == int(value) else value
    return Number(-whole if found[1] else whole, found[4] == "%")


def number(parameter: Parameter) -> Number:
    """The only value of a parameter as a number."""
    if len(parameter.values) != 1:
        raise parameter.wrong(f"{len(parameter.values)} values stand where one number belongs; write {parameter.keyword}=NUMBER.")
    return _number(parameter, parameter.values[0])


def _number(parameter: Parameter, word: Word) -> Number:
    found = parse(word.text)
    if found is None:
        raise parameter.wrong(f"{word.text!r} is not a number; write for example 8, 64k or 10g.")
    return found


def seconds(parameter: Parameter) -> int | float:
    """The only value as seconds."""
    found = _TIME.fullmatch(parameter.word) if len(parameter.values) == 1 else None
    if found is None:
        raise parameter.wrong("that is not a time; write seconds such as 60, minutes such as 5m, or hours such as 2h.")
    value = float(found[1]) * _SECONDS[found[2].lower()]
    return int(value) if value == int(value) else value


def series(parameter: Parameter) -> list[Number]:
    """All values as numbers, with ranges expanded; at least one."""
    found: list[Number] = []
    words = list(parameter.values)
    while words:
        word = words.pop(0)
        ends = _RANGE.fullmatch(word.text)
        if ends is None:
            found.append(_number(parameter, word))
        else:
            if not words:
                raise parameter.wrong(f"{word.text!r} does not say how to step; write ({word.text},1), or ({word.text},d) to double.")
            found += _between(parameter, (ends[1], ends[2]), words.pop(0))
        if len(found) > SERIES_MAX:
            raise parameter.wrong(f"that is more than {SERIES_MAX} values; write a coarser series.")
    if not found:
        raise parameter.wrong("a number is missing; write for example 8 or (1,2,4).")
    return found


def _between(parameter: Parameter, ends: tuple[str, str], step: Word) -> Iterator[Number]:
    start, stop = (_number(parameter, Word(end)).value for end in ends)
    if step.text.lower() == "d":
        if min(start, stop) <= 0:
            raise parameter.wrong(f"{ends[0]}-{ends[1]} cannot be doubled or halved, since 0 stays 0; write ends above 0.")
        yield from _doubled(start, stop)
        return
    size = _number(parameter, step).value
    if size <= 0:
        raise parameter.wrong(f"a step of {step.text} never arrives; write one above 0, or d to double.")
    if abs(stop - start) / size > SERIES_MAX:
        raise parameter.wrong(f"that is more than {SERIES_MAX} values; write a coarser series.")
    level = start
    while level <= stop if start <= stop else level >= stop:
        yield Number(level)
        level = level + size if start <= stop else level - size


def _doubled(start: float, stop: float) -> Iterator[Number]:
    level = start
    while level <= stop if start <= stop else level >= stop:
        yield Number(int(level) if level == int(level) else level)
        level = level * 2 if start <= stop else level / 2


def size_text(value: float) -> str | int:
    """A size for people: ``8KiB``, ``2GiB``, or plain bytes."""
    size = int(value)
    for unit, scale in (("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size and size % scale == 0:
            return f"{size // scale}{unit}"
    return size


def decimal_text(value: float, places: int) -> str:
    """A number in decimals, rounded down, without an exponent."""
    return f"{math.floor(value * 10**places) / 10**places:.{places}f}".rstrip("0").rstrip(".")


def seconds_text(value: float) -> str:
    """A time as our options write it."""
    return f"{value:g}s" if value != int(value) else f"{int(value)}s"
