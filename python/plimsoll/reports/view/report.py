"""The view model of a report: its points, and what the other files of this room add to them.

Model: a *point* is one stored result. Points of the same workload measured in the same *configuration* (run, target and, where one
run steps it, the level) are repeats of each other; a bar of the report is the mean of the repeats, its error bar their extremes.
Nothing is formatted here: values are bytes, nanoseconds and per-second rates exactly as stored, and the page turns them into words.
Latencies that requests without an answer raise are the lower bounds of `plimsoll.analysis.point.repeats`.
Limits: no statistics beyond mean, minimum and maximum of repeats; whether two configurations differ is not decided here.

    view([RunRecord("base", "complete", run_json, points)], decode)["points"][0]["totals"]["read"]["iops"]
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NotRequired, TypedDict

from plimsoll.analysis.comparison.comparison import Comparison, ComparisonView
from plimsoll.analysis.comparison.names import short_names
from plimsoll.analysis.price.per_unit import Prices, PricesView
from plimsoll.experiments.kinds import kind_titles
from plimsoll.reports.layouts import LayoutView, layout_views
from plimsoll.reports.limits import configuration_words
from plimsoll.reports.view.answer import AnswerView, answer_view
from plimsoll.reports.view.bars import Group, Rate, Slice, groups, largest, slices
from plimsoll.reports.view.comparison import Published, Suite, compare_configurations, published_figures, suite
from plimsoll.reports.view.distribution import Decoder
from plimsoll.reports.view.drivers import WITH_BARS, DriverSections, driver_key, driver_sections
from plimsoll.reports.view.experiments import Experiment, Member, experiments, point_verdict
from plimsoll.reports.view.point import GROUPS, SEVERITIES, Course, Drawing, FlagView, Placed, PointRecord, PointView, course, point_view
from plimsoll.reports.view.timeline import COLUMNS
from plimsoll.result import JobRecord, Op, Severity, Status
from plimsoll.stored import Run

__all__ = ["SCHEMA", "Heard", "Outlined", "PointRecord", "Report", "RunRecord", "outlined", "view"]

#: Hears how many points are drawn, and of how many.
Heard = Callable[[int, int], None]

SCHEMA: Literal["plimsoll.report/1"] = "plimsoll.report/1"
_GROUP_ORDER: dict[str, int] = {name: position for position, name in enumerate(GROUPS)}
#: Points whose course over time is kept as fine as the screen; with more of them each is coarser, since each is looked at less.
FINE_POINTS = 48
COLUMNS_MIN = 20


@dataclass(frozen=True)
class RunRecord:
    """One run as stored: what it is called, how it ended, `run.json`, its points."""

    label: str
    status: str
    meta: Run
    points: Sequence[PointRecord]


class RunView(TypedDict):
    """One run."""

    label: str
    status: str
    created: str | None
    command: list[str] | str | None
    host: dict[str, Any]
    targets: dict[str, Any]
    versions: dict[str, Any]
    calibration: Any


class ConfigurationView(TypedDict):
    """One of the things that the report shows side by side."""

    label: str
    run: int
    target: str
    modelled: bool


class Extreme(TypedDict):
    """Which point holds an extreme."""

    value: float
    point: int
    op: NotRequired[Op]
    #: A lower bound: requests had no answer when the measured time ended.
    at_least: NotRequired[bool]


class Flagged(TypedDict):
    """Points with a flag of each severity."""

    invalid: int
    doubt: int
    note: int


class Verdict(TypedDict):
    """What the first sentences of the report are made of."""

    points: int
    status: dict[Status, int]
    modelled: int
    errors: int
    flagged: Flagged
    unflagged: int
    highest_iops: Extreme | None
    highest_bytes_per_s: Extreme | None
    lowest_p99_ns: Extreme | None
    highest_p99_ns: Extreme | None
    #: A sentence per modelled configuration: which components limited its points.
    limits: list[str]


class FlaggedPoint(TypedDict):
    """What a flag says of one point."""

    point: int
    message: str
    advice: str


class FlagKind(TypedDict):
    """A flag, with all points that carry it."""

    name: str
    severity: Severity
    points: list[FlaggedPoint]


class Report(TypedDict):
    """The whole report."""

    schema: Literal["plimsoll.report/1"]
    runs: list[RunView]
    configurations: list[ConfigurationView]
    answer: AnswerView
    verdict: Verdict
    flags: list[FlagKind]
    #: The bar charts at first sight: those of the slice that holds the most points.
    groups: list[Group]
    #: One per set of settings that experiments gave the points of bars; a single one without settings elsewhere.
    slices: list[Slice]
    points: list[PointView]
    suite: Suite | None
    experiments: list[Experiment]
    #: What the kinds of experiments that points belong to are called, by their names.
    kinds: dict[str, str]
    published: list[Published]
    comparison: ComparisonView | None
    prices: PricesView | None
    #: Where Plimsoll laid the storage out.
    layouts: list[LayoutView]
    drivers: DriverSections


@dataclass(frozen=True)
class Shown:
    """What is shown besides the runs: a comparison instead of the report's own, and what the sides cost."""

    comparison: Comparison | None = None
    prices: Prices | None = None


