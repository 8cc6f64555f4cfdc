"""How one subject scaled: its points against the lowest level, and the fit of the Universal Scalability Law drawn as a curve.

Model: `plimsoll.analysis.load_line.scaling` computes; here the curve is sampled for drawing.
Limits: below four different levels there is no fit, and the chart has points only.

    scaling(results, indices)["points"][-1]["efficiency"]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from plimsoll.analysis.load_line.line import load_line
from plimsoll.analysis.load_line.scaling import UslFit, band, scaling_table, usl_fit
from plimsoll.analysis.point.metric import ALL, metric
from plimsoll.result import Estimate, Result

#: Samples of the curve: more than a chart can show.
SAMPLES = 60


def scaling(results: Sequence[Result], indices: Mapping[int, int]) -> dict[str, Any] | None:
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
                "iops": _bounds(point.iops),
                "speedup": rows[point.level].speed_up,
                "efficiency": rows[point.level].efficiency,
                "points": [indices[id(result)] for result in point.repeats],
            }
            for point in line.points
            if point.level in rows
        ],
        "fit": _fit(fit, seen) if fit else None,
        "note": None if fit else "The fit needs at least four different levels.",
    }


def _fit(fit: UslFit, seen: Sequence[tuple[float, float]]) -> dict[str, Any]:
    peak = fit.peak_level
    levels, throughputs = [level for level, _ in seen], [value for _, value in seen]
    furthest = max(levels)
    steps = [1 + (furthest - 1) * step / SAMPLES for step in range(SAMPLES + 1)]
    return {
        "contention": _bounds(fit.sigma),
        "coherency": _bounds(fit.kappa),
        "per_worker": _bounds(fit.lambda_per_s),
        "r_squared": fit.r_squared,
        "peak": {"workers": peak, "iops": fit.throughput(peak)} if peak is not None and peak >= 1 else None,
        "curve": [[level, fit.throughput(level), *(band(fit, levels, throughputs, level) or (None, None))] for level in steps],
    }


def _bounds(estimate: Estimate) -> dict[str, float | None]:
    return {"value": estimate.value, "low": estimate.low, "high": estimate.high}
