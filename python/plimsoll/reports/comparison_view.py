"""The comparison that a report makes by itself: the configurations of its experiments, each with the first.

Model: every configuration of the report is a side, with the objective of each experiment; `plimsoll.analysis.comparison.comparison` does
the rest. What `plimsoll.analysis.comparison.refusals` refuses is not compared, and the reasons are shown instead.
Limits: runs without experiments are laid side by side only; ``plimsoll compare`` compares those, and lets things differ on purpose.

    compared([run_json], members, ["depth 1", "depth 8"])["findings"]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from plimsoll.analysis.comparison.comparison import compare, matched
from plimsoll.analysis.comparison.refusals import refusals
from plimsoll.analysis.comparison.sides import Side
from plimsoll.analysis.objective.judgement import Objective, parse_objective
from plimsoll.errors import InputError
from plimsoll.reports.experiments_view import Member

Json = Mapping[str, Any]


def compared(metas: Sequence[Json], members: Sequence[Member], labels: Sequence[str]) -> dict[str, Any] | None:
    """The comparison as the page reads it; None with a single configuration, without experiments, or without a point in common."""
    if len(labels) < 2 or not any(member.result.place for member in members):
        return None
    sides = [_side(metas, members, configuration, label) for configuration, label in enumerate(labels)]
    if not list(matched(sides)):
        return None
    reasons = refusals(sides)
    if reasons:
        return {
            "sides": list(labels),
            "baseline": labels[0],
            "modelled": [side.modelled for side in sides],
            "points": [],
            "marks": [],
            "findings": [],
            "notes": [f"Not compared: {reason}" for reason in reasons],
        }
    return compare(sides, objectives=_objectives(metas)).to_json()


def _side(metas: Sequence[Json], members: Sequence[Member], configuration: int, label: str) -> Side:
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


def _objectives(metas: Sequence[Json]) -> dict[str, Objective]:
    found: dict[str, Objective] = {}
    for meta in metas:
        for experiment in meta.get("experiments") or []:
            try:
                if experiment.get("objective"):
                    found.setdefault(experiment["name"], parse_objective(experiment["objective"]))
            except InputError:
                continue
    return found
