"""Measure a workload as it stands, once or several times.

Limits: one point has no load line, so no mark is looked for; an objective is answered with whether the point kept it.

    plan = single(repeat=3, objective=parse_objective("p99 <= 5ms"))
"""

from __future__ import annotations

from plimsoll.analysis.objective import Objective, judge
from plimsoll.experiments import wording
from plimsoll.experiments.plan import Ask, Conclusion, Plan


def single(repeat: int = 1, objective: Objective | None = None) -> Plan:
    """``repeat`` points without settings of their own."""
    results = []
    for number in range(1, repeat + 1):
        result = yield Ask(repeat=number)
        results.append(result)
    failures = wording.failures([(f"repeat {number}", result) for number, result in enumerate(results, start=1)])
    measured = [result for result in results if result.status != "failed"]
    figures = {"points": len(results), "failed": len(failures)}
    if objective is None or not measured:
        return Conclusion("single", tuple(failures), figures=figures)
    judgement = judge(objective, measured)
    doubt = "" if judgement.settled else ", too near the limit to be sure"
    missed = [wording.measured(item) for item in judgement.clauses if not item.holds]
    said = f"It kept '{objective}'{doubt}." if judgement.holds else f"It did not keep '{objective}': {' and '.join(missed)}{doubt}."
    return Conclusion("single", (said, *failures), figures={**figures, "holds": judgement.holds, "failed_by": judgement.failed_by})
