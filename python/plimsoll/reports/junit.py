"""JUnit XML of stored runs and of comparisons, as CI systems show it.

Model: a run is a test suite. Each point is a test, which is in error when the point failed; each objective of an experiment is a test per
subject, which fails when the objective is not kept: where a load is varied that is so when no level kept it, elsewhere when some point did
not. Doubts about numbers stand in the output of the tests. Of a comparison each asserted condition is a test per point and side; what is
undecided fails.
Limits: times are measured times, also of models, whose seconds are virtual.

    run_xml([open_run("results/r1")])
    comparison_xml(comparison.to_json(), [one.to_json() for one in asserted(…)])
"""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from plimsoll.analysis.comparison.assertion import AssertedView
from plimsoll.analysis.derivation import notices
from plimsoll.analysis.objective.judgement import Objective, judge, parse_objective
from plimsoll.analysis.objective.misses import missed
from plimsoll.analysis.point.metric import rate_noun, spoken
from plimsoll.analysis.price.per_unit import PricedComparisonView
from plimsoll.displayed import displayed_in_line
from plimsoll.errors import InputError
from plimsoll.reports.progress import settings_text
from plimsoll.result import Result
from plimsoll.store.reader import StoredRun
from plimsoll.stored import Conclusion, Experiment
from plimsoll.tables.points import points_table
from plimsoll.units import significant

#: How every such file begins.
BEGINNING = '<testsuites name="Plimsoll"'
_VERDICTS = {"failed": "failed", "undecided": "undecided"}


def run_xml(runs: Sequence[StoredRun]) -> str:
    """The document of ``runs``."""
    root = Element("testsuites", name="Plimsoll")
    for run in runs:
        _run(root, run)
    return _written(root)


def comparison_xml(comparison: PricedComparisonView, assertions: Sequence[AssertedView]) -> str:
    """The document of a comparison: asserted conditions, or without any each compared figure as a test that passed."""
    root = Element("testsuites", name="Plimsoll")
    suite = SubElement(root, "testsuite", name=_text(f"comparison with {comparison['baseline']}"))
    for assertion in assertions:
        for point in assertion["points"]:
            case = _case(suite, assertion["text"], f"{point['where']} on {point['side']}")
            if point["verdict"] in _VERDICTS:
                _problem(case, "failure", point["verdict"], f"{point['verdict']}: {point['text']}")
            else:
                _said(case, point["text"])
        if not assertion["points"]:
            _problem(_case(suite, assertion["text"], "nothing to compare"), "failure", "not shown", "no point has this figure on two sides")
    for row in () if assertions else comparison["points"]:
        settings = ", ".join(f"{name} {value}" for name, value in (row.get("settings") or {}).items())
        case = _case(suite, row["workload"], f"{row['op']} {row['metric']} on {row['side']}{f' at {settings}' if settings else ''}")
        ratio = "no ratio" if row["ratio"] is None else f"{significant(row['ratio'])} × the baseline"
        _said(case, f"{ratio}: {row['verdict'] or 'not compared'}")
    _said(suite, "\n".join(filter(None, [comparison.get("answer"), *comparison["findings"], *comparison["notes"]])))
    return _written(root)


def _run(root: Element, run: StoredRun) -> None:
    suite = SubElement(root, "testsuite", name=_text(run.label), timestamp=_text((run.meta.get("created") or "")[:19]))
    measured_s = {str(row["point"]): row["measured_s"] for row in points_table([run]).to_dicts()}
    for point in run.points:
        result = point.result
        case = _case(suite, result.job.workload, " ".join(filter(None, (point.id, _where(result)))), measured_s.get(point.id))
        if result.status == "failed":
            _problem(case, "error", "failed", result.error or "the point failed")
        elif result.status != "complete":
            SubElement(case, "skipped", message=_text(f"the point is {result.status}"))
        if result.flags:
            _said(case, "\n".join(f"{flag.severity} {flag.name}: {flag.message} {flag.advice}" for flag in result.flags))
    for definition in run.meta.get("experiments") or []:
        objective = _objective(definition)
        for found in run.meta.get("conclusions") or [] if objective else []:
            if objective and found.get("experiment") == definition["name"]:
                _objective_case(suite, objective, found, _of_subject(run, found))
    sentences = [sentence for found in run.meta.get("conclusions") or [] for sentence in found.get("sentences") or []]
    _said(suite, "\n".join((*sentences, *notices([point.result for point in run.points]))))


def _objective_case(suite: Element, objective: Objective, found: Conclusion, results: Sequence[Result]) -> None:
    case = _case(suite, found["experiment"], f"{found['workload']} on {found['configuration']} keeps {objective.text}")
    if mark := found.get("mark"):
        noun = rate_noun(results)
        _said(case, f"mark at level {mark['level']:g}: {spoken(mark['iops'], noun):,.0f} {noun}")
        return
    judged = [(result, judge(objective, result)) for result in results]
    failed = [(result, judgement) for result, judgement in judged if not judgement.holds]
    if failed or not judged:
        said = [f"{_where(result) or result.id}: {missed(judgement)}" for result, judgement in failed] or ["nothing was measured"]
        undecided = bool(failed) and all(judgement.undecided for _, judgement in failed)
        _problem(case, "failure", "undecided" if undecided else "failed", "\n".join(said))


def _of_subject(run: StoredRun, found: Conclusion) -> list[Result]:
    asked = (found.get("experiment"), found.get("workload"), found.get("configuration"))
    results = [point.result for point in run.points]
    return [
        result
        for result in results
        if tuple(result.place.get(key) for key in ("experiment", "subject", "configuration")) == asked
        and result.place.get("role", "point") == "point"
    ]


def _objective(definition: Experiment) -> Objective | None:
    text = definition.get("objective")
    try:
        return parse_objective(text) if text else None
    except InputError:
        return None


def _where(result: Result) -> str:
    settings = settings_text(result)
    return f"on {result.place.get('configuration') or result.job.target}{f' at {settings}' if settings else ''}"


def _case(suite: Element, group: str, name: str, seconds: object = None) -> Element:
    case = SubElement(suite, "testcase", classname=_text(group), name=_text(name))
    if isinstance(seconds, float):
        case.set("time", f"{seconds:.3f}")
    return case


def _problem(case: Element, kind: str, word: str, text: str) -> None:
    first, *rest = text.split("\n")
    SubElement(case, kind, type=word, message=_text(first)).text = "\n".join(map(_text, (first, *rest)))


def _said(where: Element, text: str) -> None:
    if text:
        SubElement(where, "system-out").text = "\n".join(map(_text, text.split("\n")))


def _text(text: str) -> str:
    """Any name as XML can hold it."""
    return displayed_in_line(text)


def _written(root: Element) -> str:
    total = dict.fromkeys(("tests", "failures", "errors", "skipped"), 0)
    for suite in root:
        cases = suite.findall("testcase")
        counted = {"tests": len(cases)} | {
            plural: sum(case.find(one) is not None for case in cases)
            for plural, one in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped"))
        }
        for name, number in counted.items():
            suite.set(name, str(number))
            total[name] += number
    for name, number in total.items():
        root.set(name, str(number))
    indent(root)
    return tostring(root, encoding="unicode") + "\n"
