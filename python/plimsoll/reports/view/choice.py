"""The page of a choice: what it costs to carry how much, the load line of each candidate that carries it, and why the others fell out.

Model: cost is the price where any candidate that carries the demand has one, else the number of drives. The *front* are the candidates that
none carries more than for as little: who buys elsewhere pays more, or gets less.
Limits: candidates whose load line was not measured have no place in the pictures; they stand in the tables with the reason.

    choice_page(chosen)["rows"][0]["front"]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypedDict

from plimsoll.choice.ranking import Entry
from plimsoll.choice.selection import Chosen
from plimsoll.choice.trial import DEGRADED, HEALTHY, REBUILDING
from plimsoll.reports.terminal.choice import answer, asked_lines, chance_words, hours_words, kind_of, of_best, response_words
from plimsoll.reports.uncertainty import mostly_words

SCHEMA: Literal["plimsoll.choice-page/1"] = "plimsoll.choice-page/1"


class CandidatePoint(TypedDict):
    """A point of a load line: ``over_limit`` is the worst latency over its limit, None where the objective has none."""

    rate_per_s: float
    over_limit: float | None
    holds: bool


class ChoiceRow(TypedDict):
    """A candidate that was simulated."""

    name: str
    carries: bool
    #: In the unit of the page's ``cost``.
    cost: float | None
    drives: int
    price: float | None
    #: What it carries healthy, between what that lies given what nobody has looked up, and what that mostly follows from.
    mark_per_s: float | None
    low_per_s: float | None
    high_per_s: float | None
    mostly: str
    #: Whether it carries the mark or more.
    at_least: bool
    #: Whether no other candidate carries as much for less.
    front: bool
    line: list[CandidatePoint]
    #: The condition nearest to its limit in each state, in words.
    healthy: str
    degraded: str
    rebuilding: str
    rebuild: str
    loss: str
    limited_by: str
    rejected: str


class FallenOut(TypedDict):
    """Candidates that fell out in one way."""

    how: str
    candidates: list[NamedReason]


class NamedReason(TypedDict):
    """A candidate and why it is not chosen."""

    name: str
    reason: str


class ChoicePage(TypedDict):
    """The page of a choice."""

    schema: Literal["plimsoll.choice-page/1"]
    title: str
    sentence: str
    #: What was asked, and what else is known of the choice: a label and words.
    facts: list[Fact]
    #: ``price`` or ``drives``.
    cost: Literal["price", "drives"]
    currency: str
    demanded_per_s: float
    considered: int
    rows: list[ChoiceRow]
    fallen: list[FallenOut]


class Fact(TypedDict):
    """A line of the answer."""

    label: str
    words: str


def choice_page(chosen: Chosen) -> ChoicePage:
    """What the page is given."""
    simulated = [entry for entry in chosen.entries if entry.simulated]
    priced = any(entry.price is not None for entry in simulated if entry.carries)
    front = _front(simulated, priced=priced)
    kinds = dict.fromkeys(kind_of(entry) for entry in chosen.entries if entry.rejected is not None)
    return {
        "schema": SCHEMA,
        "title": "Which storage to buy for " + ", ".join(part.name for part in chosen.selection.load.parts),
        "sentence": answer(chosen),
        "facts": [{"label": label, "words": words} for label, words in (*asked_lines(chosen), *of_best(chosen))],
        "cost": "price" if priced else "drives",
        "currency": chosen.currency,
        "demanded_per_s": chosen.selection.load.rate_per_s,
        "considered": len(chosen.entries),
        "rows": [_row(entry, priced=priced, front=entry.candidate.target in front) for entry in simulated],
        "fallen": [
            {"how": kind, "candidates": [_reason(entry) for entry in chosen.entries if entry.rejected and kind_of(entry) == kind]}
            for kind in kinds
        ],
    }


def _reason(entry: Entry) -> NamedReason:
    return {"name": entry.candidate.name, "reason": entry.rejected or ""}


def _cost(entry: Entry, *, priced: bool) -> float | None:
    return entry.price if priced else float(entry.considered.drives)


def _front(entries: Sequence[Entry], *, priced: bool) -> set[str]:
    """The targets of those that none carries more than for as little."""
    found: set[str] = set()
    most = 0.0
    known = [
        (cost, -entry.mark_iops, entry)
        for entry in entries
        if (cost := _cost(entry, priced=priced)) is not None and entry.mark_iops and entry.carries
    ]
    for _, less, entry in sorted(known, key=lambda one: one[:2]):
        if -less > most:
            found.add(entry.candidate.target)
            most = -less
    return found


def _row(entry: Entry, *, priced: bool, front: bool) -> ChoiceRow:
    line, interval = entry.line, entry.doubt.interval
    return {
        "name": entry.candidate.name,
        "carries": entry.carries,
        "cost": _cost(entry, priced=priced),
        "drives": entry.considered.drives,
        "price": entry.price,
        "mark_per_s": entry.mark_iops,
        "low_per_s": None if interval is None else interval.low,
        "high_per_s": None if interval is None else interval.high,
        "mostly": "" if interval is None else mostly_words(interval.to_json()),
        "at_least": line is not None and line.at_least,
        "front": front,
        "line": []
        if line is None
        else [{"rate_per_s": one.rate_per_s, "over_limit": one.over_limit, "holds": one.holds} for one in line.points],
        "healthy": response_words(entry.outcomes.get(HEALTHY)),
        "degraded": response_words(entry.outcomes.get(DEGRADED)),
        "rebuilding": response_words(entry.outcomes.get(REBUILDING)),
        "rebuild": "–" if entry.rebuild_hours is None else hours_words(entry.rebuild_hours),
        "loss": "–" if entry.loss_per_year is None else chance_words(entry.loss_per_year),
        "limited_by": entry.limited_by or "–",
        "rejected": entry.rejected or "",
    }
