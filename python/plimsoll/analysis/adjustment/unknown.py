"""An unknown of an array: its key, as after the ``?`` of a target, and the range in which it is looked for.

Model: a place in the range is a number from 0 to 1, on a scale that is even or, with ``:log``, even in ratios. Where both ends are whole
numbers, so are all values between; others have four digits.

    unknown = parse_unknown("host.request_ns=10000..200000:log")
    unknown.value(0.5)          # 44721
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from plimsoll.errors import InputError

#: More cannot be told apart by the few rows that are published.
UNKNOWNS_MAX = 3
_EXAMPLE = "host.request_ns=10000..200000:log"


@dataclass(frozen=True)
class Unknown:
    """See the module."""

    key: str
    low: float
    high: float
    logarithmic: bool = False
    whole: bool = True

    def value(self, place: float) -> float | int:
        """The value at a place of the range."""
        even = self.low + (self.high - self.low) * place
        value = self.low * (self.high / self.low) ** place if self.logarithmic else even
        return round(value) if self.whole else float(f"{value:.4g}")

    def typed(self, place: float) -> str:
        """As it is written behind a ``?``."""
        return f"{self.key}={self.value(place)}"


def parse_unknown(text: str) -> Unknown:
    """``KEY=LOW..HIGH`` with or without ``:log``."""
    key, equals, span = text.partition("=")
    span, colon, scale = span.partition(":")
    low_text, dots, high_text = span.partition("..")
    if not (key.strip() and equals and dots) or (colon and scale.strip() != "log"):
        raise InputError(f"--unknown {text}: write a key with its range, for example {_EXAMPLE}.")
    low, high = _number(low_text, text), _number(high_text, text)
    if low >= high:
        raise InputError(f"--unknown {text}: the range goes from its lower to its higher end; write for example {_EXAMPLE}.")
    if colon and low <= 0:
        raise InputError(f"--unknown {text}: a range on a scale of ratios begins above 0; raise {low:g}, or leave :log out.")
    whole = all(math.trunc(end) == end and "." not in written for end, written in ((low, low_text), (high, high_text)))
    return Unknown(key.strip(), low, high, bool(colon), whole)


def parse_unknowns(texts: Sequence[str]) -> list[Unknown]:
    """One to three, each of another key."""
    if not texts:
        raise InputError(f"--unknown: say what is to be found, for example --unknown {_EXAMPLE}.")
    if len(texts) > UNKNOWNS_MAX:
        raise InputError(f"--unknown: {len(texts)} are given; {UNKNOWNS_MAX} are the most that few rows can tell apart.")
    unknowns = [parse_unknown(text) for text in texts]
    keys = [unknown.key for unknown in unknowns]
    twice = next((key for key in keys if keys.count(key) > 1), None)
    if twice is not None:
        raise InputError(f"--unknown {twice}: it is given twice; give one range.")
    return unknowns


def settings(unknowns: Sequence[Unknown], places: Sequence[float]) -> str:
    """What stands behind the ``?`` with these values."""
    return "&".join(unknown.typed(place) for unknown, place in zip(unknowns, places, strict=True))


def values(unknowns: Sequence[Unknown], places: Sequence[float]) -> Mapping[str, float | int]:
    """The values by key."""
    return {unknown.key: unknown.value(place) for unknown, place in zip(unknowns, places, strict=True)}


def _number(text: str, whole: str) -> float:
    try:
        value = float(text.strip().replace("_", ""))
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InputError(f"--unknown {whole}: {text.strip() or 'nothing'!r} is not a number; write for example {_EXAMPLE}.")
    return value
