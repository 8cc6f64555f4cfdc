"""The headline of what a side measured: the one figure that its price is divided by.

Model: what a driver calls its headline comes first: the composite of decision support, for example; of repeats the lowest counts, as the
rules of TPC-H have it. Where a load was raised against an objective it is the mark. Elsewhere it is the highest rate, of large requests in
MB/s. A side has one headline for each load that it measured; a load is a workload, within one experiment where several measured it.
Limits: points that failed and points that only condition a target count for nothing. A rate without its latency says little; the objective
makes it a mark.

    headlines(side, {"": parse_objective("read mean <= 20ms")})[0].unit        # "IOPS"
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from plimsoll.analysis.comparison.sides import Side
from plimsoll.analysis.load_line.line import longest, usable
from plimsoll.analysis.load_line.mark import mark_of
from plimsoll.analysis.objective.judgement import Objective
from plimsoll.analysis.point.metric import ALL, in_bytes, load_noun, spoken
from plimsoll.analysis.point.repeats import pooled_metric
from plimsoll.analysis.statistics.steadiness import ROUNDS
from plimsoll.records import dataclass
from plimsoll.result import Estimate, Result

#: Bytes per second of a unit of bandwidth.
_MB = 1e6


@dataclass(frozen=True)
class Headline:
    """``figure`` says what it is, ``unit`` what one of it is called. ``value`` is None where the side holds no level; ``at_least``
    says that no level failed. ``fair`` is what has to stand wherever the figure does."""

    load: tuple[str, str]
    title: str
    figure: str
    unit: str
    value: float | None
    low: float | None = None
    high: float | None = None
    at_least: bool = False
    fair: str = ""


def headlines(side: Side, objectives: Mapping[str, Objective]) -> list[Headline]:
    """One for each load, in the order measured; ``objectives`` are by experiment, ``""`` for all that have none of their own."""
    loads: dict[tuple[str, str], list[Result]] = {}
    for result in side.results:
        if result.place.get("role") != "precondition":
            loads.setdefault((result.place.get("experiment", ""), result.job.workload), []).append(result)
    found = [_headline(load, results, objectives) for load, results in loads.items() if usable(results)]
    return [one for one in found if one is not None]


def _headline(load: tuple[str, str], results: Sequence[Result], objectives: Mapping[str, Objective]) -> Headline | None:
    own = _own(load, results)
    if own is not None:
        return own
    objective = objectives.get(load[0]) or objectives.get("")
    levels = [result for result in results if result.place.get("level") is not None]
    if objective is not None and levels:
        return _mark(load, levels, objective)
    return _rate(load, results)


def _own(load: tuple[str, str], results: Sequence[Result]) -> Headline | None:
    """What the driver says of itself: of repeats the lowest, of several settings the best."""
    groups = [[result for result in usable(group) if result.engine.get("headline")] for group in _settings(results)]
    lowest = [min(group, key=_value) for group in groups if group]
    if not lowest:
        return None
    best = max(lowest, key=_value)
    said = best.engine.get("headline")
    assert said is not None
    return Headline(load, best.job.title, said["figure"], said["unit"], said["value"], fair=said.get("fair") or "")


def _value(result: Result) -> float:
    said = result.engine.get("headline")
    return said["value"] if said is not None else 0.0


def _mark(load: tuple[str, str], results: Sequence[Result], objective: Objective) -> Headline:
    mark, title, figure = mark_of(results, objective), results[0].job.title, f"mark at {objective.text}"
    noun = load_noun(results)
    if mark is None:
        return Headline(load, title, figure, noun, None)
    by_bytes = in_bytes(results)
    each = mark.bytes_per_s / mark.iops / _MB if by_bytes and mark.iops else spoken(1.0, noun)
    low, high = mark.interval or (None, None)
    return Headline(
        load,
        title,
        figure,
        noun,
        mark.iops * each,
        None if low is None else low * each,
        None if high is None else high * each,
        at_least=mark.failed_by is None,
    )


def _rate(load: tuple[str, str], results: Sequence[Result]) -> Headline | None:
    """The highest of all settings."""
    by_bytes = in_bytes(results)
    groups = [usable(group) for group in _settings(results)]
    rates = [found for group in groups if (found := pooled_metric(group, ALL, "bytes_per_s" if by_bytes else "iops")) is not None]
    best = max(rates, key=lambda rate: rate.value, default=Estimate(0.0))
    if not best.value:
        return None
    noun = load_noun(results)
    scale, figure = _MB if by_bytes else 1.0 / spoken(1.0, noun), "rate" if len(rates) == 1 else f"highest of {len(rates)} rates"
    low, high = (None if end is None else end / scale for end in (best.low, best.high))
    return Headline(load, results[0].job.title, figure, noun, best.value / scale, low, high)


def _settings(results: Sequence[Result]) -> list[Sequence[Result]]:
    """Repeats together; the last rounds of a steady state, of a level those that lasted longest."""
    groups: dict[str, list[Result]] = {}
    for result in results:
        place, job = result.place, result.job
        where = place.get("settings") if place else (job.threads, job.queue_depth)
        groups.setdefault(json.dumps([place.get("role"), where], sort_keys=True, default=str), []).append(result)
    return [_standing(group) for group in groups.values()]


def _standing(group: list[Result]) -> Sequence[Result]:
    if group[0].place.get("role") == "round":
        return group[-ROUNDS:]
    return group if group[0].place.get("level") is None else longest(group)
