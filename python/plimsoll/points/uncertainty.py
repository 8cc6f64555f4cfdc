"""Stored points of modelled arrays, worked out for draws of what nobody has looked up, so that their figures have intervals.

Model: a point is run again as it was measured, load, seed, warm-up and measured time, on arrays with other values. First each is run on its
own array: that has to give what is stored, or the model or the catalog has changed since, and draws would be of another array. It also
says what a draw costs: what is not asked for by number is left where a block of draws for all points would take longer than the
budget. What is drawn is kept beside the run (`plimsoll.store.uncertainty`), and is not drawn again.
Limits: of points with several streams, traces and failures as well, but not of layouts, applications and points that were not complete. A
draw whose caches take longer to balance is measured when the array itself was in balance.

    drawn_for([open_run("latest")], Plan(budget_s=30), native())      # sentences about what was left
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any

from plimsoll.analysis.point.definition import drawn_by_stream
from plimsoll.analysis.point.estimates import estimates
from plimsoll.analysis.point.metric import together
from plimsoll.analysis.point.summary import Summary
from plimsoll.catalog.ranges import uncertain
from plimsoll.engine.protocol import Engine
from plimsoll.errors import InputError, PlimsollError
from plimsoll.result import DrawnInterval, Result
from plimsoll.store.reader import StoredPoint, StoredRun
from plimsoll.store.uncertainty import PointDraws, keep_drawn
from plimsoll.stored import Options
from plimsoll.target import Composer, Target
from plimsoll.uncertainty.figures import Plan, Spread, spread
from plimsoll.units import time_text

#: A figure that is further from what is stored is that of another model.
_SAME = 1e-6
_PARTED = " "


def drawn_for(runs: Sequence[StoredRun], plan: Plan, engine: Engine) -> list[str]:
    """Makes the draws that are missing of all points of modelled arrays, and keeps them; what was left, in sentences."""
    left: list[str] = []
    points = list(_waiting(runs, plan, left.append))
    if not points:
        return left
    began_s = time.monotonic()
    with ThreadPoolExecutor(plan.hands) as pool:
        own = list(pool.map(lambda one: _own(one[1].result, engine, one[2]), points))
    spent_s = (time.monotonic() - began_s) * min(plan.hands, len(points))
    if not plan.affords(spent_s):
        needed = time_text(spent_s * plan.draws / plan.hands)
        return [*left, f"Intervals were not drawn, which takes about {needed}: ask for them with --uncertainty {plan.draws}."]
    for number, ((run, point, target), figures) in enumerate(zip(points, own, strict=True)):
        if not _agree(point.result, figures):
            left.append(f"{run.name}, {point.id}: measured again it gives other figures, so nothing was drawn; run it anew.")
            continue
        # What is left of the time is shared by the points that are left, so that slow ones do not add up.
        left_s = 0.0 if plan.budget_s is None else max(0.0, plan.budget_s - (time.monotonic() - began_s))
        share = None if plan.budget_s is None else left_s / (len(points) - number)
        found = spread(target, partial(_figures, point.result, engine), engine, replace(plan, budget_s=share))
        _keep(run, point, found)
    return left


def _waiting(runs: Sequence[StoredRun], plan: Plan, leave: Callable[[str], None]) -> Iterator[tuple[StoredRun, StoredPoint, Target]]:
    """The points without the draws that are wanted, each with its array; of one whose array is gone ``leave`` hears why."""
    composer = Composer()
    for run in runs:
        for point in run.points:
            if not _wants(point, run.drawn.get(point.id), plan):
                continue
            try:
                target = composer.target(point.result.job.target)
            except PlimsollError as problem:
                leave(f"{run.name}, {point.id}: nothing was drawn, because the array is no longer there: {problem}")
                continue
            if uncertain(target.document or {}):
                yield run, point, target


def _wants(point: StoredPoint, drawn: PointDraws | None, plan: Plan) -> bool:
    """Whether draws of a point can be made, and are not there yet."""
    result = point.result
    if not result.modelled or result.status != "complete" or not result.job.target.strip().startswith("array:") or result.hosts:
        return False
    if result.job.definition.get("driver") or not any(total.iops for total in result.totals.values()):
        return False
    if drawn is None:
        return True
    return drawn.seed != plan.seed or (plan.budget_s is None and drawn.count < plan.draws)


def _own(result: Result, engine: Engine, target: Target) -> Mapping[str, float]:
    try:
        return _figures(result, engine, target)
    except PlimsollError:
        return {}


def _agree(result: Result, figures: Mapping[str, float]) -> bool:
    """Whether a run on the array itself gave what is stored."""
    rates = [(metrics["iops"].value, figures.get(_name(op, "iops"))) for op, metrics in result.estimates.items() if "iops" in metrics]
    return bool(rates) and all(now is not None and abs(now - before) <= _SAME * before for before, now in rates)


def _figures(result: Result, engine: Engine, target: Target) -> dict[str, float]:
    """Every figure of a point on another array, by operation and metric."""
    definition = result.job.definition
    measured = next(total.count / total.iops for total in result.totals.values() if total.iops)
    settled = float(result.ended.get("settled_s") or 0.0)
    options: Options = {**result.job.options, "warmup": result.job.options["warmup"] + settled, "duration": round(measured, 9)}
    definition, options = engine.set_option(definition, options, "interval", f"{measured:.9f}s")
    summary = Summary(drawn_by_stream(definition))

    def take(kind: str, event: Any) -> None:
        if kind == "interval":
            summary.add(event)

    outcome = engine.run_job({"workload": definition, "job": options, "target": target, "permission": None}, take, engine.control())
    if outcome.get("stopped_by") == "error":
        raise InputError("requests failed")
    totals = summary.totals()
    found = estimates(summary.batches, totals, together(replace(result, totals=totals, streams=summary.streams())))
    return {_name(op, name): one.value for op, metrics in found.items() for name, one in metrics.items()}


def _name(op: str, metric: str) -> str:
    return f"{op}{_PARTED}{metric}"


def _keep(run: StoredRun, point: StoredPoint, found: Spread) -> None:
    figures: dict[str, dict[str, DrawnInterval]] = {}
    for name, values in found.values.items():
        interval = found.interval(name)
        if interval is not None:
            op, _, metric = name.partition(_PARTED)
            ends = interval.to_json()
            figures.setdefault(op, {})[metric] = DrawnInterval(**ends, seed=found.seed, values=[_short(value) for value in values])
    run.drawn[point.id] = PointDraws(found.seed, found.count, len(found.drawn), found.redrawn, found.fingerprint, figures)
    keep_drawn(run.path, run.drawn)
    # What was read before has no intervals yet.
    point.__dict__.pop("result", None)


def _short(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.9g}")