@dataclass(frozen=True)
class Outlined:
    """A report whose points have no courses over time yet, and these courses, drawn one by one while they are gone through."""

    report: Report
    courses: Iterable[Course]


def view(runs: Sequence[RunRecord], decode: Decoder, shown: Shown = Shown(), heard: Heard | None = None) -> Report:
    """The whole report as JSON-ready data; `decode` turns a stored histogram into its buckets.

    ``heard`` is told how many points are drawn, and of how many.
    """
    found = outlined(runs, decode, shown, heard)
    for point, drawn in zip(found.report["points"], found.courses, strict=True):
        point["timeline"], point["host"] = drawn["timeline"], drawn["host"]
    return found.report


def outlined(runs: Sequence[RunRecord], decode: Decoder, shown: Shown = Shown(), heard: Heard | None = None) -> Outlined:
    """`view` for who writes the points one after the other: courses are most of a report, and one at a time takes no room."""
    placed, configurations = _place(runs)
    metas = [run.meta for run in runs]
    labels = [configuration["label"] for configuration in configurations]
    members = [Member(index, point.run, point.configuration, point.record.result) for index, point in enumerate(placed)]
    verdicts = point_verdict(metas, members)
    points = [point_view(index, point, verdicts.get(index)) for index, point in enumerate(placed)]
    sections = driver_sections(members)
    drawn_there = WITH_BARS.intersection(sections)
    found = slices([point for point in points if driver_key(point["definition"]) not in drawn_there], len(configurations))
    compared = shown.comparison if shown.comparison is not None else compare_configurations(metas, members, labels)
    report: Report = {
        "schema": SCHEMA,
        "runs": [_run(run) for run in runs],
        "configurations": configurations,
        "answer": answer_view(metas, members, labels, compared),
        "verdict": _verdict(points, labels),
        "flags": _flags(points),
        "groups": largest(found)["groups"] if found else groups([], 0),
        "slices": found,
        "points": points,
        "suite": suite(metas),
        "experiments": experiments(metas, members),
        "kinds": kind_titles(point["place"]["kind"] for point in points if point["place"]),
        "published": published_figures(metas, members, labels),
        "comparison": compared.to_json() if compared is not None else None,
        "prices": shown.prices.to_json() if shown.prices is not None else None,
        "layouts": layout_views((labels[member.configuration], [member.result]) for member in members),
        "drivers": sections,
    }
    return Outlined(report, _courses([point.record for point in placed], Drawing(decode, columns_of(len(placed))), heard))


def _courses(records: Sequence[PointRecord], drawing: Drawing, heard: Heard | None) -> Iterator[Course]:
    for number, record in enumerate(records, start=1):
        drawn = course(record, drawing)
        if heard is not None:
            heard(number, len(records))
        yield drawn


