"""The section of analytics workflows: report 002's figures as curves over workflows, and below them who was in which step at each level.

Model: a side is one configuration at one setting besides the number of workflows. Figures are those of
`plimsoll.analysis.analytics.levels`; the lanes of a level are of its first iteration.
Limits: lanes of iterations after the first are not drawn.

    workflows(members)["sides"][0]["levels"][-1]["stretch"]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict, cast

from plimsoll.analysis.analytics.guidance import PUBLISHED, verdict
from plimsoll.analysis.analytics.levels import SUMMARY_S, Level, Levels, levels_of
from plimsoll.analysis.load_line.scaling import UslFit, band
from plimsoll.analysis.point.workflows import section
from plimsoll.reports.analytics import banner
from plimsoll.reports.view.experiments import Member
from plimsoll.reports.view.point import EstimateView, Settings, estimate_view
from plimsoll.result import Estimate, Result
from plimsoll.stored import top_devices

#: Samples of the fitted curve.
_SAMPLES = 60


class WorkflowSpan(TypedDict):
    """A step under way, in seconds from the start of the point."""

    name: str
    start_s: float
    end_s: float


class WorkflowLane(TypedDict):
    """What one workflow did. ``ended`` says what became of it where that was not its end."""

    name: str
    spans: list[WorkflowSpan]
    ended: str


class WorkflowLevel(TypedDict):
    """A number of workflows: means over its iterations; null where nothing counts."""

    workflows: int
    #: The points of its iterations, the drawn one first.
    points: list[int]
    iterations: int
    failed: int
    wrong: int
    workflow_cpu_s: float | None
    workflow_real_s: float | None
    total_cpu_s: float | None
    total_real_s: float | None
    user_percent: float | None
    system_percent: float | None
    idle_percent: float | None
    wait_percent: float | None
    #: Of 4,096 bytes, per 2 seconds.
    blocks_in: float | None
    blocks_out: float | None
    bytes_in_per_s: float | None
    bytes_out_per_s: float | None
    #: What the programs moved, the page cache included.
    moved_in_per_s: float | None
    moved_out_per_s: float | None
    per_hour: EstimateView
    bytes_per_s: EstimateView | None
    per_core: EstimateView | None
    #: Against each of the published figures, in their order.
    verdicts: list[str]
    stretch: float | None
    limited_by: str | None
    #: Whether blocks are of the target's devices, and not of the whole host.
    of_devices: bool
    lanes: list[WorkflowLane]


class WorkflowFit(TypedDict):
    """The Universal Scalability Law over workflows."""

    contention: EstimateView
    coherency: EstimateView
    peak: float | None
    #: `[workflows, workflows per hour, lowest, highest]`; the last two are null without a band.
    curve: list[tuple[float, float, float | None, float | None]]


class WorkflowSide(TypedDict):
    """One configuration at one setting."""

    configuration: int
    title: str
    settings: Settings
    #: Of the workflows: rows, memory, buffer and what else was asked for, as texts.
    asked: list[tuple[str, str]]
    cores: int | None
    levels: list[WorkflowLevel]
    fit: WorkflowFit | None
    #: Why there is no fit.
    fit_note: str | None
    ended_at: int | None
    #: Kernel names of the target's devices.
    devices: list[str]


class AnalyticsWorkflows(TypedDict):
    """Analytics workflows on all sides; ``banner`` has to stand wherever their figures do."""

    banner: str
    #: What is asked of a file system for each core: what for, and bytes per second.
    asked_per_core: list[tuple[str, float]]
    #: Blocks are told per so many seconds.
    summary_s: float
    sides: list[WorkflowSide]


def workflows(members: Sequence[Member]) -> AnalyticsWorkflows | None:
    """None where no workflow came to its end."""
    places = {id(member.result): member for member in members}
    found: dict[int, list[Member]] = {}
    for member in members:
        found.setdefault(member.configuration, []).append(member)
    sides = [
        _side(side, configuration, places)
        for configuration in sorted(found)
        for side in levels_of([member.result for member in found[configuration]])
    ]
    if not sides:
        return None
    told = banner([member.result for member in members])
    return {"banner": told, "asked_per_core": list(PUBLISHED.items()), "summary_s": SUMMARY_S, "sides": sides}


def _side(side: Levels, configuration: int, places: Mapping[int, Member]) -> WorkflowSide:
    first = side.levels[0].results[0]
    settings = {name: value for name, value in (first.place.get("settings") or {}).items() if name != "workflows"}
    told: Mapping[str, Any] = (section(first.engine) or {}).get("asked") or {}
    fit = side.fit
    note: str | None = None
    if fit is None:
        note = "The Universal Scalability Law needs four levels without failures."
    elif fit.misfit is not None:
        note = fit.misfit.words()
        fit = None
    return {
        "configuration": configuration,
        "title": side.title,
        "settings": settings,
        "asked": [(name, str(value)) for name, value in told.items() if name != "workflows"],
        "cores": side.cores,
        "levels": [_level(level, places) for level in side.levels],
        "fit": None if fit is None else _fit(fit, side),
        "fit_note": note,
        "ended_at": None if side.end is None else side.end.workflows,
        "devices": [str(device["name"]) for device in top_devices(first.host.get("target"))],
    }


def _level(level: Level, places: Mapping[int, Member]) -> WorkflowLevel:
    figures = cast("WorkflowLevel", dict(level.means))
    return {
        **figures,
        "workflows": level.workflows,
        "points": [places[id(result)].index for result in level.results],
        "iterations": len(level.iterations),
        "failed": level.failed,
        "wrong": level.wrong,
        "per_hour": estimate_view(level.per_hour),
        "bytes_per_s": _viewed(level.bytes_per_s),
        "per_core": _viewed(level.per_core),
        "verdicts": [] if level.per_core is None else [verdict(level.per_core, asked) for asked in PUBLISHED.values()],
        "stretch": level.stretch,
        "limited_by": None if level.limit is None else level.limit.words(),
        "of_devices": level.counted == "devices",
        "lanes": _lanes(level.results[0]),
    }


def _viewed(found: Estimate | None) -> EstimateView | None:
    return None if found is None else estimate_view(found)


def _lanes(result: Result) -> list[WorkflowLane]:
    """Of the first iteration of a point, by number."""
    found: Mapping[str, Any] = section(result.engine) or {}
    first = min((int(one["number"]) for one in found.get("iterations") or ()), default=1)
    own = [one for one in found.get("workflows") or () if int(one["iteration"]) == first]
    return [
        {
            "name": str(one["number"]),
            "spans": [
                {"name": str(step["name"]), "start_s": float(step["start_s"]), "end_s": float(step["end_s"])}
                for step in one.get("steps") or ()
            ],
            "ended": "" if one["status"] == "complete" else str(one.get("failure") or one["status"]),
        }
        for one in sorted(own, key=lambda one: int(one["number"]))
    ]


def _fit(fit: UslFit, side: Levels) -> WorkflowFit:
    seen = [(level.workflows, one.per_hour) for level in side.levels for one in level.iterations if not one.failed]
    levels, rates = [float(number) for number, _ in seen], [rate for _, rate in seen]
    furthest = max(levels)
    steps = [1 + (furthest - 1) * step / _SAMPLES for step in range(_SAMPLES + 1)]
    return {
        "contention": estimate_view(fit.sigma),
        "coherency": estimate_view(fit.kappa),
        "peak": fit.peak_level,
        "curve": [(level, fit.throughput(level), *(band(fit, levels, rates, level) or (None, None))) for level in steps],
    }
