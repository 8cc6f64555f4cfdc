"""How throughput grows with concurrent workers: 1, 2, 4 … 64, each level measured several times.

Model: report 002 runs 1 to 64 concurrent workflows, each iterated twice. Iterations are the outer loop, so that drift of the machine falls
on all levels alike. Speed-up and efficiency are against the lowest level; the Universal Scalability Law is fitted to all iterations
(`plimsoll.analysis.load_line.scaling`), which gives contention and coherency with their intervals.
Limits: the law needs four different levels. What a worker is, the axis says: threads, queue depth, workflows of an application.

    plan = scaling("threads", [1, 2, 4, 8, 16, 32, 64], iterations=2)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from plimsoll.analysis.load_line.scaling import LEVELS_MIN, ScalingRow, UslFit, scaling_table, usl_fit
from plimsoll.analysis.point.metric import ALL, metric
from plimsoll.experiments import wording
from plimsoll.experiments.plan import Ask, Conclusion, Plan
from plimsoll.experiments.probe import setting
from plimsoll.result import Estimate, Result


def scaling(axis: str, levels: Sequence[float], iterations: int = 2) -> Plan:
    """Every level of ``axis``, ``iterations`` times."""
    measured: list[tuple[float, Result]] = []
    for iteration in range(1, iterations + 1):
        for level in dict.fromkeys(levels):
            result = yield Ask({axis: setting(level)}, level=level, repeat=iteration)
            measured.append((level, result))
    return _concluded(axis, measured)


def _concluded(axis: str, measured: Sequence[tuple[float, Result]]) -> Conclusion:
    carried = [(level, done.value) for level, result in measured if result.status != "failed" and (done := metric(result, ALL, "iops"))]
    levels, throughputs = [level for level, _ in carried], [throughput for _, throughput in carried]
    rows = scaling_table(levels, throughputs)
    fit = usl_fit(levels, throughputs) if carried else None
    failed = wording.failures((wording.place(axis, level), result) for level, result in measured)
    return Conclusion(
        "scaling",
        sentences=(*_growth(axis, rows), *_law(fit), *failed),
        figures={
            "axis": axis,
            "rows": [asdict(row) for row in rows],
            "fit": fit.to_json() if fit else None,
            "points": len(measured),
            "failed": len(failed),
        },
    )


def _growth(axis: str, rows: Sequence[ScalingRow]) -> list[str]:
    if len(rows) < 2:
        return ["Fewer than two levels were measured, so nothing can be said about scaling."]
    first, last, best = rows[0], rows[-1], max(rows, key=lambda row: row.throughput)
    said = [
        f"At {wording.place(axis, last.level)} throughput was {last.speed_up:.2f} × that at {wording.number(first.level)} "
        f"({100 * last.efficiency:.0f} % efficiency)."
    ]
    if best.level != last.level:
        said.append(f"The most was {wording.rate(best.throughput)} at {wording.place(axis, best.level)}.")
    return said


def _law(fit: UslFit | None) -> list[str]:
    if fit is None:
        return [f"The Universal Scalability Law needs {LEVELS_MIN} different levels with throughput, so it was not fitted."]
    peak = (
        f"throughput peaks near {wording.number(round(fit.peak_level))}" if fit.peak_level is not None else "no peak of throughput is shown"
    )
    return [f"Universal Scalability Law: contention {_percent(fit.sigma)}, coherency {_percent(fit.kappa)}; {peak}."]


def _percent(estimate: Estimate) -> str:
    if estimate.low is None or estimate.high is None:
        return f"{_hundredths(estimate.value)} %"
    return f"{_hundredths(estimate.value)} % [{_hundredths(estimate.low)}, {_hundredths(estimate.high)}]"


def _hundredths(share: float) -> str:
    """In percent; what is left of a fit that runs against 0 is 0."""
    return f"{100 * share:.3g}" if share >= 1e-6 else "0"
