"""fio's numbers: sizes with suffixes, times, percentages, one for each operation, sizes with shares; with the traps that its reader has.

Model: a whole number, decimal or hexadecimal (``010`` is ten), then a suffix. Of the suffixes of sizes ``k kb ki`` and so on count in
steps of ``kb_base`` (1024 unless set), and ``kib mib`` in steps of the other base: ``4kib`` is 4000 bytes, which is a surprise worth a
remark. Where fio silently drops the rest of a value (``4.5k`` is 4 bytes, ``1e3`` is 1) the value is refused with what it would have to be.
Entries for reads, writes and trims are separated by commas; one that is not there repeats the one before it, an empty one leaves its
operation as it is: ``bs=,8k`` is the default for reads and 8k for writes and trims. A split is entries ``SIZE/PERCENT`` between colons;
entries without a percentage share what the others leave.

    Numbers().size("4kib")                       # Quantity(4000, surprise="…")
    by_direction("4k,8k", Numbers().count)       # (4096, 8192, 8192)
    read_split("4k/60:8k/", Numbers())           # shares of 60 and 40 percent
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from plimsoll.displayed import quoted
from plimsoll.errors import InputError

_NUMBER = re.compile(r"([+-]?)(0[xX][0-9a-fA-F]+|\d+)(.*)", re.DOTALL)
_POWERS = {letter: power for power, letter in enumerate("kmgtpe", start=1)}
_NS = {"ns": 1, "us": 1_000, "usec": 1_000, "ms": 1_000_000, "msec": 1_000_000, "s": 10**9, "sec": 10**9}
_NS |= {"m": 60 * 10**9, "h": 3_600 * 10**9, "d": 86_400 * 10**9}
_LARGEST = 1 << 63
#: Files that were templates once have two signs; fio stops at the first.
_PERCENT = ("%", "%%")


@dataclass(frozen=True)
class Quantity:
    """A size in bytes; or percent of the target, or zones, where ``unit`` says so."""

    number: int
    unit: str = "bytes"
    surprise: str = ""

    @property
    def is_bytes(self) -> bool:
        return self.unit == "bytes"


def whole(text: str) -> tuple[int, str]:
    """The number that a value begins with, and what follows it; refuses what fio would drop."""
    match = _NUMBER.fullmatch(text.strip())
    if match is None:
        raise InputError(f"{quoted(text)} is not a number; write digits, for example 16.")
    sign, digits, rest = match.groups()
    if len(digits) > 30:
        raise InputError(f"{quoted(text[:40])} is larger than any size; write a smaller number.")
    number = int(digits, 16) if digits[:2].lower() == "0x" else int(digits)
    if rest.startswith("."):
        raise InputError(f"{quoted(text)} has a fraction, at which fio stops reading ({number}); write a whole number of a smaller unit.")
    if re.match(r"[eE][+-]?\d", rest):
        raise InputError(f"{quoted(text)} has an exponent, at which fio stops reading ({number}); write the number in full.")
    if re.match(r"\s*[-+*/%(]", rest) and rest.strip() not in _PERCENT:
        raise InputError(
            f"{quoted(text)} is a sum, at which fio stops reading ({number}); only values with $pagesize, $mb_memory or "
            "$ncpus are calculated, write the result."
        )
    return (-number if sign == "-" else number), rest.strip()


@dataclass(frozen=True)
class Numbers:
    """How numbers of one job are read; ``kb_base`` is an option of it."""

    kb_base: int = 1024

    def size(self, text: str) -> Quantity:
        """A size in bytes, with its surprise if it has one."""
        number, suffix = whole(text)
        factor, surprise = self._factor(text, suffix.lower())
        value = number * factor
        if abs(value) >= _LARGEST:
            raise InputError(f"{quoted(text)} is larger than any target; write a smaller size.")
        return Quantity(value, surprise=f"{text} is {value} bytes: {surprise}" if surprise else "")

    def share(self, text: str) -> Quantity:
        """A size, percent of the target, or zones."""
        number, suffix = whole(text)
        if suffix in _PERCENT:
            if not 0 <= number <= 100:
                raise InputError(f"{quoted(text)} is not a percentage from 0% to 100%.")
            return Quantity(number, "percent")
        if suffix.lower() == "z":
            return Quantity(number, "zones")
        return self.size(text)

    def count(self, text: str) -> int:
        """A plain number; fio takes suffixes here too."""
        return self.size(text).number

    def _factor(self, text: str, suffix: str) -> tuple[int, str]:
        if suffix in ("", "b"):
            return 1, ""
        power = _POWERS.get(suffix[0])
        rest = suffix[1:]
        if power is None or rest not in ("", "b", "i", "ib"):
            raise InputError(f"{quoted(text)} has the suffix {quoted(suffix)}, which fio does not have; write k, m, g, t or p.")
        if rest != "ib":
            return self.kb_base**power, ""
        other = 1000 if self.kb_base == 1024 else 1024
        return (
            other**power,
            f"with kb_base={self.kb_base} fio counts {suffix} in steps of {other}, and {suffix[0]} in steps of {self.kb_base}",
        )


def time_ns(text: str, unit: str) -> int:
    """A time in nanoseconds; a bare number is in ``unit``, which differs from option to option."""
    number, suffix = whole(text)
    suffix = suffix.lower() or unit
    if suffix not in _NS:
        advice = "write 90s for 1m30s" if re.match(r"[mh]\d", suffix) else "write us, ms, s, m, h or d"
        raise InputError(f"{quoted(text)} has the unit {quoted(suffix)}, which fio does not have; {advice}.")
    if number < 0:
        raise InputError(f"{quoted(text)} is negative; write a time from 0 on.")
    value = number * _NS[suffix]
    if value >= _LARGEST:
        raise InputError(f"{quoted(text)} is longer than any run; write a shorter time.")
    return value


def decimal(text: str) -> float:
    """A number with a fraction."""
    if not re.fullmatch(r"[+-]?(\d+(\.\d*)?|\.\d+)", text.strip()) or len(text) > 40:
        raise InputError(f"{quoted(text)} is not a number; write for example 1.2.")
    return float(text)


def bytes_text(number: int) -> str | int:
    """Bytes as our files write them: in the largest binary unit that divides them."""
    for power, unit in reversed(list(enumerate(("KiB", "MiB", "GiB", "TiB"), start=1))):
        if number and number % 1024**power == 0:
            return f"{number // 1024**power}{unit}"
    return number


def time_text(ns: int) -> str:
    """A time as our files write it."""
    for unit in ("s", "ms", "us"):
        if ns % _NS[unit] == 0:
            return f"{ns // _NS[unit]}{unit}"
    return f"{ns}ns"


def rounded(number: float) -> float | int:
    """A number for a document: whole where it is whole, six digits behind the point otherwise."""
    near = round(number, 6)
    return int(near) if near == int(near) else near


Value = TypeVar("Value")

READ, WRITE, TRIM = range(3)


def by_direction(text: str, read: Callable[[str], Value]) -> tuple[Value | None, Value | None, Value | None]:
    """The entries for reads, writes and trims; None where the text has an empty one."""
    entries = [entry.strip() for entry in text.split(",")]
    if len(entries) > 3:
        raise InputError(f"{quoted(text)} has {len(entries)} entries; there are at most three: reads, writes and trims.")
    if not any(entries):
        raise InputError(f"{quoted(text)} has no value; write for example 4k or 4k,8k.")
    values: list[Value | None] = [read(entry) if entry else None for entry in entries]
    while len(values) < 3:
        values.append(values[-1])
    return values[0], values[1], values[2]


_ENTRIES_MAX = 64


@dataclass(frozen=True)
class Sizes:
    """How long requests of one operation are: one size, a range, or sizes with their shares in percent."""

    least: int
    most: int
    shares: tuple[tuple[int, float], ...] = ()
    surprise: str = ""

    @property
    def fixed(self) -> bool:
        return self.least == self.most

    @property
    def mean(self) -> float:
        """Bytes of a request on average; a range is uniform."""
        if self.shares:
            return sum(size * share for size, share in self.shares) / 100
        return (self.least + self.most) / 2


def read_size(text: str, numbers: Numbers) -> Sizes:
    """One size."""
    quantity = numbers.size(text)
    _check_length(quantity.number, text)
    return Sizes(quantity.number, quantity.number, surprise=quantity.surprise)


def read_range(text: str, numbers: Numbers) -> Sizes:
    """``1k-4k`` or ``1k:4k``."""
    parts = re.split("[-:]", text.strip())
    if len(parts) != 2 or not all(parts):
        raise InputError(f"{quoted(text)} is not a range of sizes; write for example 4k-64k.")
    least, most = numbers.size(parts[0]), numbers.size(parts[-1])
    for quantity in (least, most):
        _check_length(quantity.number, text)
    if least.number > most.number:
        raise InputError(f"{quoted(text)} begins with the larger size; write {parts[1]}-{parts[0]}.")
    return Sizes(least.number, most.number, surprise=least.surprise or most.surprise)


def read_split(text: str, numbers: Numbers) -> Sizes:
    """Sizes with their shares, which sum to 100."""
    entries = [entry.strip() for entry in text.split(":")]
    if len(entries) > _ENTRIES_MAX:
        raise InputError(f"there are {len(entries)} sizes; fio takes at most {_ENTRIES_MAX}.")
    shares: list[tuple[int, float | None]] = []
    surprise = ""
    for entry in entries:
        size_text, _, share_text = entry.partition("/")
        size = numbers.size(size_text)
        _check_length(size.number, entry)
        surprise = surprise or size.surprise
        shares.append((size.number, _share(share_text, entry) if share_text.strip() else None))
    full = _spread_shares(shares, text)
    return Sizes(min(size for size, _ in full), max(size for size, _ in full), tuple(full), surprise)


def _spread_shares(shares: list[tuple[int, float | None]], text: str) -> list[tuple[int, float]]:
    """Blank shares get equal parts of the remainder; equal sizes are added up."""
    given = sum(share for _, share in shares if share is not None)
    blanks = sum(share is None for _, share in shares)
    if given > 100 or (given < 100 and not blanks):
        raise InputError(f"the shares in {quoted(text)} sum to {given:g}; they must sum to 100.")
    each = (100 - given) / blanks if blanks else 0.0
    total: dict[int, float] = {}
    for size, share in shares:
        total[size] = total.get(size, 0.0) + (each if share is None else share)
    return [(size, share) for size, share in total.items() if share > 0]


def _share(text: str, entry: str) -> int:
    number, rest = whole(text)
    if rest or not 0 <= number <= 100:
        raise InputError(f"{quoted(entry)} has no share from 0 to 100; write for example 4k/60.")
    return number


def _check_length(number: int, text: str) -> None:
    if number < 1:
        raise InputError(f"{quoted(text)} is not a length of a request; write at least 1.")
    if number > 1 << 30:
        raise InputError(f"{quoted(text)} is longer than 1 GiB, the longest request; write a smaller size.")