def columns_of(points: int) -> int:
    """In how many columns the course of each of so many points is drawn."""
    share = min(1.0, FINE_POINTS / max(points, 1))
    return max(COLUMNS_MIN, int(COLUMNS * share**2))


def _place(runs: Sequence[RunRecord]) -> tuple[list[Placed], list[ConfigurationView]]:
    """Give every point its configuration; a configuration is named by whatever distinguishes it from the others."""
    keys: list[tuple[int, str, str]] = []
    records: list[tuple[int, PointRecord]] = []
    for index, run in enumerate(runs):
        stepped = _stepped(run)
        for record in run.points:
            job = record.result.job
            planned = record.result.place
            level = _level(job) if not planned and (job.target, job.workload) in stepped else ""
            keys.append((index, planned.get("configuration") or job.target, level))
            records.append((index, record))
    distinct = list(dict.fromkeys(keys))
    named = all(run.meta.get("label") for run in runs)
    # What nobody named is called by the words that tell its target from the others'.
    unnamed = {key[1] for key, (_, record) in zip(keys, records, strict=True) if key[1] == record.result.job.target}
    short = short_names([side for side in dict.fromkeys(key[1] for key in distinct) if side in unnamed])
    labels = _labels([(runs[index].label, short.get(side, side), level) for index, side, level in distinct], named=named)
    modelled = {key for key, (_, record) in zip(keys, records, strict=True) if record.result.modelled}
    targets = {key: record.result.job.target for key, (_, record) in reversed(list(zip(keys, records, strict=True)))}
    configurations: list[ConfigurationView] = [
        {"label": label, "run": key[0], "target": targets[key], "modelled": key in modelled}
        for key, label in zip(distinct, labels, strict=True)
    ]
    place = {key: position for position, key in enumerate(distinct)}
    placed = [Placed(run, place[key], record) for key, (run, record) in zip(keys, records, strict=True)]
    return _side_by_side(placed), configurations


def _side_by_side(placed: Sequence[Placed]) -> list[Placed]:
    """Order by group and workload, so that what is to be compared stands together; workloads stay in the order they were run in."""
    workloads = list(dict.fromkeys(point.record.result.job.workload for point in placed))
    experiment_names = list(dict.fromkeys(point.record.result.place.get("experiment") for point in placed))

    def position(point: Placed) -> tuple[float, ...]:
        job, place = point.record.result.job, point.record.result.place
        level = place.get("level")
        return (
            _GROUP_ORDER.get(job.group, len(GROUPS)),
            workloads.index(job.workload),
            experiment_names.index(place.get("experiment")),
            point.configuration,
            -math.inf if level is None else level,
            0 if place and not level else job.repeat,
        )

    return sorted(placed, key=position)


def _stepped(run: RunRecord) -> set[tuple[str, str]]:
    """The (target, workload) pairs that a run measured at more than one level."""
    seen: dict[tuple[str, str], set[str]] = {}
    for record in run.points:
        job = record.result.job
        seen.setdefault((job.target, job.workload), set()).add(_level(job))
    return {pair for pair, levels in seen.items() if len(levels) > 1}


def _level(job: JobRecord) -> str:
    return f"{job.threads} × {job.queue_depth or 'mixed'}"


def _labels(names: Sequence[tuple[str, str, str]], *, named: bool) -> list[str]:
    """The shortest labels out of (run, target, level) that differ: the run's when the user `named` every run, else the target's."""
    run, target, level = 0, 1, 2
    first, second = (run, target) if named else (target, run)
    for parts in ((first,), (second,), (first, level), (second, level), (first, second), (first, second, level)):
        labels = [" · ".join(name[part] for part in parts if name[part]) for name in names]
        if len(set(labels)) == len(names) and all(labels):
            return labels
    return [f"{' · '.join(filter(None, name))} ({position})" for position, name in enumerate(names, start=1)]


