"""Unknowns of an array and the search for their values.

An unknown of an array: its key, as after the ``?`` of a target, and the range in which it is looked for.

Model: a position in the range is a number from 0 to 1, on a scale that is even or, with ``:log``, even in ratios. Where both ends are whole
numbers, so are all values between; others have four digits. What an end with a unit comes to is asked of the catalog, which is handed in.

    unknown = parse_unknown("host.request_ns=10us..200us:log")
    unknown.value(0.5)          # 44721

Searches for the values with the smallest error: all of a grid, or a simplex from the best position of a coarse one.

Model: a search is a generator. It yields positions to try, several where they do not depend on one another, is sent their errors, and
returns the best position. It draws nothing at random, and who works out the errors, in which order, makes no difference to it. A position
is one number from 0 to 1 per unknown.

    position = run_search(grid(2, 9), errors_of)
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass

from plimsoll.displayed import quoted
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

    def value(self, position: float) -> float | int:
        """The value at a position of the range."""
        even = self.low + (self.high - self.low) * position
        value = self.low * (self.high / self.low) ** position if self.logarithmic else even
        return round(value) if self.whole else float(f"{value:.4g}")

    def typed(self, position: float) -> str:
        """As it is written behind a ``?``."""
        return f"{self.key}={self.value(position)}"


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


def settings(unknowns: Sequence[Unknown], positions: Sequence[float]) -> str:
    """What stands behind the ``?`` with these values."""
    return "&".join(unknown.typed(position) for unknown, position in zip(unknowns, positions, strict=True))


def values(unknowns: Sequence[Unknown], positions: Sequence[float]) -> Mapping[str, float | int]:
    """The values by key."""
    return {unknown.key: unknown.value(position) for unknown, position in zip(unknowns, positions, strict=True)}


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
        raise InputError(f"--unknown {text}: {quoted(written or 'nothing')} is not a number; write for example {_EXAMPLE}.")
    return _End(value, bare=True, whole=math.trunc(value) == value and "." not in written)


def _in_unit(written: str, key: str, text: str, in_unit: InUnit) -> int | float | None:
    try:
        return in_unit(key, written) if written else None
    except InputError as problem:
        raise InputError(f"--unknown {text}: {problem}") from None


Position = tuple[float, ...]
Search = Generator[list[Position], list[float], Position]

#: Places per unknown of a grid, by the number of unknowns.
GRID_LEVELS = (17, 9, 6)
#: Places per unknown from which a simplex begins: the middles of three equal parts.
_COARSE = 3
_STEP = 0.15
#: A simplex ends when its positions are this near to each other.
_NEAR = 0.004
_MOST_STEPS = 60


def run_search(search: Search, errors_of: Callable[[list[Position]], list[float]]) -> Position:
    """The best position, with the errors that ``errors_of`` finds for those that are asked for; each position is asked for once."""
    known: dict[Position, float] = {}
    try:
        asked = next(search)
        while True:
            new = [position for position in dict.fromkeys(asked) if position not in known]
            known.update(zip(new, errors_of(new) if new else [], strict=True))
            asked = search.send([known[position] for position in asked])
    except StopIteration as ended:
        position: Position = ended.value
        return position


def grid(unknowns: int, levels: int) -> Search:
    """Every combination of so many values of each, both ends among them."""
    steps = [number / (levels - 1) for number in range(levels)] if levels > 1 else [0.5]
    positions = list(itertools.product(steps, repeat=unknowns))
    errors = yield positions
    return positions[_least(errors)]


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


def _step(corners: list[Position], errors: list[float]) -> Generator[list[Position], list[float], tuple[list[Position], list[float]]]:
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


def _between(start: Position, end: Position, part: float) -> Position:
    """The position at a part of the way, or behind its ends, kept within the ranges."""
    return tuple(min(1.0, max(0.0, one + part * (other - one))) for one, other in zip(start, end, strict=True))


def _moved(position: Position, axis: int) -> Position:
    away = _STEP if position[axis] < 0.5 else -_STEP
    return tuple(number + away if axis == where else number for where, number in enumerate(position))


def _least(errors: Sequence[float]) -> int:
    return min(range(len(errors)), key=lambda number: errors[number])


def _error(tried: tuple[Position, float]) -> float:
    return tried[1]
