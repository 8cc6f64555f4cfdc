"""Published figures of products (`plimsoll.catalog.products`) on their modelled arrays: what the model says, and between what it lies.

Model: the load of the entry in virtual time, once on the array as the catalog has it and once for each draw of what nobody has looked up.
Of a ratio both sides are drawn with common values, so that what they share cancels.
Limits: one point each, warmed up for as long as the entry says, not until caches are in balance.

    held_figure(product_figures()[0], native(), Plan(draws=40)).holds
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, cast

from plimsoll.analysis.point.definition import drawn_by_stream
from plimsoll.analysis.point.metric import ALL, metric_of_totals
from plimsoll.analysis.point.summary import Summary
from plimsoll.analysis.products import Coverage, HeldFigure
from plimsoll.analysis.uncertainty.interval import Interval, interval
from plimsoll.catalog.products import BURST, SCAN, ProductFigure, product_figures
from plimsoll.engine.protocol import Engine
from plimsoll.errors import InputError
from plimsoll.points.point import changed, defined, own_defined
from plimsoll.stored import Json
from plimsoll.target import Target, target_of
from plimsoll.uncertainty.figures import Plan, spread

#: Draws for the ends of an interval of 90 %.
DRAWS = 40
_TIB = 1 << 40
_WRITES_WARMUP, _READS_WARMUP, _NO_WARMUP = "2s", "50ms", "0s"
_FIGURE = "figure"
Heard = Callable[[HeldFigure], None]


def coverage(engine: Engine, plan: Plan, heard: Heard = lambda _: None) -> Coverage:
    """All figures of the catalog; ``heard`` is told of each."""
    found = []
    for figure in product_figures():
        found.append(held_figure(figure, engine, plan))
        heard(found[-1])
    return Coverage(found)


def held_figure(figure: ProductFigure, engine: Engine, plan: Plan) -> HeldFigure:
    """One figure beside what the model says."""
    ends = None if figure.exact else _between(figure, engine, plan)
    return HeldFigure(
        array=figure.array,
        against=figure.against,
        what=figure.what,
        metric=figure.metric,
        published=figure.published,
        modelled=_modelled(figure, engine),
        low=None if ends is None else ends.low,
        high=None if ends is None else ends.high,
        draws=0 if ends is None else ends.draws,
        mostly=() if ends is None else tuple(cause.of.name for cause in ends.mostly),
        source=figure.source,
        exact=figure.exact or ("nothing of it is uncertain" if ends is None else None),
        miss=figure.miss,
    )


def _modelled(figure: ProductFigure, engine: Engine) -> float:
    value = _measured(figure, engine, target_of(figure.target))
    return value if figure.against is None else value / _measured(figure, engine, _other(figure))


def _other(figure: ProductFigure) -> Target:
    return target_of(f"array:{figure.against}")


def _between(figure: ProductFigure, engine: Engine, plan: Plan) -> Interval | None:
    """Between what it lies; None where nothing of the array is uncertain."""
    work = partial(_measured, figure, engine)
    found = spread(target_of(figure.target), lambda drawn: {_FIGURE: work(drawn)}, engine, plan)
    if figure.against is None:
        return found.interval(_FIGURE)
    other = spread(_other(figure), lambda drawn: {_FIGURE: work(drawn)}, engine, plan)
    pairs = zip(found.values.get(_FIGURE, ()), other.values.get(_FIGURE, ()), strict=False)
    ratios = [None if one is None or not two else one / two for one, two in pairs]
    return interval(ratios, found.drawn, found.level)


def _measured(figure: ProductFigure, engine: Engine, target: Target) -> float:
    """The figure on one array."""
    workload, options = _load(figure, engine)
    summary = Summary(drawn_by_stream(workload))

    def take(kind: str, event: Any) -> None:
        if kind == "interval":
            summary.add(event)

    outcome = engine.run_job({"workload": workload, "job": options, "target": target, "permission": None}, take, engine.control())
    if outcome.get("stopped_by") == "error":
        raise InputError(f"{figure.target}: requests failed")
    totals = [total for op, total in summary.totals().items() if figure.op in (ALL, op)]
    name = {SCAN: "bytes_per_s", BURST: "iops"}.get(figure.metric, figure.metric)
    found = metric_of_totals(totals, name)
    if found is None:
        raise InputError(f"{figure.target}: {figure.what}: nothing was answered while it was measured")
    if figure.metric == SCAN:
        return _TIB / found.value
    return _burst_s(target, found.value, float(options["duration"])) if figure.metric == BURST else found.value


def _burst_s(target: Target, iops: float, duration_s: float) -> float:
    """How long a credit lasted that allowed a burst, from the mean rate over a time in which it ended."""
    limit: Json = (target.document or {})["volumes"][0]["limit"]
    lasting, burst = float(limit["requests_per_s"]), float(limit["burst_requests_per_s"])
    return (iops - lasting) * duration_s / (burst - lasting)


def _load(figure: ProductFigure, engine: Engine) -> tuple[Any, Any]:
    duration = figure.duration
    if figure.workload is None:
        about = dict.fromkeys(("title", "purpose", "source", "rationale"), figure.what)
        document = cast("Json", {"name": "published", **about, "stream": [dict(one) for one in figure.stream]})
        workload, options = own_defined("published", document, engine)
    else:
        workload, options = defined(figure.workload, engine)
    settings = {**figure.set, "duration": duration, "warmup": figure.warmup or _warmup(figure), "interval": duration}
    return changed(workload, options, engine, settings.items())


def _warmup(figure: ProductFigure) -> str:
    """Of writes, until the buffers of the drives are full."""
    if figure.metric in (SCAN, BURST):
        return _NO_WARMUP
    return _WRITES_WARMUP if "write" in (figure.workload or "") else _READS_WARMUP


def plan_of_draws(jobs: int | None = None) -> Plan:
    """As many draws as the ends of an interval need."""
    return replace(Plan(draws=DRAWS), jobs=jobs or 0)
