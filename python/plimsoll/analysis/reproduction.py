"""Claims of published reports beside what the model says of them, as records: what ``plimsoll reproduce`` prints, in any form.

Model: numbers of cases are in the units of results (per second, bytes per second, nanoseconds, bytes); ``per_unit`` says how many of these
one of the check's ``unit`` is. ``published`` and ``modelled`` of a claim are texts, ``tolerance`` is in percent. The ordering score counts
claims and, beside it, their single comparisons; the mean error is over all published figures that something was measured for, so that
arithmetic over documents does not flatter it.

    Reproduction(claims, sums, errors).sums["ordering"].score_percent
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

SCHEMA = "plimsoll.reproduction/1"
Verdict = Literal["holds", "missed", "not-scored"]


@dataclass(frozen=True, slots=True)
class CheckedCase:
    """One comparison: what was read, between what it ought to lie, and what limited the runs. ``values`` are empty where ``problem`` says
    why."""

    check: int
    form: str
    of: list[str]
    where: dict[str, Any]
    values: list[float]
    published: float | None
    low: float | None
    high: float | None
    unit: str
    per_unit: float
    error_percent: float | None
    holds: bool
    problem: str | None
    limited_by: dict[str, str]
    levels: dict[str, float]


@dataclass(frozen=True, slots=True)
class CheckedClaim:
    """One claim with its verdict, all its comparisons, and what the model said in a text."""

    number: int
    report: str
    kind: str
    #: What the verdict rests on (`plimsoll.catalog.claims`); None where a claim says itself why it is not scored.
    basis: str | None
    title: str
    published: str
    tolerance: float | None
    judge: str
    verdict: Verdict
    reason: str | None
    note: str
    mean_error_percent: float | None
    cases: list[CheckedCase]
    modelled: str


@dataclass(frozen=True, slots=True)
class Score:
    """How many claims of a kind, or on a basis, hold."""

    holds: int
    missed: int
    not_scored: int
    score_percent: float | None
    cases: int
    cases_percent: float | None


@dataclass(frozen=True, slots=True)
class MeanError:
    """How far figures lie from those published."""

    figures: int
    mean_absolute_percent: float | None


@dataclass(frozen=True, slots=True)
class Reproduction:
    """All claims with their sums by kind and by basis, and the mean errors of all and of each report."""

    claims: list[CheckedClaim]
    sums: Mapping[str, Score]
    bases: Mapping[str, Score]
    errors: Mapping[str, MeanError]

    def to_json(self) -> dict[str, Any]:
        """What ``--json`` prints."""
        return {"schema": SCHEMA, "modelled": True, **asdict(self)}
