"""A run that is being measured, as far as it has come: the point that goes on, and a report of those that ended.

Model: the store's lines are read from where the last look ended; the charts are those of the report, made of the newest `WINDOW` intervals,
so that a look costs the same after a minute and after a week. The report has the points that ended, without their courses over time.
Limits: what is older than `WINDOW` intervals of the point that goes on is in its report later, and not here.

    following = Following(open_run("results/2026-11-23T08-00-58_ramp-oltp-db"))
    following.look()["point"]
"""

from __future__ import annotations

import os
import time
from typing import TypedDict

from plimsoll.displayed import displayed_in_line
from plimsoll.errors import StoreError
from plimsoll.histogram import distribution
from plimsoll.reports.progress import settings_text
from plimsoll.reports.view.point import Drawing, Placed, PointView, course, point_view
from plimsoll.reports.view.report import PointRecord, Report, RunRecord, view
from plimsoll.result import Result
from plimsoll.store.document import fitting, read_document
from plimsoll.store.reader import StoredPoint, StoredRun, open_run
from plimsoll.store.tail import Tail
from plimsoll.store.writer import HOSTS
from plimsoll.stored import HostAt, Interval, Phase, Sample

#: Intervals of the point that goes on that are shown, and the columns that they become.
WINDOW = 480
COLUMNS = 120
#: Seconds for which nobody looks at the run again.
FRESH_S = 0.5


class LivePoint(TypedDict):
    """The point that goes on."""

    #: As the report shows it, with its course over the newest intervals.
    point: PointView
    #: What the experiment set for it: ``queue_depth 4``.
    settings: str
    phase: Phase | None
    passed_s: float
    planned_s: float
    errors: int
    #: How far each of several hosts is; empty where one measures.
    hosts: list[HostAt]


class Live(TypedDict):
    """A run as far as it has come."""

    name: str
    label: str
    status: str
    #: Points that ended, and how many there are to be; None where results decide that.
    ended: int
    planned: int | None
    #: Seconds until its end, as far as that is known.
    left_s: float | None
    point: LivePoint | None


class _Hosts(TypedDict):
    hosts: list[HostAt]


class Following:
    """One run that is followed."""

    def __init__(self, run: StoredRun) -> None:
        self.path = run.path
        self._point: _FollowedPoint | None = None
        self._seen: Live | None = None
        self._looked_s = 0.0

    def look(self) -> Live:
        """The run as it is now, or was a moment ago. Raises `StoreError` when it is damaged or gone."""
        now_s = time.monotonic()
        if self._seen is None or now_s - self._looked_s >= FRESH_S:
            self._seen, self._looked_s = self._look(), now_s
        return self._seen

    def _look(self) -> Live:
        run = open_run(self.path)
        ended = [point for point in run.points if _has_result(point)]
        going = next((point for point in reversed(run.points) if not _has_result(point)), None) if run.status == "running" else None
        if going is None:
            self._point = None
        elif self._point is None or self._point.id != going.id:
            self._point = _FollowedPoint(going)
        point = self._point.look() if self._point is not None else None
        planned = run.meta.get("points_planned")
        return {
            "name": run.name,
            "label": displayed_in_line(run.label),
            "status": run.status,
            "ended": len(ended),
            "planned": planned,
            "left_s": _left_s(point, len(ended), planned),
            "point": point,
        }


def report_so_far(run: StoredRun) -> Report:
    """The view model of the points that ended, without their courses over time: answer, load lines, comparison, doubts."""
    points = [PointRecord(point.result) for point in run.points if _has_result(point)]
    return view([RunRecord(run.label, run.status, run.meta, points)], distribution)


class _FollowedPoint:
    """The lines of one point, read as they come."""

    def __init__(self, point: StoredPoint) -> None:
        self.id = point.id
        self._path = point.path
        self._skeleton: Result = _skeleton(point)
        self._intervals = Tail(os.path.join(point.path, "intervals.jsonl"), Interval, WINDOW)
        self._samples = Tail(os.path.join(point.path, "monitor.jsonl"), Sample, WINDOW)
        self._errors = 0

    def look(self) -> LivePoint:
        for interval in self._intervals.read():
            self._errors += sum(entry.get("errors") or 0 for entry in interval.get("summary", {}).values())
        self._samples.read()
        job = self._skeleton.job
        last = self._intervals.lines[-1] if self._intervals.lines else None
        record = PointRecord(self._skeleton, list(self._intervals.lines), list(self._samples.lines))
        return {
            "point": {**point_view(0, Placed(0, 0, record), None), **course(record, Drawing(distribution, COLUMNS))},
            "settings": displayed_in_line(settings_text(self._skeleton)),
            "phase": last["phase"] if last else None,
            "passed_s": last["end_ns"] / 1e9 if last else 0.0,
            "planned_s": job.warmup_s + job.duration_s,
            "errors": self._errors,
            "hosts": _hosts(self._path),
        }


def _skeleton(point: StoredPoint) -> Result:
    started = os.path.join(point.path, "job.json")
    return Result.from_json(read_document(started), started)


def _hosts(path: str) -> list[HostAt]:
    """What was kept of the hosts; the file goes with the end of the point."""
    kept = os.path.join(path, HOSTS)
    try:
        found: list[HostAt] = fitting(read_document(kept), _Hosts, kept)["hosts"]
    except StoreError:
        return []
    return [{**host, "name": displayed_in_line(host["name"]), "why": host["why"] and displayed_in_line(host["why"])} for host in found]


def _has_result(point: StoredPoint) -> bool:
    return os.path.lexists(os.path.join(point.path, "result.json"))


def _left_s(point: LivePoint | None, ended: int, planned: int | None) -> float | None:
    """As if every point took as long as the one that goes on was planned to."""
    if point is None:
        return None
    this_s = max(0.0, point["planned_s"] - point["passed_s"])
    return None if planned is None else this_s + max(0, planned - ended - 1) * point["planned_s"]
