"""Unknowns of an array and the search for their values.

An unknown of an array: its key, as after the ``?`` of a target, and the range in which it is looked for.

Model: a place in the range is a number from 0 to 1, on a scale that is even or, with ``:log``, even in ratios. Where both ends are whole
numbers, so are all values between; others have four digits. What an end with a unit comes to is asked of the catalog, which is handed in.

    unknown = parse_unknown("host.request_ns=10us..200us:log")
    unknown.value(0.5)          # 44721

Searches for the values with the smallest error: all of a grid, or a simplex from the best position of a coarse one.

Model: a search is a generator. It yields places to try, several where they do not depend on one another, is sent their errors, and returns
the best place. It draws nothing at random, and who works out the errors, in which order, makes no difference to it. A place is one number
from 0 to 1 per unknown.

    place = carried_out(grid(2, 9), errors_of)
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Generator, Mapping, Sequence
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


Place = tuple[float, ...]
Search = Generator[list[Place], list[float], Place]

#: Places per unknown of a grid, by the number of unknowns.
GRID_LEVELS = (17, 9, 6)
#: Places per unknown from which a simplex begins: the middles of three equal parts.
_COARSE = 3
_STEP = 0.15
#: A simplex ends when its places are this near to each other.
_NEAR = 0.004
_MOST_STEPS = 60


def carried_out(search: Search, errors_of: Callable[[list[Place]], list[float]]) -> Place:
    """The best place, with the errors that ``errors_of`` finds for those that are asked for; each place is asked for once."""
    known: dict[Place, float] = {}
    try:
        asked = next(search)
        while True:
            new = [place for place in dict.fromkeys(asked) if place not in known]
            known.update(zip(new, errors_of(new) if new else [], strict=True))
            asked = search.send([known[place] for place in asked])
    except StopIteration as ended:
        place: Place = ended.value
        return place


def grid(unknowns: int, levels: int) -> Search:
    """Every combination of so many values of each, both ends among them."""
    steps = [number / (levels - 1) for number in range(levels)] if levels > 1 else [0.5]
    places = list(itertools.product(steps, repeat=unknowns))
    errors = yield places
    return places[_least(errors)]


def simplex(unknowns: int) -> Search:
    """Nelder and Mead's descent within the ranges, from the best of three values of each unknown."""
    middles = [(number + 0.5) / _COARSE for number in range(_COARSE)]
    coarse = list(itertools.product(middles, repeat=unknowns))
    errors = yield coarse
    start = coarse[_least(errors)]
    corners = [start, *(_moved(start, axis) for axis in range(unknowns))]
    errors = yield corners
    for _ in range(_MOST_STEPS):
        order = sorted(range(len(corners)), key=lambda number: (errors[number], corners[number]))
        corners, errors = [corners[number] for number in order], [errors[number] for number in order]
        if max(abs(one - best) for corner in corners for one, best in zip(corner, corners[0], strict=True)) < _NEAR:
            break
        corners, errors = yield from _step(corners, errors)
    return corners[_least(errors)]


def _step(corners: list[Place], errors: list[float]) -> Generator[list[Place], list[float], tuple[list[Place], list[float]]]:
    """One step: the worst corner moves through the middle of the others, or all move towards the best."""
    worst = corners[-1]
    middle = tuple(sum(numbers) / (len(corners) - 1) for numbers in zip(*corners[:-1], strict=True))
    # All four are asked for at once: they are worked out side by side, and nothing depends on how many can be.
    tried = [_between(middle, worst, part) for part in (-1.0, -2.0, -0.5, 0.5)]
    reflected, expanded, outside, inside = zip(tried, (yield tried), strict=True)
    if reflected[1] < errors[0]:
        better = min(reflected, expanded, key=_error)
    elif reflected[1] < errors[-2]:
        better = reflected
    else:
        better = min(outside, inside, key=_error)
    if better[1] < errors[-1]:
        return [*corners[:-1], better[0]], [*errors[:-1], better[1]]
    shrunk = [_between(corners[0], corner, 0.5) for corner in corners[1:]]
    return [corners[0], *shrunk], [errors[0], *(yield shrunk)]


def _between(start: Place, end: Place, part: float) -> Place:
    """The place at a part of the way, or behind its ends, kept within the ranges."""
    return tuple(min(1.0, max(0.0, one + part * (other - one))) for one, other in zip(start, end, strict=True))


def _moved(place: Place, axis: int) -> Place:
    away = _STEP if place[axis] < 0.5 else -_STEP
    return tuple(number + away if axis == where else number for where, number in enumerate(place))


def _least(errors: Sequence[float]) -> int:
    return min(range(len(errors)), key=lambda number: errors[number])


def _error(tried: tuple[Place, float]) -> float:
    return tried[1]
