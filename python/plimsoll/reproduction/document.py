"""Verdicts as the records that are printed (`plimsoll.analysis.reproduction`), with their sums.

document(verdicts).sums["ordering"].score_percent
"""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.analysis.reproduction import CheckedCase, CheckedClaim, MeanError, Reproduction, Score
from plimsoll.catalog.claims import BASES, KINDS, UNITS
from plimsoll.reproduction.texts import missed_text, modelled_text
from plimsoll.reproduction.verdicts import Judged, Verdict


def document(verdicts: Sequence[Verdict]) -> Reproduction:
    """All verdicts with their sums."""
    return Reproduction(
        claims=[_claim(verdict) for verdict in verdicts],
        sums={kind: _sum([verdict for verdict in verdicts if verdict.claim.kind == kind]) for kind in KINDS},
        bases={basis: _sum([verdict for verdict in verdicts if verdict.claim.basis == basis]) for basis in BASES},
        errors={"all": _errors(verdicts), **{report: _errors(found) for report, found in _by_report(verdicts).items()}},
    )


def _claim(verdict: Verdict) -> CheckedClaim:
    claim = verdict.claim
    cases = [_case(case) for case in verdict.cases]
    return CheckedClaim(
        number=claim.number,
        report=claim.report,
        kind=claim.kind,
        basis=claim.basis,
        title=claim.title,
        published=claim.published,
        tolerance=_tolerance(verdict),
        judge=claim.judge,
        verdict=verdict.verdict,
        reason=missed_text(cases) if verdict.verdict == "missed" else verdict.reason,
        note=claim.note,
        mean_error_percent=verdict.mean_error_percent,
        cases=cases,
        modelled="–" if verdict.verdict == "not-scored" else modelled_text(cases, claim.judge),
    )


def _tolerance(verdict: Verdict) -> float | None:
    """The claim's own, or the widest of its checks; of an ordering the margin."""
    claim = verdict.claim
    if claim.judge == "mean":
        return claim.tolerance_percent
    return max((check.margin_percent if check.form == "ordering" else check.tolerance_percent for check in claim.checks), default=None)


def _case(case: Judged) -> CheckedCase:
    return CheckedCase(
        check=case.check,
        form=case.form,
        of=[expression.text for expression in case.case.expressions],
        where=dict(case.case.bindings),
        values=list(case.values),
        published=case.case.published,
        low=case.low,
        high=case.high,
        unit=case.unit,
        per_unit=UNITS[case.unit],
        error_percent=case.error_percent,
        holds=case.holds,
        problem=case.problem,
        limited_by=dict(case.limited_by),
        levels=dict(case.levels),
    )


def _sum(found: Sequence[Verdict]) -> Score:
    words = [verdict.verdict for verdict in found]
    scored = [verdict for verdict in found if verdict.verdict != "not-scored"]
    compared = [case.holds for verdict in scored for case in verdict.cases]
    return Score(
        holds=words.count("holds"),
        missed=words.count("missed"),
        not_scored=words.count("not-scored"),
        score_percent=100 * words.count("holds") / len(scored) if scored else None,
        cases=len(compared),
        cases_percent=100 * sum(compared) / len(compared) if compared else None,
    )


def _errors(verdicts: Sequence[Verdict]) -> MeanError:
    errors = [
        abs(case.error_percent)
        for verdict in verdicts
        for case in verdict.cases
        if case.measured and case.error_percent is not None and verdict.verdict != "not-scored"
    ]
    return MeanError(len(errors), sum(errors) / len(errors) if errors else None)


def _by_report(verdicts: Sequence[Verdict]) -> dict[str, list[Verdict]]:
    found: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        found.setdefault(verdict.claim.report, []).append(verdict)
    return found
