"""A choice as ``plimsoll choose --json`` prints it, as its schema in ``docs/reference`` describes it.

view_of(chosen)["candidates"][0]["name"]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict, cast

from plimsoll.choice.trial import DEGRADED, HEALTHY, REBUILDING, Outcome

if TYPE_CHECKING:
    from plimsoll.choice.ranking import Entry
    from plimsoll.choice.selection import Chosen

SCHEMA = "plimsoll.choice/1"
#: What the intervals of marks cover.
PROVENANCE = "provenance"


class ResponseView(TypedDict):
    """A condition of an objective as a trial gave it; latencies in nanoseconds, rates per second."""

    text: str
    #: Whose objective it is, of several demands.
    part: str
    value: float | None
    low: float | None
    high: float | None
    limit: float
    holds: bool


class TrialView(TypedDict):
    """The demand at its own rate in one state of the array."""

    carries: bool
    iops: float
    responses: list[ResponseView]
    limited_by: str | None
    #: Flags that speak against the figures.
    doubts: list[str]


class RebuildingView(TrialView):
    """The same while a drive is rebuilt."""

    #: How long that takes under the load; None where nothing was rebuilt.
    hours: float | None
    #: ``its end`` where the rebuild ended in the trial, ``its course`` where its pace was taken for the rest.
    hours_from: str
    #: How long a drive of another kind takes, as one of flash that keeps writes before disks, by the name of its group.
    further_hours: dict[str, float | None]
    #: The chance to lose data within a year.
    loss_per_year: float | None


class SurgeView(TypedDict):
    """One of several demands asks for more than it said, as far as its cap lets it through."""

    raised: str
    factor: float
    let_through_per_s: float
    #: Whether the objectives of the others hold.
    holds: bool
    rejection: str | None


class PriceView(TypedDict):
    """What the parts cost; ``amount`` is None where one of them has no price."""

    amount: float | None
    currency: str
    #: The sum of those that have one.
    known: float
    #: The parts that have none.
    missing: list[str]
    sources: list[str]


class CauseView(TypedDict):
    """A value that nobody has looked up and that matters: which part of the mark's variance follows from it."""

    name: str
    places: list[str]
    share: float
    raises: bool
    value: Any
    low: Any
    high: Any
    source: str
    reason: str


class IntervalView(TypedDict):
    """Between what the mark lies in ``level`` of the draws; ``low_error`` and ``high_error`` are how far other draws would move them."""

    low: float
    high: float
    level: float
    draws: int
    low_error: float
    high_error: float
    #: Draws that gave no figure.
    failed: int
    #: At most three, the one that explains most first.
    mostly: list[CauseView]


class CandidateView(TypedDict):
    """An array that could be bought."""

    name: str
    #: What can be typed after ``-t``.
    target: str
    carries: bool
    #: Requests per second that it carries healthy, of the demand's kind.
    mark: float | None
    #: Of the mark, given what nobody has looked up of its parts; None where nothing was drawn, and ``undrawn_because`` says why.
    interval: IntervalView | None
    undrawn_because: str | None
    #: The share of draws that carry the demand healthy.
    carries_share: float | None
    #: What another seed would change of the mark: its 95 % interval.
    sampling: tuple[float, float] | None
    #: Whether no level failed, so that it carries the mark or more.
    at_least: bool
    #: The mark over the demand.
    headroom: float | None
    healthy: TrialView | None
    degraded: TrialView | None
    rebuilding: RebuildingView | None
    #: Of several demands, each in turn at a multiple of its rate; of those that carry the demand.
    neighbours: list[SurgeView]
    price: PriceView | None
    rack_units: float | None
    watts: float | None
    capacity_bytes: int
    survives: int
    drives: int
    limited_by: str | None
    rejected_because: str | None
    simulated: bool


class DemandedView(TypedDict):
    """One of the demands."""

    name: str
    source: str
    objective: str
    rate_per_s: float
    cap_per_s: float | None


class ChoiceView(TypedDict):
    """Which array carries the demands, and at what cost."""

    answer: str
    demands: list[DemandedView]
    capacity_bytes: int
    survive: int
    budget: float | None
    currency: str
    #: What ``interval`` covers: ``provenance`` is what is assumed, from memory or derived of the parts.
    uncertainty: str
    #: How many were simulated.
    simulated: int
    #: The best first.
    candidates: list[CandidateView]


def view_of(chosen: Chosen, answer: str) -> ChoiceView:
    """The whole of it; ``answer`` is the sentence."""
    selection = chosen.selection
    return {
        "answer": answer,
        "demands": [cast("DemandedView", part.to_json()) for part in selection.load.parts],
        "capacity_bytes": selection.limits.capacity_bytes,
        "survive": selection.limits.survive,
        "budget": selection.limits.budget,
        "currency": chosen.currency,
        "uncertainty": PROVENANCE,
        "simulated": chosen.simulated,
        "candidates": [_candidate(entry, selection.load.rate_per_s) for entry in chosen.entries],
    }


def _candidate(entry: Entry, demanded_per_s: float) -> CandidateView:
    found, cost, line = entry.considered, entry.considered.cost, entry.line
    mark = None if line is None or line.mark is None else line.mark
    return {
        "name": entry.candidate.name,
        "target": entry.candidate.target,
        "carries": entry.carries,
        "mark": entry.mark_iops,
        "interval": None if entry.doubt.interval is None else cast("IntervalView", entry.doubt.interval.to_json()),
        "undrawn_because": entry.doubt.why or None,
        "carries_share": entry.doubt.carries,
        "sampling": None if mark is None else mark.interval,
        "at_least": line is not None and line.at_least,
        "headroom": None if entry.mark_iops is None else entry.mark_iops / demanded_per_s,
        "healthy": _trial(entry.outcomes.get(HEALTHY)),
        "degraded": _trial(entry.outcomes.get(DEGRADED)),
        "rebuilding": _rebuilding(entry),
        "neighbours": [cast("SurgeView", surge.to_json()) for surge in entry.surges],
        "price": None if cost is None else cast("PriceView", cost.to_json()),
        "rack_units": None if cost is None else cost.rack_units,
        "watts": None if cost is None else cost.watts,
        "capacity_bytes": found.capacity_bytes,
        "survives": found.survives,
        "drives": found.drives,
        "limited_by": entry.limited_by,
        "rejected_because": entry.rejected,
        "simulated": entry.simulated,
    }


def _trial(outcome: Outcome | None) -> TrialView | None:
    if outcome is None:
        return None
    return {
        "carries": outcome.carries,
        "iops": outcome.iops,
        "responses": [cast("ResponseView", one.to_json()) for one in outcome.responses],
        "limited_by": outcome.limited_by,
        "doubts": list(outcome.doubts),
    }


def _rebuilding(entry: Entry) -> RebuildingView | None:
    outcome = entry.outcomes.get(REBUILDING)
    trial = _trial(outcome)
    if outcome is None or trial is None:
        return None
    return {
        **trial,
        "hours": outcome.rebuild_hours,
        "hours_from": "its end" if outcome.rebuild_ended else "its course",
        "further_hours": dict(outcome.further_hours),
        "loss_per_year": entry.loss_per_year,
    }
