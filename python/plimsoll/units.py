"""Sizes, times, rates and shares: read as people write them, and written for people and for files.

Model: the readers are those of ``crates/workload/src/units.rs``, which is the reference; `tests/unit/test_units.py` holds one table against
both. Sizes: ``4096``, ``4KiB``, ``4k``, ``1.5GiB``; bare ``k m g t p`` and ``KiB …`` count in steps of 1024, ``kB MB …`` in steps of 1000,
and ``KB``, ``mb`` … are refused because both readings are common. Times: ``250ms``, ``10s``, ``1m30s``; a bare number is seconds. Rates:
``20k``, ``300/s``, in thousands. Shares: ``70``, ``70.5%``. Arithmetic on text is exact. Readers raise `InputError` without a place.

    size_bytes("1.5GiB")         # 1_610_612_736
    time_ns("1m30s")             # 90_000_000_000
    size_text(65_536)            # "64KiB", as a file has it
    duration(1_234_000)          # "1.23 ms", for people
    binary(4096)                 # "4 KiB"
"""

from __future__ import annotations

import math
import re
from fractions import Fraction

from plimsoll.errors import InputError

NS_PER_S = 10**9
#: Nanoseconds in the units of time that are read and written, the longest first.
TIMES: dict[str, int] = {
    "d": 86_400 * NS_PER_S,
    "h": 3_600 * NS_PER_S,
    "m": 60 * NS_PER_S,
    "s": NS_PER_S,
    "ms": 10**6,
    "us": 10**3,
    "µs": 10**3,
    "ns": 1,
}
#: Bytes in the units of 1024, the largest first.
BINARY: dict[str, int] = {"PiB": 1 << 50, "TiB": 1 << 40, "GiB": 1 << 30, "MiB": 1 << 20, "KiB": 1 << 10}
#: What letters behind a rate multiply by.
THOUSANDS: dict[str, int] = {"": 1, "k": 10**3, "m": 10**6}

_TIME_WORDS = {**TIMES, "": NS_PER_S, "sec": NS_PER_S, "min": TIMES["m"], "μs": TIMES["us"]}
_POWERS = {letter: power for power, letter in enumerate("kmgtp", 1)}
_DIGITS = r"[0-9]+(?:\.[0-9]+)?"
_NUMBER = re.compile(rf"({_DIGITS})\s*([^0-9.].*)?", re.DOTALL)
_TERM = re.compile(rf"({_DIGITS})\s*([^0-9\s]*)\s*")
#: More digits than any number that means something.
_DIGITS_MAX = 30
_SIZE_ADVICE = "write for example 4KiB, 64k or 1GiB"
_WHOLE_ADVICE = "write a whole number of bytes below 16EiB, for example 4KiB or 1.5GiB"
_TIME_ADVICE = "write for example 250ms, 10s or 1m30s"
_RATE_ADVICE = "write requests per second, for example 500, 20k or 1.5k/s"
_SHARE_ADVICE = "write for example 70, 70.5 or 70%"


def size_bytes(text: str) -> int:
    """Bytes, a whole number below 2^64."""
    number, unit = _split(text, "size", _SIZE_ADVICE)
    factor = _size_unit(text, unit)
    size = number * factor
    if size.denominator != 1 or size >= 2**64:
        raise _not_a("size", text, _WHOLE_ADVICE)
    return int(size)


def time_ns(text: str) -> int:
    """Nanoseconds, a whole number below 2^64; numbers with units from the largest down, each unit once."""
    rest, total, last = text.strip(), Fraction(0), None
    while rest or last is None:
        term = _TERM.match(rest)
        unit = _TIME_WORDS.get(term[2]) if term and len(term[1]) <= _DIGITS_MAX else None
        if term is None or unit is None or (last is not None and (unit >= last or not term[2])):
            raise _not_a("duration", text, _TIME_ADVICE)
        part = Fraction(term[1]) * unit
        if part.denominator != 1:
            raise _not_a("duration", text, _TIME_ADVICE)
        rest, total, last = rest[term.end() :], total + part, unit
    if total >= 2**64:
        raise _not_a("duration", text, _TIME_ADVICE)
    return int(total)


def rate_per_s(text: str) -> float:
    """Requests per second."""
    number, unit = _split(text, "rate", _RATE_ADVICE)
    factor = THOUSANDS.get(unit.removesuffix("/s").rstrip().lower())
    if factor is None:
        raise _not_a("rate", text, _RATE_ADVICE)
    return float(number * factor)


def percent(text: str) -> float:
    """A share in percent, with or without its sign."""
    number, unit = _split(text, "percentage", _SHARE_ADVICE)
    if unit not in ("", "%"):
        raise _not_a("percentage", text, _SHARE_ADVICE)
    return float(number)


