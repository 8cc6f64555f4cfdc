"""Comparisons that a report makes by itself: of its configurations, and with published figures.

The comparison that a report makes by itself: the configurations of its experiments, each with the first.

Model: every configuration of the report is a side, with the objective of each experiment; `plimsoll.analysis.comparison.comparison` does
the rest. A side that `plimsoll.analysis.comparison.refusals` refuses is not compared, and the reasons are shown instead.
Limits: runs without experiments are laid side by side only; ``plimsoll compare`` compares those, and lets things differ on purpose.

    compare_configurations([run_json], members, ["depth 1", "depth 8"])["findings"]

Figures that others published, beside the points that measured the same here.

Model: a run's suite carries published rows; each says by workload, settings and configuration which points it is about. Repeats of those
points are pooled. Where the points were measured at several settings that the row does not tell apart, a rate stands for the highest of
them, as the sources have it; a latency then has no counterpart.
Limits: a match says that the same load was applied, not that hardware or software were alike.

    published_figures([run_json], members, ["/dev/sdb"])[0]["rows"][0]["measured"]["value"]
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, TypedDict

from plimsoll.analysis.comparison.comparison import Comparison, match_points
from plimsoll.analysis.comparison.pairs import compare_pairs
from plimsoll.analysis.comparison.sides import Side
from plimsoll.analysis.load_line.line import usable
from plimsoll.analysis.objective.judgement import Objective, parse_objective
from plimsoll.analysis.point.metric import ALL, METRICS, RATES
from plimsoll.analysis.point.repeats import pooled_metric
from plimsoll.errors import InputError
from plimsoll.experiments.kinds import ADAPTIVE
from plimsoll.reports.view.experiments import Member
from plimsoll.reports.view.point import EstimateView, Settings
from plimsoll.result import Estimate, Result
from plimsoll.stored import FigureMatch, FigureRow, PublishedFigures, Run
from plimsoll.units import size_bytes


class Suite(TypedDict):
    """What was run."""

    title: str
    purpose: str | None
    source: str | None


class PublishedRow(TypedDict):
    """A published figure, with what was measured."""

    label: str
    metric: str
    op: str
    #: In the unit in which results are stored: per second, bytes per second, nanoseconds.
    value: float | None
    #: As it was published.
    text: str
    workload: str | None
    title: str | None
    settings: Settings
    configuration: int | None
    measured: EstimateView | None
    points: list[int]


class Published(TypedDict):
    """A source of published figures."""

    name: str
    title: str
    source: str
    note: str | None
    claims: list[str]
    rows: list[PublishedRow]


def compare_configurations(metas: Sequence[Run], members: Sequence[Member], labels: Sequence[str]) -> Comparison | None:
    """The comparison that the page shows; None with a single configuration, without experiments, or without a point in common."""
    if len(labels) < 2 or not any(member.result.place for member in members):
        return None
    sides = [_side(metas, members, configuration, label) for configuration, label in enumerate(labels)]
    if not list(match_points(sides)):
        return None
    pairs = compare_pairs(sides, objectives=_objectives(metas), adaptive=ADAPTIVE)
    if pairs.comparison is not None:
        return pairs.comparison
    notes = tuple(f"Not compared: {reason}" for reason in pairs.refused)
    modelled = tuple(side.modelled for side in sides)
    return Comparison(tuple(labels), modelled, (), (), notes, tuple(() for _ in sides))


def _side(metas: Sequence[Run], members: Sequence[Member], configuration: int, label: str) -> Side:
    own = sorted((member for member in members if member.configuration == configuration), key=lambda member: member.result.id)
    run = own[0].run if own else 0
    name = own[0].result.place.get("configuration") if own else None
    settings = [
        item.get("set") or {}
        for experiment in metas[run].get("experiments") or []
        for item in experiment.get("configurations") or []
        if item.get("name") == name
    ]
    return Side(label, [member.result for member in own], run=str(run), settings=settings[0] if settings else {})


def _objectives(metas: Sequence[Run]) -> dict[str, Objective]:
    found: dict[str, Objective] = {}
    for meta in metas:
        for experiment in meta.get("experiments") or []:
            try:
                if text := experiment.get("objective"):
                    found.setdefault(experiment["name"], parse_objective(text))
            except InputError:
                continue
    return found


def suite(metas: Sequence[Run]) -> Suite | None:
    """Title, purpose and source of the suite that was run, if all runs agree on its title."""
    found = [one for meta in metas if (one := meta.get("suite"))]
    if not found or any(item.get("title") != found[0].get("title") for item in found):
        return None
    title = found[0].get("title")
    return {"title": title, "purpose": found[0].get("purpose"), "source": found[0].get("source")} if title else None


def published_figures(metas: Sequence[Run], members: Sequence[Member], labels: Sequence[str]) -> list[Published]:
    """Every published source once, its rows with what was measured; a row about no single configuration stands once for each."""
    sources: dict[str, PublishedFigures] = {}
    for meta in metas:
        for source in (meta.get("suite") or {}).get("published") or []:
            sources.setdefault(str(source.get("name") or source.get("title")), source)
    return [
        {
            "name": name,
            "title": source.get("title") or name,
            "source": source.get("source") or "",
            "note": source.get("note"),
            "claims": list(source.get("claims") or []),
            "rows": [shown for row in source.get("rows") or [] for shown in _rows(row, members, labels)],
        }
        for name, source in sources.items()
    ]


def _rows(row: FigureRow, members: Sequence[Member], labels: Sequence[str]) -> list[PublishedRow]:
    match = row.get("match")
    # A row that says no points stands beside none: what it was measured with is lost.
    found = [] if match is None else [member for member in members if _matches(member, match, labels)]
    configurations: list[int | None] = [*sorted({member.configuration for member in found})]
    return [
        _row(row, configuration, [member for member in found if member.configuration == configuration])
        for configuration in configurations or [None]
    ]


def _matches(member: Member, match: FigureMatch, labels: Sequence[str]) -> bool:
    result = member.result
    if result.place.get("role", "point") != "point":
        return False
    if match.get("workload") not in (None, result.job.workload, result.place.get("subject")):
        return False
    if match.get("configuration") not in (None, result.place.get("configuration"), labels[member.configuration]):
        return False
    own = result.place.get("settings") or {}
    return all(_same(own.get(name), value) for name, value in (match.get("settings") or {}).items())


def _same(one: Any, other: Any) -> bool:
    return bool(_plain(one) == _plain(other))


def _plain(value: Any) -> Any:
    """Numbers and sizes as numbers: 8192, ``8k`` and ``8KiB`` are the same."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, str):
        return value
    try:
        return float(size_bytes(value))
    except InputError:
        return value


