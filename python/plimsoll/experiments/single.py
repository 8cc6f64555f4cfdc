"""Measure a workload as it stands, once or several times.

Limits: one point has no load line, so no mark is looked for; an objective is answered with whether the point kept it.

    plan = single(repeat=3, objective=parse_objective("p99 <= 5ms"))
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.experiments import phrases
from plimsoll.experiments.plan import Ask, Conclusion, Plan

if TYPE_CHECKING:
    from plimsoll.analysis.objective.judgement import Objective


def single(repeat: int = 1, objective: Objective | None = None) -> Plan:
    """``repeat`` points without settings of their own."""
    results = []
    for number in range(1, repeat + 1):
        result = yield Ask(repeat=number)
        results.append(result)
    failures = phrases.failures([(f"repeat {number}", result) for number, result in enumerate(results, start=1)])
    figures = {"points": len(results), "failed": len(failures)}
    if objective is None or len(failures) == len(results):
        return Conclusion(tuple(failures), figures=figures)
    from plimsoll.analysis.objective.judgement import judge

    # A repeat that failed did not keep it, whatever the others did.
    judgement = judge(objective, results)
    doubt = "" if judgement.settled else ", but too close to the limit to be sure"
    missed = " and ".join(phrases.measured(item) for item in judgement.clauses if not item.holds)
    reason = f": {missed}" if missed else ""
    if judgement.holds:
        said = f"Meets '{objective}'{doubt}."
    elif judgement.too_few:
        said = f"Unknown whether it meets '{objective}'{reason}."
    else:
        said = f"Misses '{objective}'{reason}{doubt}."
    return Conclusion((said, *failures), figures={**figures, "holds": judgement.holds, "failed_by": judgement.failed_by})
