"""How grave a doubt is, and the doubts of several points put together; nothing else decides either.

Model: a flag is *invalid* when the number is wrong, and otherwise a *doubt* or a *note* by how far the headline of a point could be
from the truth because of it. The headline is what a point is quoted by: its rate and its mean latency. From `DOUBT_SHIFT` on somebody
who compares two points could take one for the better because of it, since that is what repeats on a quiet machine seldom differ by;
below, it is a note, which is there for who looks into details. What touches nothing but a maximum or a high percentile is a note, too:
who asks for one of these has an objective, which is judged by its own intervals.

Every place that shows or counts flags takes them from `gathered`: one for each name, as grave as the gravest, each point counted once.

    of_shift(0.25)                           # "doubt"
    [one.name for one in gathered(results)]  # the gravest first
"""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.records import dataclass
from plimsoll.result import Flag, Result, Severity

#: The gravest first.
ORDER: tuple[Severity, ...] = ("invalid", "doubt", "note")
DOUBT_SHIFT = 0.10


def of_shift(share: float) -> Severity:
    """The severity of what could move the headline by this share of it."""
    return "doubt" if abs(share) >= DOUBT_SHIFT else "note"


def rank(severity: Severity) -> int:
    """0 for the gravest."""
    return ORDER.index(severity)


@dataclass(frozen=True)
class Gathered:
    """The flags of one name: each point that carries some, with the gravest of its own."""

    name: str
    held: tuple[tuple[Result, Flag], ...]

    @property
    def worst(self) -> Flag:
        """The first of the gravest."""
        return min((flag for _, flag in self.held), key=lambda flag: rank(flag.severity))

    @property
    def severity(self) -> Severity:
        """That of the gravest."""
        return self.worst.severity

    @property
    def grave(self) -> list[Result]:
        """The points for which it is as grave."""
        return [result for result, flag in self.held if flag.severity == self.severity]


def gathered(results: Sequence[Result]) -> list[Gathered]:
    """Every flag of the points, by name, the gravest first and else in the order of the rules."""
    held: dict[str, list[tuple[Result, Flag]]] = {}
    for result in results:
        of_point: dict[str, Flag] = {}
        for flag in sorted(result.flags, key=lambda flag: rank(flag.severity)):
            of_point.setdefault(flag.name, flag)
        for name, flag in of_point.items():
            held.setdefault(name, []).append((result, flag))
    return sorted((Gathered(name, tuple(pairs)) for name, pairs in held.items()), key=lambda one: rank(one.severity))