def _row(row: FigureRow, configuration: int | None, found: Sequence[Member]) -> PublishedRow:
    *ops, name = str(row.get("metric", "")).split()
    groups: dict[str, list[Result]] = {}
    for member in found:
        groups.setdefault(json.dumps(member.result.place.get("settings") or {}, default=str), []).append(member.result)
    estimate = _measured(list(groups.values()), ops[0] if ops else ALL, name) if name in METRICS else None
    match = row.get("match") or {}
    return {
        "label": row.get("label", ""),
        "metric": name,
        "op": ops[0] if ops else ALL,
        "value": row.get("value"),
        "text": row.get("text") or "",
        "workload": found[0].result.job.workload if found else match.get("workload"),
        "title": found[0].result.job.title if found else match.get("workload"),
        "settings": match.get("settings") or {},
        "configuration": configuration,
        "measured": {"value": estimate.value, "low": estimate.low, "high": estimate.high} if estimate else None,
        "points": [member.index for member in found],
    }


def _measured(groups: Sequence[Sequence[Result]], op: str, name: str) -> Estimate | None:
    found = [estimate for group in groups if (measured := usable(group)) and (estimate := pooled_metric(measured, op, name))]
    if len(found) > 1 and name not in RATES:
        return None
    return max(found, key=lambda estimate: estimate.value, default=None)
