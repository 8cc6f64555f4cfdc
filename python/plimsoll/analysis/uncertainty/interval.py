"""Between what a modelled figure lies, given what nobody has looked up, and which of these values matter.

Model: the ends are quantiles of what the draws gave (Hazen's positions, in between geometric where all are positive). How far they would
move with other draws is the standard deviation of the ends over samples drawn from the draws themselves (bootstrap, seeded): somewhat too
large, since it knows nothing of how evenly values were drawn. Which values matter: of the ranks of the figure that share which the ranks
of one value explain, the one that explains most first, the next of what is left (forward regression on ranks; of monotone effects that is
nearly their whole share). One is told only where chance among so many values would explain as much in fewer than 5 % of cases
(Bonferroni), and as far as `TOLD` of the whole.
Limits: what only two values together bring about, or one in both directions, is no one's share. The interval is of the values that are
drawn: what the model itself leaves out is not in it.

    found = interval([8_100.0, 9_300.0, …], causes)
    found.low, found.high, found.mostly[0].name      # 5_400.0, 11_600.0, "destage depth"
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from math import exp, log, sqrt
from statistics import fmean, stdev
from typing import Any

from plimsoll.analysis.statistics.distributions import two_sided_p
from plimsoll.records import dataclass
from plimsoll.stored import Json

#: What part of the draws lies between the ends.
LEVEL = 0.90
#: How many values are named.
NAMED = 3
#: Less than this part of the whole is not told of.
TOLD = 0.05
#: What chance may explain.
_CHANCE = 0.05
_SAMPLES = 200


@dataclass(frozen=True)
class DrawnValue:
    """An uncertain value with its draws. ``low`` and ``high`` are the ends of its range, ``places`` where it stands in the document."""

    name: str
    places: tuple[str, ...]
    source: str
    value: Any
    low: Any
    high: Any
    reason: str
    draws: Sequence[float] = ()


@dataclass(frozen=True)
class Cause:
    """A value that matters: ``share`` of what the figure varies by follows from it, and where it is larger the figure is (``raises``)."""

    of: DrawnValue
    share: float
    raises: bool

    def to_json(self) -> Json:
        """As programs read it."""
        one = self.of
        return {
            "name": one.name,
            "places": list(one.places),
            "share": round(self.share, 3),
            "raises": self.raises,
            "value": one.value,
            "low": one.low,
            "high": one.high,
            "source": str(one.source),
            "reason": one.reason,
        }


@dataclass(frozen=True)
class Interval:
    """See the module. ``low_error`` and ``high_error`` are how far the ends would move with other draws (one standard error).

    ``failed`` draws gave no figure and are in nothing else; ``explained`` is the share of all values that were looked at one by one and
    told of; without any value that matters ``mostly`` is empty.
    """

    low: float
    high: float
    level: float
    draws: int
    low_error: float
    high_error: float
    mostly: tuple[Cause, ...] = ()
    failed: int = 0

    def to_json(self) -> Json:
        """As programs read it."""
        return {
            "low": self.low,
            "high": self.high,
            "level": self.level,
            "draws": self.draws,
            "low_error": self.low_error,
            "high_error": self.high_error,
            "failed": self.failed,
            "mostly": [cause.to_json() for cause in self.mostly],
        }

    @property
    def moves(self) -> bool:
        """Whether the figure depends on what was drawn at all."""
        return self.high > self.low


def interval(values: Sequence[float | None], drawn: Sequence[DrawnValue] = (), level: float = LEVEL) -> Interval | None:
    """The interval of a figure by its ``values``, one for each draw, None where a draw gave none; None when there are too few."""
    numbers = [number for number, value in enumerate(values) if value is not None]
    given = [float(value) for value in values if value is not None]
    if len(given) < 2:
        return None
    below = (1 - level) / 2
    low, high = quantile(given, below), quantile(given, 1 - below)
    low_error, high_error = _errors(given, below)
    causes = influences(given, [[one.draws[number] for number in numbers] for one in drawn])
    mostly = tuple(Cause(drawn[place], share, raises) for place, share, raises in causes)
    return Interval(low, high, level, len(given), low_error, high_error, mostly, len(values) - len(given))


def quantile(values: Sequence[float], share: float) -> float:
    """The value that a share of the values lies below."""
    ordered = sorted(values)
    place = min(max(share * len(ordered) - 0.5, 0.0), len(ordered) - 1.0)
    under = min(int(place), len(ordered) - 2) if len(ordered) > 1 else 0
    low, high = ordered[under], ordered[min(under + 1, len(ordered) - 1)]
    if low == high:
        return low
    if low > 0:
        return exp(log(low) + (place - under) * (log(high) - log(low)))
    return low + (place - under) * (high - low)


def _errors(values: Sequence[float], below: float) -> tuple[float, float]:
    """Standard errors of both ends."""
    generator = random.Random(len(values))  # noqa: S311 - samples, no secret
    ends = []
    for _ in range(_SAMPLES):
        sample = generator.choices(values, k=len(values))
        ends.append((quantile(sample, below), quantile(sample, 1 - below)))
    return stdev(low for low, _ in ends), stdev(high for _, high in ends)


def influences(figure: Sequence[float], columns: Sequence[Sequence[float]]) -> list[tuple[int, float, bool]]:
    """The columns that explain the figure, the one that explains most first: its number, its share, and whether it raises the figure."""
    left = _ranks(figure)
    whole = sum(value * value for value in left)
    others = {number: _ranks(column) for number, column in enumerate(columns) if len(set(column)) > 1}
    candidates = len(others)
    found: list[tuple[int, float, bool]] = []
    while whole > 0 and others and len(found) < NAMED:
        fits = {number: _correlation(left, column) for number, column in others.items()}
        best = max(fits, key=lambda number: (abs(fits[number]), -number))
        square = fits[best] ** 2
        share = square * sum(value * value for value in left) / whole
        if share < TOLD or not _beyond_chance(square, len(figure) - 2 - len(found), candidates):
            break
        found.append((best, share, fits[best] > 0))
        chosen = others.pop(best)
        left = _without(left, chosen)
        others = {number: _without(column, chosen) for number, column in others.items()}
    return found


def _beyond_chance(square: float, degrees: int, candidates: int) -> bool:
    """Whether the best of so many columns would hardly explain as much by chance."""
    if degrees < 1 or square >= 1:
        return square >= 1 and degrees >= 1
    return two_sided_p(sqrt(square * degrees / (1 - square)), degrees) * candidates < _CHANCE


def _ranks(values: Sequence[float]) -> list[float]:
    """Ranks about their mean; equal values share theirs."""
    order = sorted(range(len(values)), key=lambda place: values[place])
    ranks = [0.0] * len(values)
    start = 0
    while start < len(order):
        end = start
        while end + 1 < len(order) and values[order[end + 1]] == values[order[start]]:
            end += 1
        for place in order[start : end + 1]:
            ranks[place] = (start + end) / 2
        start = end + 1
    mean = fmean(ranks) if ranks else 0.0
    return [rank - mean for rank in ranks]


def _correlation(one: Sequence[float], other: Sequence[float]) -> float:
    spread = sqrt(sum(value * value for value in one) * sum(value * value for value in other))
    return sum(a * b for a, b in zip(one, other, strict=True)) / spread if spread > 1e-9 else 0.0


def _without(values: Sequence[float], column: Sequence[float]) -> list[float]:
    """What of the values does not follow from the column."""
    square = sum(value * value for value in column)
    slope = sum(a * b for a, b in zip(values, column, strict=True)) / square if square > 1e-9 else 0.0
    return [a - slope * b for a, b in zip(values, column, strict=True)]
