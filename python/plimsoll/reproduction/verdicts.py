"""A claim against what was read: holds, missed, or not scored.

Model: every case of every check has its numbers and whether it holds; a claim holds when all cases do, or with ``judge = "mean"`` when the
mean of their absolute errors lies within the tolerance. A case without numbers does not hold, whatever the reason: a load at which nothing
held is an answer of the model, too. Only a run that failed leaves its claims not scored.

    verdict = judged(claim, Lookup(readings, engine))
    verdict.verdict, verdict.cases[0].values
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from plimsoll.analysis.reproduction import Verdict as Word
from plimsoll.catalog.claims import Case, Check, Claim
from plimsoll.catalog.expression import ReadOff
from plimsoll.engine.protocol import Engine
from plimsoll.reproduction.bench import Readings
from plimsoll.reproduction.chain import chain_of, run_names
from plimsoll.reproduction.readings import Reading, Unreadable, document_value


@dataclass(frozen=True)
class Judged:
    """One case of one check. ``values`` are in the units of results, empty when there are none, and then ``problem`` says why.

    ``limited_by`` names the saturated component of each run that had one; ``level`` where the run had several.
    """

    check: int
    case: Case
    form: str
    unit: str
    holds: bool
    values: tuple[float, ...] = ()
    low: float | None = None
    high: float | None = None
    problem: str | None = None
    limited_by: Mapping[str, str] = field(default_factory=dict)
    levels: Mapping[str, float] = field(default_factory=dict)
    #: Whether anything was measured for it, rather than computed from documents.
    measured: bool = True

    @property
    def error_percent(self) -> float | None:
        """How far the model lies from what was published; None without either."""
        published = self.case.published
        return 100 * (self.values[0] / published - 1) if published and self.values else None


@dataclass(frozen=True)
class Verdict:
    """A claim with its cases."""

    claim: Claim
    verdict: Word
    cases: tuple[Judged, ...] = ()
    #: Why it is not scored.
    reason: str | None = None

    @property
    def mean_error_percent(self) -> float | None:
        """Mean of the absolute errors of its published figures, as far as they were measured."""
        errors = [abs(case.error_percent) for case in self.cases if case.measured and case.error_percent is not None]
        return sum(errors) / len(errors) if errors else None


@dataclass(frozen=True)
class Lookup:
    """What read-offs are looked up in."""

    readings: Readings
    engine: Engine

    def reading(self, check: Check, case: Case, name: str) -> Reading:
        """What a run of a case said."""
        chain, place = chain_of(check, case, name)
        return self.readings[chain][place]

    def value(self, check: Check, case: Case, read_off: ReadOff) -> float:
        """One number."""
        if not read_off.needs_a_run:
            return document_value(case.runs[read_off.run], read_off, self.engine)
        return self.reading(check, case, read_off.run).value(read_off)


def judged(claim: Claim, lookup: Lookup) -> Verdict:
    """The verdict on one claim."""
    if claim.not_scored:
        return Verdict(claim, "not-scored", reason=claim.not_scored)
    cases = tuple(_cases(claim, lookup))
    failed = next((reading.failure for reading in _read(claim, lookup) if reading.failure is not None), None)
    if failed is not None:
        return Verdict(claim, "not-scored", cases, reason=f"a run failed: {failed}")
    return Verdict(claim, "holds" if _holds(claim, cases) else "missed", cases)


def _read(claim: Claim, lookup: Lookup) -> Iterator[Reading]:
    for check in claim.checks:
        for case in check.cases():
            yield from (lookup.reading(check, case, name) for name in run_names(case))


def _holds(claim: Claim, cases: tuple[Judged, ...]) -> bool:
    if claim.judge != "mean" or claim.tolerance_percent is None:
        return all(case.holds for case in cases)
    errors = [case.error_percent for case in cases]
    known = [abs(error) for error in errors if error is not None]
    return len(known) == len(errors) and sum(known) / len(known) <= claim.tolerance_percent


def _cases(claim: Claim, lookup: Lookup) -> Iterator[Judged]:
    for number, check in enumerate(claim.checks):
        tolerance = claim.tolerance_percent if claim.judge == "mean" else None
        for case in check.cases():
            yield _case((number, check), case, lookup, check.tolerance_percent if tolerance is None else tolerance)


def _case(numbered: tuple[int, Check], case: Case, lookup: Lookup, tolerance_percent: float) -> Judged:
    number, check = numbered
    low, high = _bounds(check, case, tolerance_percent)
    readings = {name: lookup.reading(check, case, name) for name in run_names(case)}
    found: dict[str, Any] = {
        "check": number,
        "case": case,
        "form": check.form,
        "unit": check.unit,
        "low": low,
        "high": high,
        "limited_by": {name: reading.limited_by for name, reading in readings.items() if reading.limited_by},
        "levels": {name: reading.level for name, reading in readings.items() if reading.level is not None},
        "measured": bool(readings),
    }
    try:
        values = tuple(expression.value(lambda read_off: lookup.value(check, case, read_off)) for expression in case.expressions)
    except Unreadable as problem:
        return Judged(holds=False, problem=str(problem), **found)
    except ZeroDivisionError:
        return Judged(holds=False, problem="it divides by zero", **found)
    return Judged(holds=_within(check, values, low, high), values=values, **found)


def _within(check: Check, values: tuple[float, ...], low: float | None, high: float | None) -> bool:
    if check.form == "ordering":
        return all(_ahead(first, second, check.margin_percent) for first, second in pairwise(values))
    return (low is None or values[0] >= low) and (high is None or values[0] <= high)


def _ahead(first: float, second: float, margin_percent: float) -> bool:
    """Larger, or by a margin at least."""
    return first >= second * (1 + margin_percent / 100) if margin_percent else first > second


def _bounds(check: Check, case: Case, tolerance_percent: float) -> tuple[float | None, float | None]:
    """Between what the value may lie: bounds widened, or the tolerance around what was published."""
    low, high = (case.published, case.published) if check.form == "quantity" else (check.at_least, check.at_most)
    share = tolerance_percent / 100
    return (None if low is None else low - share * abs(low)), (None if high is None else high + share * abs(high))
