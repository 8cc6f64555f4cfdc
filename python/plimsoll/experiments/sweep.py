"""Sweeps: planners of several points that are known before the first is measured.

Steps: levels of one axis, one after the other, such as queue depths 1 to 64, threads, rates.

Model: the outer loop is the repeats, the inner one the levels (A B C A B C), so that a slow change of the machine falls on all levels
alike. A level that is listed twice (up and down again) is asked twice, as another repeat.

    plan = steps("queue_depth", [1, 2, 4, 8, 16, 32, 64], repeat=2)

Matrix: the product of any options, size × block × access × target, nested in the order written.

Model: the last axis changes fastest, like the innermost of nested loops. With a seed, every repeat goes through all points in an order of
its own, so that neither drift of the machine nor what one point leaves behind in a cache falls on the same points each time. No axis gives
the one point that the workload is as it stands.

    plan = matrix({"region_length": ["2GiB", "4GiB"], "block_size": ["8k", "16k"]}, repeat=2, shuffle=7)

Scaling: how throughput grows with concurrent workers, 1, 2, 4 … 64, each level measured several times.

Model: report 002 runs 1 to 64 concurrent workflows, each iterated twice. Iterations are the outer loop, so that drift of the machine falls
on all levels alike. Speed-up and efficiency are against the lowest level; the Universal Scalability Law is fitted to all iterations
(`plimsoll.analysis.load_line.scaling`), which gives contention and coherency with their intervals.
Limits: the law needs four different levels. What a worker is, the axis says: threads, queue depth, workflows of an application.

    plan = scaling("threads", [1, 2, 4, 8, 16, 32, 64], iterations=2)
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import product
from typing import Any

from plimsoll.analysis.analytics.levels import iterations_of
from plimsoll.analysis.load_line.line import load_line
from plimsoll.analysis.load_line.scaling import LEVELS_MIN, ScalingRow, UslFit, scaling_table, usl_fit
from plimsoll.analysis.point.definition import runs_workflows
from plimsoll.analysis.point.metric import ALL, metric
from plimsoll.experiments import phrases
from plimsoll.experiments.plan import Ask, Conclusion, Plan
from plimsoll.experiments.probe import setting
from plimsoll.result import Estimate, Result
from plimsoll.units import significant


def steps(axis: str, levels: Sequence[float], repeat: int = 1) -> Plan:
    """Every level of ``levels`` in the order given."""
    asked: Counter[float] = Counter()
    points: list[tuple[str, Result]] = []
    for _ in range(repeat):
        for level in levels:
            asked[level] += 1
            result = yield Ask({axis: setting(level)}, level=level, repeat=asked[level])
            points.append((phrases.level_text(axis, level), result))
    return _conclusion_of_steps(axis, points)


def _conclusion_of_steps(axis: str, points: Sequence[tuple[str, Result]]) -> Conclusion:
    line = load_line(result for _, result in points)
    sentences, highest = [], None
    if line.points:
        best = max(line.points, key=lambda point: point.iops.value)
        highest = {"level": best.level, "iops": best.iops.value, "response_ns": best.response.value}
        rate = phrases.load(best.iops.value, best.bytes_per_s.value, best.repeats)
        mean = phrases.figure("mean", best.response.value)
        bound = "at least " if best.response.at_least else ""
        sentences = [f"The highest throughput was {rate} at {phrases.level_text(axis, best.level)}, mean response {bound}{mean}."]
    failed = phrases.failures(points)
    figures = {"axis": axis, "points": len(points), "failed": len(failed), "highest": highest}
    return Conclusion((*sentences, *failed), figures=figures)


def matrix(axes: Mapping[str, Sequence[Any]], repeat: int = 1, shuffle: int | None = None) -> Plan:
    """Every combination of the values in ``axes``; ``shuffle`` is the seed of their order."""
    points: list[tuple[str, Result]] = []
    for number, settings in _ordered(axes, repeat, shuffle):
        result = yield Ask(settings, repeat=number)
        where = ", ".join(f"{name} {value}" for name, value in settings.items()) or "the only place"
        points.append((where, result))
    failed = phrases.failures(points)
    return Conclusion(tuple(failed), figures={"axes": list(axes), "points": len(points), "failed": len(failed)})


def _ordered(axes: Mapping[str, Sequence[Any]], repeat: int, shuffle: int | None) -> Iterator[tuple[int, dict[str, Any]]]:
    """Number of the repeat and settings, in the order of measuring."""
    draws = None if shuffle is None else random.Random(shuffle)  # noqa: S311 - an order, not a secret
    for number in range(1, repeat + 1):
        points = [dict(zip(axes, values, strict=True)) for values in product(*axes.values())]
        if draws is not None:
            draws.shuffle(points)
        yield from ((number, point) for point in points)


def scaling(axis: str, levels: Sequence[float], iterations: int = 2) -> Plan:
    """Every level of ``axis``, ``iterations`` times."""
    measured: list[tuple[float, Result]] = []
    for iteration in range(1, iterations + 1):
        for level in dict.fromkeys(levels):
            result = yield Ask({axis: setting(level)}, level=level, repeat=iteration)
            measured.append((level, result))
    return _conclusion_of_scaling(axis, measured)


def _conclusion_of_scaling(axis: str, measured: Sequence[tuple[float, Result]]) -> Conclusion:
    carried = [(level, done) for level, result in measured if result.status != "failed" and (done := _throughput(result)) is not None]
    levels, throughputs = [level for level, _ in carried], [throughput for _, throughput in carried]
    rows = scaling_table(levels, throughputs)
    fit = usl_fit(levels, throughputs) if carried else None
    failed = phrases.failures((phrases.level_text(axis, level), result) for level, result in measured)
    return Conclusion(
        sentences=(*_growth(axis, rows, [result for _, result in measured]), *_law(fit), *failed),
        figures={
            "axis": axis,
            "rows": [asdict(row) for row in rows],
            "fit": fit.to_json() if fit else None,
            "points": len(measured),
            "failed": len(failed),
        },
    )


def _throughput(result: Result) -> float | None:
    """What grows with workers: whole workflows per hour, or requests per second."""
    if runs_workflows(result.job.definition):
        whole = [one.per_hour for one in iterations_of(result)]
        return sum(whole) / len(whole) if whole else None
    done = metric(result, ALL, "iops")
    return None if done is None else done.value


def _growth(axis: str, rows: Sequence[ScalingRow], results: Sequence[Result]) -> list[str]:
    if len(rows) < 2:
        return ["Scaling needs at least two measured levels."]
    first, last, best = rows[0], rows[-1], max(rows, key=lambda row: row.throughput)
    said = [
        f"{phrases.level_text(axis, last.level)} delivered {last.speed_up:.2f} × the throughput of {phrases.number(first.level)} "
        f"({100 * last.efficiency:.0f} % efficiency)."
    ]
    if best.level != last.level:
        at = [
            moved.value for result in results if result.place.get("level") == best.level and (moved := metric(result, ALL, "bytes_per_s"))
        ]
        load = phrases.load(best.throughput, sum(at) / len(at) if at else 0.0, results)
        if all(runs_workflows(result.job.definition) for result in results):
            load = phrases.rate(best.throughput, "workflows per hour")
        said.append(f"The highest throughput was {load} at {phrases.level_text(axis, best.level)}.")
    return said


def _law(fit: UslFit | None) -> list[str]:
    if fit is None:
        return [f"The Universal Scalability Law needs {LEVELS_MIN} different levels with throughput, so it was not fitted."]
    if fit.misfit is not None:
        return [fit.misfit.words()]
    peak = (
        f"throughput peaks near {phrases.number(round(fit.peak_level))}" if fit.peak_level is not None else "no peak of throughput is shown"
    )
    return [f"Universal Scalability Law: contention {_percent(fit.sigma)}, coherency {_percent(fit.kappa)}; {peak}."]


#: A coefficient whose interval reaches further than by this factor says nothing.
_TELLING_FACTOR = 3.0


def _percent(estimate: Estimate) -> str:
    """A coefficient, which may well be 0: what counts is how far its interval reaches above it."""
    said = f"{_hundredths(estimate.value)} %"
    if estimate.low is None or estimate.high is None:
        return said
    if estimate.high > _TELLING_FACTOR * max(estimate.value, 0.01):
        return f"{said} (too short to tell)"
    return f"{said} [{_hundredths(estimate.low)}, {_hundredths(estimate.high)}]"


def _hundredths(share: float) -> str:
    """In percent; what is left of a fit that runs against 0 is 0."""
    return significant(100 * share) if share >= 1e-6 else "0"
