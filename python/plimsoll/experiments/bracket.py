"""Between which two levels the objective fails: climb until it does, then halve what lies between.

Model: the response does not fall as the load rises, so every level below one that held holds, too. The climb goes from the first level up
by the growth, until a level is too much or the last one allowed was not. When already the first is too much, the way goes down by halves:
whole numbers to 1, others at most `HALVINGS_MAX` times. Then bisection, until the resolution is reached; whole numbers end at neighbours.
A level that had too few requests to show that it holds is passed over on the way. When the bracket ends at such a level, it is measured for
as long as these take (`Probe.longer`); if it is too much then, the level passed below it is, and what lies between is halved anew.
Limits: where the response falls again with more load, some crossing is found, not all.

    bracket = yield from bracketed(probe, bounds, resolution, growth)
    bracket.low, bracket.high                # None: even the lowest level was too much, or none was
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

from plimsoll.experiments.bounds import Bounds, Growth, Resolution
from plimsoll.experiments.plan import Ask
from plimsoll.experiments.probe import Probe
from plimsoll.result import Result

#: How often a first level that is too much is halved: down to a thousandth of it.
HALVINGS_MAX = 10


@dataclass(frozen=True)
class Bracket:
    """The highest level that was not too much below the lowest that was."""

    low: float | None
    high: float | None


def bracketed(probe: Probe, bounds: Bounds, resolution: Resolution, growth: Growth) -> Generator[Ask, Result, Bracket]:
    """Find the bracket with the levels that ``probe`` asks for."""
    bracket = yield from _climbed(probe, bounds, growth)
    if bracket.low is None:
        bracket = yield from _descended(probe, bounds)
    bracket = yield from _bisected(probe, bracket, bounds, resolution)
    low, high = bracket.low, bracket.high
    while low is not None and not (yield from probe.longer(low)):
        low, high = max((level for level in probe.not_too_much if level < low), default=None), low
    return bracket if low == bracket.low else (yield from _bisected(probe, Bracket(low, high), bounds, resolution))


def _bisected(probe: Probe, bracket: Bracket, bounds: Bounds, resolution: Resolution) -> Generator[Ask, Result, Bracket]:
    if bracket.low is None or bracket.high is None:
        return bracket
    low, high = bracket.low, bracket.high
    while (level := resolution.between(low, high, bounds)) is not None:
        if (yield from probe.at(level)):
            low = level
        else:
            high = level
    return Bracket(low, high)


def _climbed(probe: Probe, bounds: Bounds, growth: Growth) -> Generator[Ask, Result, Bracket]:
    low, level = None, float(bounds.start)
    while (yield from probe.at(level)):
        if level >= bounds.stop:
            return Bracket(level, None)
        low, level = level, growth.after(level, bounds)
    return Bracket(low, level)


def _descended(probe: Probe, bounds: Bounds) -> Generator[Ask, Result, Bracket]:
    high = float(bounds.start)
    for _ in range(HALVINGS_MAX if not bounds.integer else int(high).bit_length()):
        level = float(int(high) // 2) if bounds.integer else bounds.level(high / 2, high / 2)
        if level <= 0:
            break
        if (yield from probe.at(level)):
            return Bracket(level, high)
        high = level
    return Bracket(None, high)