def _run(run: RunRecord) -> RunView:
    first = run.points[0].result if run.points else None
    return {
        "label": run.label,
        "status": run.status,
        "created": run.meta.get("created"),
        "command": run.meta.get("command"),
        "host": {**(run.meta.get("host") or {})},
        "targets": {point.result.job.target: point.result.host.get("target") for point in run.points if point.result.host.get("target")},
        "versions": run.meta.get("versions") or (first.versions if first else {}),
        "calibration": first.calibration if first else None,
    }


def _verdict(points: Sequence[PointView], labels: Sequence[str]) -> Verdict:
    """What the first sentences of the report are made of: counts, and which point holds each extreme."""
    flagged: Flagged = {"invalid": 0, "doubt": 0, "note": 0}
    # What a failed point measured stays in its row; nothing is the best of the run by it.
    stands = [point for point in points if point["status"] != "failed"]
    for point in points:
        for severity in {flag["severity"] for flag in point["flags"]}:
            flagged[severity] += 1
    return {
        "points": len(points),
        "status": dict(Counter(point["status"] for point in points)),
        "modelled": sum(point["modelled"] for point in points),
        "errors": sum(total["errors"] for point in points for total in point["totals"].values()),
        "flagged": flagged,
        "unflagged": sum(not point["flags"] for point in points),
        "highest_iops": _extreme(stands, "iops"),
        "highest_bytes_per_s": _extreme(stands, "bytes_per_s"),
        "lowest_p99_ns": _slowest(stands, lowest=True),
        "highest_p99_ns": _slowest(stands, lowest=False),
        "limits": _limits(points, labels),
    }


def _limits(points: Sequence[PointView], labels: Sequence[str]) -> list[str]:
    """Of each modelled configuration what limited its points, and what failed in it."""
    said: dict[int, list[str]] = {}
    for point in points:
        if point["limit"]:
            said.setdefault(point["configuration"], []).append(point["limit"]["said"])
    told = []
    for configuration in sorted(said):
        told.append(configuration_words(labels[configuration], said[configuration]))
        failed = [point["incidents"] for point in points if point["configuration"] == configuration and point["incidents"]]
        more = f" So at {len(failed)} of {len(said[configuration])} points." if len(failed) > 1 else ""
        told += [f"{labels[configuration]}, failures: {failed[0]}.{more}"] if failed else []
    return told


def _extreme(points: Sequence[PointView], key: Rate) -> Extreme | None:
    sums = [(point["together"][key], -point["index"]) for point in points if key in point["together"]]
    return {"value": max(sums)[0], "point": -max(sums)[1]} if sums else None


def _slowest(points: Sequence[PointView], *, lowest: bool) -> Extreme | None:
    values = [
        (latency["p99"], point["index"], op, "p99" in total.get("at_least", ()))
        for point in points
        for op, total in point["totals"].items()
        if (latency := total["latency_ns"]) and latency["p99"]
    ]
    if not values:
        return None
    value, index, op, at_least = min(values) if lowest else max(values)
    return {"value": value, "point": index, "op": op, "at_least": at_least}


def _flags(points: Sequence[PointView]) -> list[FlagKind]:
    """Every kind of flag once, the worst first, with the points that carry it."""
    kinds: dict[str, FlagKind] = {}
    for point in points:
        of_point: dict[str, FlagView] = {}
        for flag in point["flags"]:
            # The gravest stands first.
            of_point.setdefault(flag["name"], flag)
        for name, flag in of_point.items():
            kind = kinds.setdefault(name, {"name": name, "severity": flag["severity"], "points": []})
            kind["severity"] = min(kind["severity"], flag["severity"], key=SEVERITIES.index)
            kind["points"].append({"point": point["index"], "message": flag["message"], "advice": flag["advice"]})
    return sorted(kinds.values(), key=lambda kind: SEVERITIES.index(kind["severity"]))
