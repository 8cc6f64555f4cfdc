"""What draws of what nobody has looked up say of modelled figures, in words: rounded to what the interval allows.

drawn_words(result)      # "970 IOPS [960 … 1,080], mostly destage depth; mean 16.5 ms [14.8 … 16.7], mostly destage depth"
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from plimsoll.analysis.point.metric import ALL, in_bytes, metric, rate_noun, spoken
from plimsoll.result import DrawnInterval, Result
from plimsoll.units import NS_PER_S, significant, within

#: Values that explain less than this together are not what a figure mostly follows from.
MOSTLY = 0.4
_TIMES = ((NS_PER_S, "s"), (10**6, "ms"), (10**3, "µs"), (1, "ns"))


def ends_words(value: float, low: float, high: float, unit: str) -> str:
    """``970 IOPS [960 … 1,080]``."""
    shown = [significant(within(one, low, high), 6) for one in (value, low, high)]
    return f"{shown[0]} {unit} [{shown[1]} … {shown[2]}]"


def mostly_words(interval: Mapping[str, Any]) -> str:
    """Of an interval as programs read it: ``mostly destage depth (62 %), strip (9 %)``; values that explain little say so."""
    if interval["high"] <= interval["low"]:
        return "no uncertain value moves it"
    if not interval["mostly"]:
        return "no single value moves it by more than chance would"
    names = ", ".join(f"{one['name']} ({one['share']:.0%})".replace("%", " %") for one in interval["mostly"])
    together = sum(float(one["share"]) for one in interval["mostly"])
    return f"mostly {names}" if together >= MOSTLY else f"of many values, most {names}"


def figure_words(result: Result, op: str, name: str) -> tuple[str, str] | None:
    """A figure with its interval, and what that follows from; None without draws."""
    found = metric(result, op, name)
    if found is None or found.interval is None:
        return None
    interval = found.interval
    if name == "iops":
        noun = rate_noun([result])
        value, low, high = (spoken(one, noun) for one in (found.value, interval.low, interval.high))
        return ends_words(value, low, high, noun), mostly_words(asdict(interval))
    if name == "bytes_per_s":
        return ends_words(found.value / 1e6, interval.low / 1e6, interval.high / 1e6, "MB/s"), mostly_words(asdict(interval))
    each, unit = next(((each, unit) for each, unit in _TIMES if found.value >= each), _TIMES[-1])
    return ends_words(found.value / each, interval.low / each, interval.high / each, unit), mostly_words(asdict(interval))


def headline_figures(result: Result) -> Sequence[tuple[str, str, str]]:
    """What people read first of a point: metric, operation, what it is called."""
    rate = ("bytes_per_s", ALL, "Bandwidth") if in_bytes([result]) else ("iops", ALL, "Rate")
    return rate, ("mean", ALL, "Mean latency"), ("p99", ALL, "p99")


def drawn_words(result: Result) -> str:
    """The rate and mean latency of a point with their intervals, in a sentence without its end; empty without draws."""
    found = [figure_words(result, op, name) for name, op, _ in headline_figures(result)[:2]]
    told = [f"{figure}, {mostly}" for figure, mostly in (one for one in found if one is not None)]
    return "; mean latency ".join(told)


def draws_of(result: Result) -> DrawnInterval | None:
    """Any interval of the result, which says how many draws there were."""
    every = (one.interval for metrics in result.estimates.values() for one in metrics.values())
    return next((interval for interval in every if interval is not None), None)
