"""Figures that need more than a number and its unit: estimates, ratios. What has only a unit is written by `plimsoll.units`.

bounded(estimate)          # "1.23 ms", "≥ 16.0 s" where requests without an answer make it a lower bound
multiple(0.0123)           # "0.012"
"""

from __future__ import annotations

from math import floor, log10

from plimsoll.result import Estimate
from plimsoll.units import duration, three_digits


def bounded(found: Estimate | None) -> str:
    """A latency, marked ≥ where requests without an answer make it a lower bound."""
    if found is None:
        return duration(None)
    return f"≥ {duration(found.value)}" if found.at_least else duration(found.value)


def multiple(value: float) -> str:
    """A ratio: three significant digits; two behind the point, or as many as a small one needs to show two that count."""
    if 0 < value < 0.0995:
        return f"{value:.{1 - floor(log10(value))}f}"
    return three_digits(value)
