"""Numbers for people: the only place where bytes, nanoseconds and rates get units.

duration(1_234_000)        # "1.23 ms"
megabytes(96_400_000)      # "96.4"          MB are 10⁶ bytes, as in data sheets
binary(4096)               # "4 KiB"
"""

from __future__ import annotations

from math import floor, log10

from plimsoll.result import Estimate

_BINARY = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
_TIMES = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns"))


def duration(ns: float | None) -> str:
    """Three significant digits in the unit that fits."""
    if ns is None:
        return "–"
    for size, unit in _TIMES:
        if ns >= size * 0.9995:
            return f"{three_digits(ns / size)} {unit}"
    return "0 ns" if ns <= 0 else f"{ns:.2g} ns"


def bounded(found: Estimate | None) -> str:
    """A latency, marked ≥ where requests without an answer make it a lower bound."""
    if found is None:
        return duration(None)
    return f"≥ {duration(found.value)}" if found.at_least else duration(found.value)


def three_digits(value: float) -> str:
    """Three significant digits, never in powers of ten."""
    if abs(value) >= 99.95:
        return f"{value:.0f}"
    return f"{value:.1f}" if abs(value) >= 9.995 else f"{value:.2f}"


def multiple(value: float) -> str:
    """A ratio: three significant digits; two behind the point, or as many as a small one needs to show two that count."""
    if 0 < value < 0.0995:
        return f"{value:.{1 - floor(log10(value))}f}"
    return three_digits(value)


def count(value: float) -> str:
    """Thousands separated; small rates keep a digit behind the point."""
    return f"{value:,.0f}" if value >= 100 or value == 0 else f"{value:.1f}"


def megabytes(bytes_per_s: float) -> str:
    """MB/s, 10⁶ bytes."""
    value = bytes_per_s / 1e6
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


def binary(size_bytes: float) -> str:
    """A size in the largest power of 1024 that leaves at least one."""
    value, unit = float(size_bytes), 0
    while value >= 1024 and unit < len(_BINARY) - 1:
        value, unit = value / 1024, unit + 1
    return f"{value:.4g} {_BINARY[unit]}"


def seconds(value: float) -> str:
    """Time left or passed: 12 s, 3:05, 1:02:03."""
    whole = max(0, round(value))
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
