"""Verdicts as one JSON document: what ``--json`` prints, and what the tables are drawn from.

Model: numbers of cases are in the units of results (per second, bytes per second, nanoseconds, bytes); ``per_unit`` says how many of these
one of the check's ``unit`` is. ``published`` and ``modelled`` of a claim are texts, ``tolerance`` is in percent. The ordering score counts
claims and, beside it, their single comparisons; the mean error is over all published figures that something was measured for, so that
arithmetic over documents does not flatter it.

    document(verdicts)["sums"]["ordering"]["score_percent"]
"""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.catalog.claims import KINDS, UNITS
from plimsoll.engine import Json
from plimsoll.reproduction.texts import missed_text, modelled_text
from plimsoll.reproduction.verdicts import Judged, Verdict

SCHEMA = "plimsoll.reproduction/1"


def document(verdicts: Sequence[Verdict]) -> Json:
    """All verdicts with their sums."""
    return {
        "schema": SCHEMA,
        "modelled": True,
        "claims": [_claim(verdict) for verdict in verdicts],
        "sums": {kind: _sum(kind, verdicts) for kind in KINDS},
        "errors": {"all": _errors(verdicts), **{report: _errors(found) for report, found in _by_report(verdicts).items()}},
    }


def _claim(verdict: Verdict) -> Json:
    claim = verdict.claim
    cases = [_case(case) for case in verdict.cases]
    known: Json = {
        "number": claim.number,
        "report": claim.report,
        "kind": claim.kind,
        "title": claim.title,
        "published": claim.published,
        "tolerance": _tolerance(verdict),
        "judge": claim.judge,
        "verdict": verdict.verdict,
        "reason": verdict.reason,
        "note": claim.note,
        "mean_error_percent": verdict.mean_error_percent,
        "cases": cases,
    }
    if verdict.verdict == "missed":
        known["reason"] = missed_text(known)
    return {**known, "modelled": modelled_text(known)}


def _tolerance(verdict: Verdict) -> float | None:
    """The claim's own, or the widest of its checks; of an ordering the margin."""
    claim = verdict.claim
    if claim.judge == "mean":
        return claim.tolerance_percent
    return max((check.margin_percent if check.form == "ordering" else check.tolerance_percent for check in claim.checks), default=None)


def _case(case: Judged) -> Json:
    return {
        "check": case.check,
        "form": case.form,
        "of": [expression.text for expression in case.case.expressions],
        "where": dict(case.case.bindings),
        "values": list(case.values),
        "published": case.case.published,
        "low": case.low,
        "high": case.high,
        "unit": case.unit,
        "per_unit": UNITS[case.unit],
        "error_percent": case.error_percent,
        "holds": case.holds,
        "problem": case.problem,
        "limited_by": dict(case.limited_by),
        "levels": dict(case.levels),
    }


def _sum(kind: str, verdicts: Sequence[Verdict]) -> Json:
    found = [verdict for verdict in verdicts if verdict.claim.kind == kind]
    words = [verdict.verdict for verdict in found]
    scored = [verdict for verdict in found if verdict.verdict != "not-scored"]
    compared = [case.holds for verdict in scored for case in verdict.cases]
    return {
        "holds": words.count("holds"),
        "missed": words.count("missed"),
        "not_scored": words.count("not-scored"),
        "score_percent": 100 * words.count("holds") / len(scored) if scored else None,
        "cases": len(compared),
        "cases_percent": 100 * sum(compared) / len(compared) if compared else None,
    }


def _errors(verdicts: Sequence[Verdict]) -> Json:
    errors = [
        abs(case.error_percent)
        for verdict in verdicts
        for case in verdict.cases
        if case.measured and case.error_percent is not None and verdict.verdict != "not-scored"
    ]
    return {"figures": len(errors), "mean_absolute_percent": sum(errors) / len(errors) if errors else None}


def _by_report(verdicts: Sequence[Verdict]) -> dict[str, list[Verdict]]:
    found: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        found.setdefault(verdict.claim.report, []).append(verdict)
    return found
