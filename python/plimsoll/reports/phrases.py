"""Figures in the words of a sentence: a load, a latency, how steady it was, and where it was measured.

Model: large requests are spoken of in MB/s, queries per hour where a request is a query, new orders per minute where orders are entered.

    load_text(11_400.0, 46.7e6, results)       # "11,400 IOPS"
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from plimsoll.analysis.point.metric import ALL, IOPS, in_bytes, metric, rate_noun, spoken
from plimsoll.analysis.point.transactions import new_orders_per_min
from plimsoll.result import Estimate, Result, tells
from plimsoll.units import count, duration, megabytes, significant


def load_text(iops: float, bytes_per_s: float, results: Sequence[Result], *, noun: str = "") -> str:
    """The load in the unit that people speak of: MB/s where requests are large, queries per hour where a request is a query."""
    return f"{megabytes(bytes_per_s)} MB/s" if in_bytes(results) else told(iops, noun or rate_noun(results))


def told(per_s: float, noun: str) -> str:
    return f"{count(spoken(per_s, noun))} {noun}"


def bounded(found: Estimate | None, written: Callable[[float], str] = duration) -> str:
    """A latency, marked ≥ where requests without an answer make it a lower bound."""
    if found is None:
        return duration(None)
    return f"≥ {written(found.value)}" if found.at_least else written(found.value)


def rate_text(result: Result) -> str:
    iops, moved = metric(result, ALL, "iops"), metric(result, ALL, "bytes_per_s")
    if (orders := new_orders_per_min(result)) is not None and iops is not None:
        return f"{count(orders.value)} new orders per minute ({count(iops.value)} transactions/s)"
    per_s = told(iops.value, rate_noun([result])) if iops else ""
    if rate_noun([result]) != IOPS:
        return per_s
    rates = (per_s, f"{megabytes(moved.value)} MB/s" if moved and moved.value else "")
    first, second = reversed(rates) if in_bytes([result]) else rates
    return f"{first} ({second})" if first and second else first or second


def steadiness(result: Result) -> str:
    if any(flag.name == "not_steady" for flag in result.flags):
        return ", not steady"
    found = metric(result, ALL, "iops")
    half = _half_width(found)
    return "" if half is None else f", steady within {significant(half, 2)} %"


def _half_width(found: Estimate | None) -> float | None:
    """In percent of the value; None where there is no interval that says something."""
    if found is None or found.low is None or found.high is None or not found.value or not tells(found.low, found.high):
        return None
    return 100 * (found.high - found.low) / 2 / found.value


def settings_words(result: Result) -> str:
    return ", ".join(f"{name} {value}" for name, value in (result.place.get("settings") or {}).items())


def place_text(result: Result) -> str:
    settings = settings_words(result)
    return f"{result.job.title}{f' at {settings}' if settings else ''}"


def placed_text(result: Result, results: Sequence[Result]) -> str:
    """By its settings alone, where there is one workload and they tell."""
    alone = len({each.job.workload for each in results}) == 1
    return (settings_words(result) if alone else "") or place_text(result)


def bandwidth_text(value: float) -> str:
    return f"{megabytes(value)} MB/s"
