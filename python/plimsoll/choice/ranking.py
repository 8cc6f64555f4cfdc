"""Candidates in the order in which they are tried, and in which they are told.

Model: a choice is the cheapest that carries the demand in every state, so candidates with a price are tried from the cheapest on, until as
many carry it as are wanted: the choice, the runner-up, perhaps more (`plimsoll.choice.search`). What is dearer is not tried. Candidates
without a price are tried apart, from the fewest drives on, and those that carry the demand are told by the load that each of their drives
carries, most first: what costs money is drives and what they hang on.

    ranked(entries)[0].candidate.name
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from plimsoll.choice.candidates import Candidate, Considered
from plimsoll.choice.doubt import Doubt
from plimsoll.choice.line import Line
from plimsoll.choice.neighbours import Surge
from plimsoll.choice.trial import HEALTHY, REBUILDING, Outcome


@dataclass(frozen=True)
class Entry:
    """A candidate with all that is known of it; ``rejected`` is why it is not chosen, None where it carries the demand."""

    considered: Considered
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    line: Line | None = None
    surges: tuple[Surge, ...] = ()
    doubt: Doubt = field(default_factory=Doubt)
    loss_per_year: float | None = None
    rejected: str | None = None
    simulated: bool = False

    @property
    def candidate(self) -> Candidate:
        """Its name and target."""
        return self.considered.candidate

    @property
    def carries(self) -> bool:
        """Whether it was shown to carry the demand in every state that was asked for."""
        return self.simulated and self.rejected is None

    @property
    def price(self) -> float | None:
        """None where a part has none."""
        return None if self.considered.cost is None else self.considered.cost.amount

    @property
    def mark_iops(self) -> float | None:
        """What it carries healthy, as far as its load line was measured; else what the trial itself carried."""
        if self.line is not None and self.line.mark is not None:
            return self.line.mark.iops
        if self.line is not None and self.line.held_per_s is not None:
            return self.line.held_per_s
        return self.outcomes[HEALTHY].iops if self.carries and HEALTHY in self.outcomes else None

    @property
    def limited_by(self) -> str | None:
        """What limits it beyond the mark, or else was busiest in the last trial."""
        if self.line is not None:
            return self.line.limited_by
        last = list(self.outcomes.values())[-1:]
        return (last[0].limited_by or last[0].busiest) if last else None

    @property
    def rebuild_hours(self) -> float | None:
        """How long a drive takes to be rebuilt under the load."""
        found = self.outcomes.get(REBUILDING)
        return None if found is None else found.rebuild_hours

    @property
    def further_hours(self) -> Mapping[str, float | None]:
        """The same of groups of other drives, by their names."""
        found = self.outcomes.get(REBUILDING)
        return {} if found is None else found.further_hours


def in_turn(entries: Iterable[Entry]) -> tuple[list[Entry], list[Entry]]:
    """What is to be tried, in its order: those with a price, and those without."""
    left = [entry for entry in entries if entry.rejected is None]
    priced = sorted((entry for entry in left if entry.price is not None), key=lambda entry: (entry.price, *_by_size(entry)))
    return priced, sorted((entry for entry in left if entry.price is None), key=_by_size)


def ranked(entries: Iterable[Entry]) -> list[Entry]:
    """The best first: what carries the demand, then what was tried in vain, then the rest."""
    return sorted(entries, key=_rank)


def _by_size(entry: Entry) -> tuple[int, int, str]:
    return entry.considered.drives, entry.considered.capacity_bytes, entry.candidate.name


def _rank(entry: Entry) -> tuple[int, float, float, str]:
    price = entry.price if entry.price is not None else math.inf
    if entry.carries:
        per_drive = (entry.mark_iops or 0.0) / max(1, entry.considered.drives)
        return (0 if entry.price is not None else 1), price, -per_drive, entry.candidate.name
    tried = 2 if entry.simulated else 3 if entry.outcomes or entry.considered.shapes else 4
    return tried, price, float(entry.considered.drives), entry.candidate.name
