"""An unknown of an array: its key, as after the ``?`` of a target, and the range in which it is looked for.

Model: a place in the range is a number from 0 to 1, on a scale that is even or, with ``:log``, even in ratios. Where both ends are whole
numbers, so are all values between; others have four digits. What an end with a unit comes to is asked of the catalog, which is handed in.

    unknown = parse_unknown("host.request_ns=10us..200us:log")
    unknown.value(0.5)          # 44721
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from plimsoll.errors import InputError

#: More cannot be told apart by the few rows that are published.
UNKNOWNS_MAX = 3
_EXAMPLE = "host.request_ns=10us..200us:log"

#: The number that a key means with a text in units; None where its values have none, `InputError` without a place where it is none.
InUnit = Callable[[str, str], int | float | None]


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


def parse_unknown(text: str, in_unit: InUnit) -> Unknown:
    """``KEY=LOW..HIGH`` with or without ``:log``; bare numbers are in the key's unit."""
    key, equals, span = text.partition("=")
    span, colon, scale = span.partition(":")
    low_text, dots, high_text = span.partition("..")
    if not (key.strip() and equals and dots) or (colon and scale.strip() != "log"):
        raise InputError(f"--unknown {text}: write a key with its range, for example {_EXAMPLE}.")
    low, high = (_end(end, key.strip(), text, in_unit) for end in (low_text, high_text))
    if low.bare != high.bare and 0 not in (low.value, high.value):
        raise InputError(f"--unknown {text}: one end has a unit and the other has not; give both the same, for example {_EXAMPLE}.")
    if low.value >= high.value:
        raise InputError(f"--unknown {text}: the range goes from its lower to its higher end; write for example {_EXAMPLE}.")
    if colon and low.value <= 0:
        raise InputError(f"--unknown {text}: a range on a scale of ratios begins above 0; raise {low.value:g}, or leave :log out.")
    return Unknown(key.strip(), low.value, high.value, bool(colon), low.whole and high.whole)


def parse_unknowns(texts: Sequence[str], in_unit: InUnit) -> list[Unknown]:
    """One to three, each of another key."""
    if not texts:
        raise InputError(f"--unknown: say what is to be found, for example --unknown {_EXAMPLE}.")
    if len(texts) > UNKNOWNS_MAX:
        raise InputError(f"--unknown: {len(texts)} are given; {UNKNOWNS_MAX} are the most that few rows can tell apart.")
    unknowns = [parse_unknown(text, in_unit) for text in texts]
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


@dataclass(frozen=True)
class _End:
    """One end of a range in the key's unit: whether it was written without one, and whether as a whole number."""

    value: float
    bare: bool
    whole: bool


def _end(written: str, key: str, text: str, in_unit: InUnit) -> _End:
    written = written.strip()
    try:
        value = float(written.replace("_", ""))
    except ValueError:
        counted = _in_unit(written, key, text, in_unit)
        if counted is not None:
            return _End(counted, bare=False, whole=isinstance(counted, int))
        value = math.nan
    if not math.isfinite(value):
        raise InputError(f"--unknown {text}: {written or 'nothing'!r} is not a number; write for example {_EXAMPLE}.")
    return _End(value, bare=True, whole=math.trunc(value) == value and "." not in written)


def _in_unit(written: str, key: str, text: str, in_unit: InUnit) -> int | float | None:
    try:
        return in_unit(key, written) if written else None
    except InputError as problem:
        raise InputError(f"--unknown {text}: {problem}") from None
