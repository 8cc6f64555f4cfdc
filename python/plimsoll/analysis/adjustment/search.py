"""Searches for the values with the smallest error: all of a grid, or a simplex from the best place of a coarse one.

Model: a search is a generator. It yields places to try, several where they do not depend on one another, is sent their errors, and returns
the best place. It draws nothing at random, and who works out the errors, in which order, makes no difference to it. A place is one number
from 0 to 1 per unknown.

    place = carried_out(grid(2, 9), errors_of)
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Generator, Sequence

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
