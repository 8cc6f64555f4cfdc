"""Latencies that what was outstanding at the end raises: they are shown as lower bounds, and judged by what they could be.

Model: `plimsoll.analysis.outstanding` says between which values a metric lies. Where the lower one is more than `SHARE_MIN` above what was
measured, it takes the place of the estimate, which then has no interval: the scatter of what was measured says nothing about what was
not. Below that the few requests that any queue holds at any instant would take intervals away. A judgement looks at both values whatever
their distance is.

    raised(estimates, outstanding)["read"]["p99"].at_least        # True: it was at least .value
    lowest([result], "read", "p99"), highest([result], "read", "p99")      # nanoseconds; the second may be infinite
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from plimsoll.analysis.metric import LATENCIES, metric
from plimsoll.analysis.pooling import pooled
from plimsoll.result import Estimate, Estimates, Outstanding, Result

#: By what share what was outstanding has to raise a latency to be shown in its place.
SHARE_MIN = 0.05


def raised(estimates: Estimates, outstanding: Mapping[str, Outstanding]) -> Estimates:
    """The estimates with those replaced that outstanding requests raise."""
    return {
        op: {**metrics, **_raised(metrics, outstanding[op])} if op in outstanding else metrics
        for op, metrics in {**{op: {} for op in outstanding}, **estimates}.items()
    }


def _raised(metrics: Mapping[str, Estimate], owed: Outstanding) -> dict[str, Estimate]:
    bounds = {name: owed.at_least[name] for name in LATENCIES}
    return {
        name: Estimate(bound, at_least=True)
        for name, bound in bounds.items()
        if name not in metrics or bound > (1 + SHARE_MIN) * metrics[name].value
    }


def lowest(results: Sequence[Result], op: str, name: str) -> float | None:
    """What a latency of the repeats of a point was at least; None when nothing is known of it."""
    values = [value for result in results if (value := _least(result, op, name)) is not None]
    return _pooled(values, name)


def highest(results: Sequence[Result], op: str, name: str) -> float | None:
    """What it was at most; infinite when nothing bounds it, None when nothing is known."""
    values = [value for result in results if (value := _most(result, op, name)) is not None]
    return _pooled(values, name)


def unanswered(results: Sequence[Result], op: str) -> int:
    """Requests that never had an answer."""
    return sum(result.outstanding[op].unfinished for result in results if op in result.outstanding)


def _least(result: Result, op: str, name: str) -> float | None:
    found, owed = metric(result, op, name), result.outstanding.get(op)
    known = [value for value in (found.value if found else None, owed.at_least[name] if owed else None) if value is not None]
    return max(known, default=None)


def _most(result: Result, op: str, name: str) -> float | None:
    owed = result.outstanding.get(op)
    if owed is None:
        return _least(result, op, name)
    bound = owed.at_most[name]
    return float("inf") if bound is None else max(bound, _least(result, op, name) or 0.0)


def _pooled(values: Sequence[float], name: str) -> float | None:
    if not values:
        return None
    return max(values) if name == "max" else pooled([Estimate(value) for value in values]).value
