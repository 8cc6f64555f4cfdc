"""fio's numbers: sizes with suffixes, times, percentages and lists of them, with the traps that its reader has.

Model: a whole number, decimal or hexadecimal (``010`` is ten), then a suffix. Of the suffixes of sizes ``k kb ki`` and so on count in
steps of ``kb_base`` (1024 unless set), and ``kib mib`` in steps of the other base: ``4kib`` is 4000 bytes, which is a surprise worth a
remark. Where fio silently drops the rest of a value (``4.5k`` is 4 bytes, ``1e3`` is 1) the value is refused with what it would have to be.

    Numbers().size("4kib")            # Quantity(4000, surprise="…")
    Numbers().time_ns("10", "s")      # 10_000_000_000
"""

from __future__ import annotations

import re
from dataclasses import dataclass

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
        raise InputError(f"{text!r} is not a number; write digits, for example 16.")
    sign, digits, rest = match.groups()
    if len(digits) > 30:
        raise InputError(f"{text[:40]!r} is larger than any size; write a smaller number.")
    number = int(digits, 16) if digits[:2].lower() == "0x" else int(digits)
    if rest.startswith("."):
        raise InputError(f"{text!r} has a fraction, at which fio stops reading ({number}); write a whole number of a smaller unit.")
    if re.match(r"[eE][+-]?\d", rest):
        raise InputError(f"{text!r} has an exponent, at which fio stops reading ({number}); write the number in full.")
    if re.match(r"\s*[-+*/%(]", rest) and rest.strip() not in _PERCENT:
        raise InputError(
            f"{text!r} is a sum, at which fio stops reading ({number}); only values with $pagesize, $mb_memory or "
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
            raise InputError(f"{text!r} is larger than any target; write a smaller size.")
        return Quantity(value, surprise=f"{text} is {value} bytes: {surprise}" if surprise else "")

    def share(self, text: str) -> Quantity:
        """A size, percent of the target, or zones."""
        number, suffix = whole(text)
        if suffix in _PERCENT:
            if not 0 <= number <= 100:
                raise InputError(f"{text!r} is not a percentage from 0% to 100%.")
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
            raise InputError(f"{text!r} has the suffix {suffix!r}, which fio does not have; write k, m, g, t or p.")
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
        raise InputError(f"{text!r} has the unit {suffix!r}, which fio does not have; {advice}.")
    if number < 0:
        raise InputError(f"{text!r} is negative; write a time from 0 on.")
    value = number * _NS[suffix]
    if value >= _LARGEST:
        raise InputError(f"{text!r} is longer than any run; write a shorter time.")
    return value


def decimal(text: str) -> float:
    """A number with a fraction."""
    if not re.fullmatch(r"[+-]?(\d+(\.\d*)?|\.\d+)", text.strip()) or len(text) > 40:
        raise InputError(f"{text!r} is not a number; write for example 1.2.")
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
