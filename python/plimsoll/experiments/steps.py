"""Levels of one axis, one after the other: queue depths 1 to 64, threads, rates.

Model: the outer loop is the repeats, the inner one the levels (A B C A B C), so that a slow change of the machine falls on all levels
alike. A level that is listed twice (up and down again) is asked twice, as another repeat.

    plan = steps("queue_depth", [1, 2, 4, 8, 16, 32, 64], repeat=2)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from plimsoll.analysis.load_line.line import load_line
from plimsoll.experiments import wording
from plimsoll.experiments.plan import Ask, Conclusion, Plan
from plimsoll.experiments.probe import setting
from plimsoll.result import Result


def steps(axis: str, levels: Sequence[float], repeat: int = 1) -> Plan:
    """Every level of ``levels`` in the order given."""
    asked: Counter[float] = Counter()
    points: list[tuple[str, Result]] = []
    for _ in range(repeat):
        for level in levels:
            asked[level] += 1
            result = yield Ask({axis: setting(level)}, level=level, repeat=asked[level])
            points.append((wording.place(axis, level), result))
    return _concluded(axis, points)


def _concluded(axis: str, points: Sequence[tuple[str, Result]]) -> Conclusion:
    line = load_line(result for _, result in points)
    sentences, highest = [], None
    if line.points:
        best = max(line.points, key=lambda point: point.iops.value)
        highest = {"level": best.level, "iops": best.iops.value, "response_ns": best.response.value}
        rate, mean = wording.rate(best.iops.value), wording.figure("mean", best.response.value)
        bound = "at least " if best.response.at_least else ""
        sentences = [f"The highest throughput was {rate} at {wording.place(axis, best.level)}, mean response {bound}{mean}."]
    failed = wording.failures(points)
    figures = {"axis": axis, "points": len(points), "failed": len(failed), "highest": highest}
    return Conclusion("steps", (*sentences, *failed), figures=figures)
