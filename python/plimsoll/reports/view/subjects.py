"""Subjects of experiments that have a drawing of their own: rounds until steady, and scaling.

The rounds of a steady-state test: the value of each, and the window that was judged last.

Model: the rule is `plimsoll.analysis.statistics.steadiness`'s, SNIA's five-round window: range within 20 % of the mean, rise of the fitted
line within 10 %. Rounds count from 1 in the order they were measured; the window shown is the first that was attained, else the last.
Limits: a round that failed has no value, and no window with it is steady.

    rounds(results, indices, {"metric": "iops"})["attained"]

Scaling: the points of one subject against the lowest level, and the fit of the Universal Scalability Law drawn as a curve.

Model: `plimsoll.analysis.load_line.scaling` computes; here the curve is sampled for drawing.
Limits: below four different levels there is no fit, and the chart has points only.

    scaling(results, indices)["points"][-1]["efficiency"]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from plimsoll.analysis.load_line.line import load_line
from plimsoll.analysis.load_line.scaling import UslFit, band, scaling_table, usl_fit
from plimsoll.analysis.point.metric import ALL, METRICS, metric
from plimsoll.analysis.statistics.steadiness import EXCURSION_PERCENT_MAX, ROUNDS, SLOPE_PERCENT_MAX, window_verdict
from plimsoll.reports.view.point import EstimateView, estimate_view
from plimsoll.result import Result


class Round(TypedDict):
    """The value of one round."""

    round: int
    value: float
    point: int


class SteadyWindow(TypedDict):
    """The rounds judged last: their mean and fitted line, and what the rule allows."""

    first: int
    last: int
    mean: float
    #: Range of the values over the window, as a share of the mean.
    range: float
    #: Rise of the fitted line over the window, as a share of the mean.
    rise: float
    range_allowed: float
    rise_allowed: float
    #: The fitted line at the first and the last round.
    fit: tuple[float, float]


class Steady(TypedDict):
    """Rounds until the storage was steady."""

    metric: str
    op: str
    rounds: list[Round]
    attained: bool
    #: Null before there are enough rounds.
    window: SteadyWindow | None


class ScalingPoint(TypedDict):
    """One level against the lowest."""

    workers: float
    iops: EstimateView
    speedup: float
    #: Speed-up over workers: 1 is ideal.
    efficiency: float
    points: list[int]


class Peak(TypedDict):
    """Where the fitted curve is highest."""

    workers: float
    iops: float


class ScalingFit(TypedDict):
    """The Universal Scalability Law: X(N) = λ N / (1 + σ (N − 1) + κ N (N − 1))."""

    contention: EstimateView
    coherency: EstimateView
    per_worker: EstimateView
    r_squared: float | None
    peak: Peak | None
    #: `[workers, IOPS, lowest, highest]`; the last two are null where the fit has no band.
    curve: list[tuple[float, float, float | None, float | None]]


class Scaling(TypedDict):
    """Speed-up with concurrency."""

    points: list[ScalingPoint]
    fit: ScalingFit | None
    note: str | None


def rounds(results: Sequence[Result], indices: Mapping[int, int], parameters: Mapping[str, Any]) -> Steady | None:
    """Rounds and window; None when no round has a value."""
    op, name = _judged(str(parameters.get("metric") or "iops"))
    taken = [result for result in results if result.place.get("role") == "round"]
    values = [_value(result, op, name) for result in taken]
    if not any(value is not None for value in values):
        return None
    size = int(parameters.get("window") or ROUNDS)
    ends = range(size, len(values) + 1)
    attained = next((end for end in ends if _is_steady(values[end - size : end])), None)
    end = attained or len(values)
    last = [value for value in values[max(end - size, 0) : end] if value is not None]
    return {
        "metric": name,
        "op": op,
        "rounds": [
            {"round": number, "value": value, "point": indices[id(result)]}
            for number, (result, value) in enumerate(zip(taken, values, strict=True), start=1)
            if value is not None
        ],
        "attained": attained is not None,
        "window": _window(last, end) if len(last) == size else None,
    }


def _value(result: Result, op: str, name: str) -> float | None:
    estimate = metric(result, op, name) if result.status != "failed" else None
    return estimate.value if estimate is not None else None


def _judged(text: str) -> tuple[str, str]:
    """Operation and metric out of ``iops`` or ``write p99``."""
    *ops, name = text.split()
    return (ops[0] if ops else ALL), (name if name in METRICS else "iops")


def _is_steady(window: Sequence[float | None]) -> bool:
    """Whether every round of the window has a value and they are steady."""
    values = [value for value in window if value is not None]
    verdict = window_verdict(values) if len(values) == len(window) else None
    return verdict is not None and verdict.steady


def _window(values: Sequence[float], end: int) -> SteadyWindow | None:
    verdict = window_verdict(values)
    if verdict is None:
        return None
    mean = sum(values) / len(values)
    rise = verdict.slope_percent / 100
    return {
        "first": end - len(values) + 1,
        "last": end,
        "mean": mean,
        "range": verdict.excursion_percent / 100,
        "rise": rise,
        "range_allowed": EXCURSION_PERCENT_MAX / 100,
        "rise_allowed": SLOPE_PERCENT_MAX / 100,
        "fit": (mean * (1 - rise / 2), mean * (1 + rise / 2)),
    }


#: Samples of the curve: more than a chart can show.
SAMPLES = 60


def scaling(results: Sequence[Result], indices: Mapping[int, int]) -> Scaling | None:
    """Points, fit and a remark; None when no level was measured."""
    line = load_line(results)
    if not line.points:
        return None
    levels = [point.level for point in line.points]
    rows = {row.level: row for row in scaling_table(levels, [point.iops.value for point in line.points])}
    # Every iteration is an observation of its own, so that the fit knows how they scatter.
    seen = [(point.level, found.value) for point in line.points for result in point.repeats if (found := metric(result, ALL, "iops"))]
    fit = usl_fit([level for level, _ in seen], [value for _, value in seen])
    return {
        "points": [
            {
                "workers": point.level,
                "iops": estimate_view(point.iops),
                "speedup": rows[point.level].speed_up,
                "efficiency": rows[point.level].efficiency,
                "points": [indices[id(result)] for result in point.repeats],
            }
            for point in line.points
            if point.level in rows
        ],
        "fit": _fit(fit, seen) if fit and fit.misfit is None else None,
        "note": "The fit needs at least four different levels." if fit is None else fit.misfit.words() if fit.misfit else None,
    }


def _fit(fit: UslFit, seen: Sequence[tuple[float, float]]) -> ScalingFit:
    peak = fit.peak_level
    levels, throughputs = [level for level, _ in seen], [value for _, value in seen]
    furthest = max(levels)
    steps = [1 + (furthest - 1) * step / SAMPLES for step in range(SAMPLES + 1)]
    return {
        "contention": estimate_view(fit.sigma),
        "coherency": estimate_view(fit.kappa),
        "per_worker": estimate_view(fit.lambda_per_s),
        "r_squared": fit.r_squared,
        "peak": {"workers": peak, "iops": fit.throughput(peak)} if peak is not None and peak >= 1 else None,
        "curve": [(level, fit.throughput(level), *(band(fit, levels, throughputs, level) or (None, None))) for level in steps],
    }
