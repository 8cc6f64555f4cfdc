"""Experiments of stored runs, computed anew from their points: load lines, marks, scaling, rounds, matrices.

Model: experiments of the same name and kind, in one run or in several, are shown as one, so that what is to be compared stands in one
chart. A *subject* is a workload in a configuration of the report; everything about it comes from its points by the same functions that
planned them, so the report of a run that was killed has whatever its points allow. Only sentences are taken from the run as stored.
Limits: a definition that this version cannot read costs its objective, never the report.

    experiments([run_json], members)[0]["subjects"][0]["mark"]["iops"]
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypedDict

from plimsoll.analysis.load_line.line import METHOD, LoadLine, LoadPoint, by_level, knee, load_line, saturation, usable
from plimsoll.analysis.load_line.mark import MarkView, mark_of
from plimsoll.analysis.objective.judgement import Objective, judge, parse_objective
from plimsoll.analysis.point.definition import asks_a_list, runs_workflows
from plimsoll.analysis.point.host_use import HostUse, host_use
from plimsoll.analysis.point.metric import ALL, in_bytes, rate_noun, spoken
from plimsoll.analysis.point.repeats import pooled_metric
from plimsoll.errors import InputError
from plimsoll.experiments.kinds import is_drawn, offers_rates
from plimsoll.records import dataclass
from plimsoll.reports.view.point import EstimateView, GroupName, ObjectiveVerdict, Settings, estimate_view, group_of
from plimsoll.reports.view.subjects import Scaling, Steady, rounds, scaling
from plimsoll.result import OPS, Result
from plimsoll.stored import Conclusion, Run
from plimsoll.stored import Experiment as StoredExperiment

#: Whether a level keeps the objective; None where there is none.
Verdict = Callable[[LoadPoint], ObjectiveVerdict | None]

MATRIX_METRICS = ("iops", "bytes_per_s", "mean", "p99")
METHODS = {
    "offered": "less was completed than offered",
    "plateau": "the highest levels cannot be told apart",
    "maximum": "the largest throughput that was seen",
}


class LoadPointView(TypedDict):
    """One level of a load line."""

    level: float
    iops: EstimateView
    bytes_per_s: EstimateView
    response: EstimateView
    offered_per_s: float | None
    points: list[int]
    verdict: ObjectiveVerdict | None


class LoadLineView(TypedDict):
    """Response against throughput, by rising level."""

    op: str
    metric: str
    #: What the objective allows of this response.
    limit_ns: float | None
    points: list[LoadPointView]


class KneeView(TypedDict):
    """Where throughput over response is largest."""

    level: float
    iops: float
    #: Where the knee lies at an end of the line, or beyond it: that end.
    at_edge: Literal["lowest", "highest"] | None
    bytes_per_s: float
    method: str


class SaturationView(TypedDict):
    """The throughput that more load does not raise."""

    level: float | None
    iops: EstimateView
    bytes_per_s: float
    reached: bool
    method: str


class MatrixCell(TypedDict):
    """One combination of settings."""

    settings: Settings
    points: list[int]
    #: By metric: iops, bytes_per_s, mean, p99 of all operations together.
    values: dict[str, EstimateView | None]


class _LineFigures(TypedDict):
    lines: list[LoadLineView]
    mark: MarkView | None
    notes: list[str]
    knee: KneeView | None
    saturation: SaturationView | None


class HostLevel(HostUse):
    """What a point at a level cost the host: percent of CPU time, blocks of 4,096 bytes per second, seconds of real time."""

    level: float


class Subject(_LineFigures):
    """A workload in a configuration."""

    workload: str
    title: str
    group: GroupName
    configuration: int
    modelled: bool
    #: Whether people speak of it in MB/s.
    in_bytes: bool
    #: What its rate is called otherwise, and how many of that unit one per second is: `IOPS` and 1.
    rate_noun: str
    rate_factor: float
    points: list[int]
    sentences: list[str]
    scaling: Scaling | None
    steady: Steady | None
    cells: list[MatrixCell]
    #: Of storage, not of models; empty with fewer than two levels.
    host: list[HostLevel]


class Experiment(TypedDict):
    """One experiment, with every workload and configuration it was carried out on."""

    name: str
    kind: str
    objective: str | None
    #: The option that makes the level, `queue_depth` for instance; null where there is none.
    axis: str | None
    subjects: list[Subject]


@dataclass(frozen=True)
class Member:
    """A point of the report: its index, run and configuration in the view, and its result."""

    index: int
    run: int
    configuration: int
    result: Result


@dataclass(frozen=True)
class _Found:
    """One experiment: how it was defined first, and its points."""

    definition: StoredExperiment
    kind: str
    objective: Objective | None
    members: list[Member]
    conclusions: list[tuple[int, Conclusion]]


def experiments(metas: Sequence[Run], members: Sequence[Member]) -> list[Experiment]:
    """Every experiment that has more to show than its points, in the order they were measured."""
    shown: list[Experiment] = []
    for found in _gathered(metas, members):
        subjects = _subjects(found)
        if any(_has_content(subject) for subject in subjects):
            shown.append(
                {
                    "name": found.definition["name"],
                    "kind": found.kind,
                    "objective": str(found.objective) if found.objective else None,
                    "axis": _axis(found),
                    "subjects": subjects,
                }
            )
    return shown


def point_verdict(metas: Sequence[Run], members: Sequence[Member]) -> dict[int, ObjectiveVerdict]:
    """Whether each point, by its index, keeps the objective of its experiment; points without one are left out."""
    verdicts = {}
    for found in _gathered(metas, members):
        for member in found.members:
            if found.objective and member.result.place.get("role") == "point":
                verdicts[member.index] = _verdict(found.objective, [member.result])
    return verdicts


def _gathered(metas: Sequence[Run], members: Sequence[Member]) -> list[_Found]:
    """The experiments of all runs by name and kind, each with its points in the order they were measured."""
    definitions = [{item["name"]: item for item in meta.get("experiments") or []} for meta in metas]
    found: dict[tuple[str, str], _Found] = {}
    for member in sorted(members, key=lambda member: (member.run, member.result.id)):
        place = member.result.place
        if not place:
            continue
        name, kind = place["experiment"], place["kind"]
        unknown: StoredExperiment = {"name": name, "configurations": []}
        definition = definitions[member.run].get(name) or unknown
        known = found.setdefault((name, kind), _Found(definition, kind, _objective(definition), [], []))
        known.members.append(member)
    for run, meta in enumerate(metas):
        for conclusion in meta.get("conclusions") or []:
            known_kind = found.get((conclusion.get("experiment"), conclusion.get("kind")))
            if known_kind:
                known_kind.conclusions.append((run, conclusion))
    return list(found.values())


def _objective(definition: StoredExperiment) -> Objective | None:
    text = definition.get("objective")
    try:
        return parse_objective(text) if text else None
    except InputError:
        return None


def _axis(found: _Found) -> str | None:
    """The option that makes the level: the only axis, or the only setting that the points were given."""
    over = found.definition.get("over") or []
    if offers_rates(found.kind):
        return "percent of the maximum" if _curve_levels_are_percent(found) else "rate"
    if len(over) == 1:
        return str(over[0]["option"])
    options = {option for member in found.members for option in member.result.place.get("settings") or {}}
    return options.pop() if len(options) == 1 else None


def _curve_levels_are_percent(found: _Found) -> bool:
    percents = {float(percent) for percent in (found.definition.get("parameters") or {}).get("percent") or []}
    levels = {member.result.place.get("level") for member in found.members if member.result.place.get("role") == "point"}
    return bool(levels) and levels <= percents


def _subjects(found: _Found) -> list[Subject]:
    groups: dict[tuple[str, int], list[Member]] = {}
    for member in found.members:
        groups.setdefault((member.result.job.workload, member.configuration), []).append(member)
    return [_subject(found, configuration, own) for (_, configuration), own in sorted(groups.items(), key=_as_measured(groups))]


def _as_measured(groups: Mapping[tuple[str, int], Sequence[Member]]) -> Any:
    """Workloads in the order they were run, the configurations of each side by side."""
    workloads = list(dict.fromkeys(workload for workload, _ in groups))
    return lambda item: (workloads.index(item[0][0]), item[0][1])


def _subject(found: _Found, configuration: int, own: Sequence[Member]) -> Subject:
    results = [member.result for member in own]
    job = results[0].job
    indices = {id(member.result): member.index for member in own}
    has_levels = any(result.place.get("level") is not None for result in results if result.place.get("role") == "point")
    no_line: _LineFigures = {"lines": [], "mark": None, "knee": None, "saturation": None, "notes": []}
    line = _line_figures(found, results, indices) if is_drawn(found.kind, "line") and has_levels else no_line
    return {
        "workload": job.workload,
        "title": job.title,
        "group": group_of(job.group),
        "configuration": configuration,
        "modelled": any(result.modelled for result in results),
        "in_bytes": in_bytes(results),
        "rate_noun": rate_noun(results),
        "rate_factor": spoken(1.0, rate_noun(results)),
        "points": [member.index for member in own],
        "sentences": _sentences(found, own),
        **line,
        "scaling": scaling(results, indices) if is_drawn(found.kind, "speed-up") and not _has_curves(results) else None,
        "steady": rounds(results, indices, found.definition.get("parameters") or {}) if is_drawn(found.kind, "rounds") else None,
        "cells": _cells(results, indices) if is_drawn(found.kind, "cells") else [],
        "host": _host_levels(results),
    }


def _host_levels(results: Sequence[Result]) -> list[HostLevel]:
    """In the order of levels, repeats in the order measured."""
    levelled = [(level, result) for result in results if (level := result.place.get("level")) is not None]
    points = [(level, result) for level, result in levelled if result.place.get("role") == "point"]
    rows: list[HostLevel] = [
        {"level": level, **use} for level, result in sorted(points, key=lambda point: point[0]) if (use := host_use(result)) is not None
    ]
    return rows if len({row["level"] for row in rows}) > 1 else []


def _has_content(subject: Subject) -> bool:
    return any((subject["sentences"], subject["lines"], subject["scaling"], subject["steady"], subject["cells"]))


def _sentences(found: _Found, own: Sequence[Member]) -> list[str]:
    """What the planner concluded, as stored with the run."""
    subjects = {(member.run, member.result.place.get("subject"), member.result.place.get("configuration")) for member in own}
    return [
        sentence
        for run, conclusion in found.conclusions
        if (run, conclusion.get("workload"), conclusion.get("configuration")) in subjects
        for sentence in conclusion.get("sentences") or []
    ]


def _line_figures(found: _Found, results: Sequence[Result], indices: Mapping[int, int]) -> _LineFigures:
    objective = found.objective
    lines = [(load_line(results, op, metric), limit) for op, metric, limit in _responses(results, objective)]
    whole = load_line(results)
    mark = mark_of(results, objective) if objective else None
    failed = {level: [result for result in group if result.status == "failed"] for level, group in by_level(results)}

    def verdict(point: LoadPoint) -> ObjectiveVerdict | None:
        # A repeat that failed makes its level fail, as it does for the mark.
        return _verdict(objective, [*failed[point.level], *point.repeats]) if objective else None

    return {
        "lines": [_line(line, limit, verdict, indices) for line, limit in lines if line.points],
        "mark": mark.to_json() if mark else None,
        "notes": list(mark.notes) if mark else [],
        "knee": _knee(whole),
        "saturation": _saturation(whole),
    }


def _responses(results: Sequence[Result], objective: Objective | None) -> list[tuple[str, str, float | None]]:
    """Whose response to draw: (operation, metric, limit). What the objective asks comes first, then means and 99th percentiles."""
    ops: list[str] = [op for op in OPS if any(result.totals.get(op) and result.totals[op].latency_ns for result in results)]
    is_list = all(asks_a_list(result.job.definition) for result in results)
    asked = [
        (op, clause.metric, clause.limit)
        for clause in (objective.clauses if objective else ())
        if clause.is_latency
        for op in ([clause.op] if clause.op else [ALL] if is_list else ops)
    ]
    # One operation alone is all there is; of queries all together have a line before each has.
    all_together = [(ALL, "p95", None)] if is_list else []
    usual = [(ops[0] if len(ops) == 1 else ALL, "mean", None), *all_together, *((op, "p95" if is_list else "p99", None) for op in ops)]
    chosen: dict[tuple[str, str], float | None] = {}
    for op, metric, limit in [*asked, *usual]:
        chosen.setdefault((op, metric), limit)
    return [(op, metric, limit) for (op, metric), limit in chosen.items()]


def _line(line: LoadLine, limit: float | None, verdict: Verdict, indices: Mapping[int, int]) -> LoadLineView:
    return {
        "op": line.op,
        "metric": line.metric,
        "limit_ns": limit,
        "points": [_load_point(point, verdict, indices) for point in line.points],
    }


def _load_point(point: LoadPoint, verdict: Verdict, indices: Mapping[int, int]) -> LoadPointView:
    return {
        "level": point.level,
        "iops": estimate_view(point.iops),
        "bytes_per_s": estimate_view(point.bytes_per_s),
        "response": estimate_view(point.response),
        "offered_per_s": point.offered_per_s,
        "points": [indices[id(result)] for result in point.repeats],
        "verdict": verdict(point),
    }


def _verdict(objective: Objective, repeats: Sequence[Result]) -> ObjectiveVerdict:
    judgement = judge(objective, repeats)
    verdict: ObjectiveVerdict = {
        "objective": str(objective),
        "holds": judgement.holds,
        "settled": judgement.settled,
        "failed_by": judgement.failed_by,
    }
    return {**verdict, "undecided": True} if judgement.undecided else verdict


def _knee(line: LoadLine) -> KneeView | None:
    found = knee(line)
    if found is None:
        return None
    return {
        "level": found.level,
        "iops": found.iops,
        "at_edge": found.at_edge,
        "bytes_per_s": found.iops * _request_bytes(line, found.level),
        "method": METHOD,
    }


def _saturation(line: LoadLine) -> SaturationView | None:
    found = saturation(line)
    if found is None:
        return None
    return {
        "level": found.level,
        "iops": estimate_view(found.iops),
        "bytes_per_s": found.iops.value * _request_bytes(line, found.level),
        "reached": found.reached,
        "method": METHODS[found.sign],
    }


def _request_bytes(line: LoadLine, level: float) -> float:
    """Bytes per request at a level: what turns requests per second into bytes per second."""
    point = next((point for point in line.points if point.level == level), None)
    return point.bytes_per_s.value / point.iops.value if point and point.iops.value else 0.0


def _cells(results: Sequence[Result], indices: Mapping[int, int]) -> list[MatrixCell]:
    """One cell per combination of settings, repeats pooled; a combination that failed has no values."""
    groups: dict[str, list[Result]] = {}
    for result in results:
        if result.place.get("role") == "point":
            groups.setdefault(json.dumps(result.place.get("settings") or {}, default=str), []).append(result)
    return [_cell(json.loads(settings), group, indices) for settings, group in groups.items()]


def _cell(settings: Settings, group: Sequence[Result], indices: Mapping[int, int]) -> MatrixCell:
    measured = usable(group)
    values = {name: pooled_metric(measured, ALL, name) for name in MATRIX_METRICS}
    return {
        "settings": settings,
        "points": [indices[id(result)] for result in group],
        "values": {name: estimate_view(estimate) if estimate else None for name, estimate in values.items()},
    }


def _has_curves(results: Sequence[Result]) -> bool:
    """Whether what grows has curves of its own in the section of its driver."""
    return all(runs_workflows(result.job.definition) for result in results)