def _split(text: str, expected: str, advice: str) -> tuple[Fraction, str]:
    found = _NUMBER.fullmatch(text.strip())
    if found is None or len(found[1]) > _DIGITS_MAX:
        raise _not_a(expected, text, advice)
    return Fraction(found[1]), found[2] or ""


def _size_unit(text: str, unit: str) -> int:
    """Bytes in a unit of size; ``text`` is what a sentence names."""
    letter, rest = unit[:1], unit[1:]
    power = _POWERS.get(letter.lower())
    if unit in ("", "b", "B"):
        return 1
    if power is None or not unit.isascii():
        raise _not_a("size", text, _SIZE_ADVICE)
    if rest.lower() in ("", "i", "ib"):
        return int(1024**power)
    if rest == "B" and letter in "kMGTP":
        return int(1000**power)
    if rest.lower() == "b":
        prefix = letter.upper()
        decimal = "k" if prefix == "K" else prefix
        raise InputError(f"'{text}' is not a clear size; write {prefix}iB for steps of 1024 or {decimal}B for steps of 1000")
    raise _not_a("size", text, _SIZE_ADVICE)


def _not_a(expected: str, text: str, advice: str) -> InputError:
    """The refusal; a number with an exponent gets its own hint."""
    if re.match(rf"\s*{_DIGITS}\s*[eE][0-9+-]", text):
        advice = advice.replace("write", "write the number in full,", 1)
    return InputError(f"'{text}' is not a {expected}; {advice}")


def size_text(size_bytes: int) -> str:
    """A size in the largest unit of 1024 that divides it, as files have it: ``4KiB``, ``1000B``."""
    return next((f"{size_bytes // each}{unit}" for unit, each in BINARY.items() if size_bytes and size_bytes % each == 0), f"{size_bytes}B")


def duration(ns: float | None) -> str:
    """A time for people: three significant digits in the unit that fits."""
    if ns is None:
        return "–"
    for unit, size in (("s", NS_PER_S), ("ms", 10**6), ("µs", 10**3), ("ns", 1)):
        if ns >= size * 0.9995:
            return f"{three_digits(ns / size)} {unit}"
    return "0 ns" if ns <= 0 else f"{ns:.2g} ns"


def three_digits(value: float) -> str:
    """Three significant digits, never in powers of ten."""
    if abs(value) >= 99.95:
        return f"{value:.0f}"
    return f"{value:.1f}" if abs(value) >= 9.995 else f"{value:.2f}"


def significant(value: float, digits: int = 3) -> str:
    """So many significant digits at most, without needless zeros, thousands separated, never in powers of ten: ``25,700``, ``0.00012``."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    rounded = float(f"{value:.{digits}g}")
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(rounded))))
    shown = f"{rounded:,.{decimals}f}"
    return shown.rstrip("0").rstrip(".") if decimals else shown


def within(value: float, low: float, high: float) -> float:
    """A value rounded to what an interval allows: to a tenth of the interval's leading digit, never to less than its own first digit."""
    width = high - low
    if not (value and width > 0 and math.isfinite(width)):
        return value
    step = 10.0 ** (math.floor(math.log10(min(width, abs(value)))) - 1)
    return round(value / step) * step


def brief_duration(ns: float) -> str:
    """The same for a sentence, without needless zeros: ``1.5 ms``."""
    figure, blank, unit = duration(ns).partition(" ")
    return (figure.rstrip("0").rstrip(".") if "." in figure else figure) + blank + unit


def count(value: float) -> str:
    """Thousands separated; small rates keep a digit behind the point."""
    return f"{value:,.0f}" if value >= 100 or value == 0 else f"{value:.1f}"


def megabytes(bytes_per_s: float) -> str:
    """MB/s, 10⁶ bytes, as in data sheets."""
    value = bytes_per_s / 1e6
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


def binary(size_bytes: float) -> str:
    """A size in the largest power of 1024 that leaves at least one: ``4 KiB``, ``816.2 GiB``."""
    unit, each = next(((unit, each) for unit, each in BINARY.items() if size_bytes >= each), ("B", 1))
    return f"{significant(size_bytes / each, 4)} {unit}"


def seconds(value: float) -> str:
    """Time left or passed: 12 s, 3:05, 1:02:03."""
    whole = max(0, round(value))
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def time_text(value: float) -> str:
    """A time in seconds that a sentence names: ``36 s``, ``2 min 20 s``, ``1 h 39 min 10 s``."""
    whole = round(value)
    if whole < 1:
        return f"{value:.2g} s" if value > 0 else "0 s"
    parts = ((whole // 3600, "h"), (whole // 60 % 60, "min"), (whole % 60, "s"))
    return " ".join(f"{number} {unit}" for number, unit in parts if number)
