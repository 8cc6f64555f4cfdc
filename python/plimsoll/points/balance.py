"""How long a modelled array is loaded before it is measured, and until when it is measured, where nobody has chosen these times.

An array begins every point with empty caches. Until its write cache has filled to the watermark at which destaging begins, writes cost the
drives nothing, so every figure is too good, and arrays that differ in what a write costs look alike. Virtual time costs little, so the
point's own load is run ahead of the point, without being recorded, until the write caches are in balance; the point then warms up for as
long as that took. It is measured for a minute or more, and goes on by itself until its mean latency is steady and known to `PRECISION`, so
that what differs by more can be told apart, or the model is exhausted: after `LIMIT_S`, or `DECIDED_REQUESTS_MAX` requests.

Model: caches are in balance when each that holds anything has begun to destage because of how much it holds, or when what they hold no
longer grows: its largest value in the later half of the time is hardly larger than in the earlier half (a load that destaging in pauses
keeps up with, or that writes the same pages again and again). What follows the first destaging differs a little from what follows later
ones, hence `MARGIN`. The load ahead is the same load with the same seed, so equal points warm up equally long.
Limits: what changes by the clock of the job (schedules, traces, streams that end, members that fail) is left as it is; drives' own buffers
are small and not looked at; flash that is yet to be preconditioned is no matter of caches. A slow load fills a large cache for hours, so
what is not in balance after `LIMIT_S` is run again in `_COARSE` intervals. A balance that needs more than `BALANCE_S_MAX` or `REQUESTS_MAX`
requests is not waited for: the flag `cache_filling` tells. Caches for reads are no part of the balance: until they have filled, the
response is not steady.

    point = balanced(point, engine, engine.control())       # the same point with another warm-up, duration and precision
"""

from __future__ import annotations

from dataclasses import field, replace
from typing import Any

from plimsoll.analysis.point.definition import ends_by_itself, streams
from plimsoll.catalog.composition.failures import scheduled
from plimsoll.engine.protocol import Control, Engine, Job
from plimsoll.errors import PlimsollError
from plimsoll.points.cache_state import COLD
from plimsoll.points.point import PlannedPoint
from plimsoll.records import dataclass
from plimsoll.stored import Interval, Options

#: The options that say how long a point takes.
TIMING = ("duration", "warmup")
#: Virtual minutes are measured: one, or up to three until percentiles have requests enough, and less where requests are many.
MEASURED_S = 60.0
MEASURED_S_MAX = 180.0
MEASURED_REQUESTS = 20_000
MEASURED_REQUESTS_MAX = 500_000
#: How far the 95 % interval of the mean latency may reach from it, unless another precision was asked for.
PRECISION = "2%"
#: So many requests are measured at most for that.
DECIDED_REQUESTS_MAX = 2_000_000
#: How long a point is measured, and how long a balance is looked for in short intervals.
LIMIT_S = 1_800.0
#: How long a balance is waited for.
BALANCE_S_MAX = 86_400.0
REQUESTS_MAX = 2_000_000
#: A load that keeps nothing in the caches is looked at for so long, or for so many requests.
LOOKED_S = 2.0
LOOKED_REQUESTS = 20_000
#: Warm-up over the time after which destaging had begun.
MARGIN = 1.5
#: What the caches hold has stopped growing when the later half of the time adds no more than this.
GROWTH_MAX = 0.02
LEVEL_S_MIN = 20.0
_INTERVAL = "250ms"
_COARSE = "10s"
#: A point has so many intervals, as `interval = "auto"` has it.
INTERVALS = 40
#: Options of a stream by which its load changes with the clock of the job.
_TIMED = ("start_after", "end_after", "amount", "requests", "passes", "trace", "schedule")


def balanced(point: PlannedPoint, engine: Engine, control: Control) -> PlannedPoint:
    """``point`` with the times that nobody chose (`PlannedPoint.chosen`) as its array needs them; ``control`` ends the load ahead."""
    left = [name for name in TIMING if name not in point.chosen]
    if not left or not _is_loaded_evenly(point):
        return point
    course = _run_ahead(point, engine, control)
    if course is None:
        return point
    options: Options = {**point.options}
    if "warmup" in left:
        options["warmup"] = max(options["warmup"], _whole(course.settled_s))
    if "duration" not in left:
        return replace(point, options=options)
    least_s = max(options["duration"], _whole(_measured_s(course.rate_per_s)))
    options["duration"] = max(least_s, _whole(min(LIMIT_S, DECIDED_REQUESTS_MAX / max(course.rate_per_s, 1.0))))
    _, options = engine.set_option(point.workload, options, "interval", _interval_of(point, least_s))
    own = point.decides_itself or point.precision is None
    return replace(point, options=options, precision=point.precision or PRECISION, least_s=least_s, decides_itself=own)


def _interval_of(point: PlannedPoint, least_s: float) -> str:
    """As fine as for a point of that length: it ends long before the time limit."""
    asked = point.options.get("interval")
    if asked != "auto":
        return f"{asked}s" if isinstance(asked, float | int) else str(asked)
    return next((f"{ms}ms" for ms in (1000, 500, 250) if least_s * 1000 / ms >= INTERVALS), "100ms")


def _measured_s(rate_per_s: float) -> float:
    """For how long a load of this rate is measured."""
    enough_s = min(max(MEASURED_S, MEASURED_REQUESTS / max(rate_per_s, 1.0)), MEASURED_S_MAX)
    return min(enough_s, MEASURED_REQUESTS_MAX / max(rate_per_s, 1.0))


def _is_loaded_evenly(point: PlannedPoint) -> bool:
    """Whether the load of an array is the same at any time."""
    document = point.target.document
    if document is None or point.amount is not None or point.cache == COLD or ends_by_itself(point.workload):
        return False
    if any(scheduled(document, at) for at in ("at", "replaced_at")):
        return False
    return not any(stream.get(key) for stream in streams(point.workload) for key in _TIMED)


def _whole(seconds: float) -> float:
    """Rounded up to a whole second, or to a tenth below one: times are shown, and typed again."""
    step = 1.0 if seconds > 1.0 else 0.1
    return -(-seconds // step) * step


@dataclass
class _Course:
    """What the caches held in the course of the load ahead."""

    #: What the caches hold is not taken for level before.
    level_s_min: float
    seconds: float = 0.0
    count: int = 0
    destages: bool = False
    settled: bool = False
    #: The most that the caches held up to the end of each interval.
    most: list[int] = field(default_factory=list)
    #: How many intervals there were when they held anything last.
    filled: int = 0

    @property
    def rate_per_s(self) -> float:
        return self.count / self.seconds if self.seconds else 0.0

    @property
    def settled_s(self) -> float:
        """After how long the point may be measured; 0 when nothing is kept."""
        if not self.filled:
            return 0.0
        return self.seconds * (MARGIN if self.destages else 1.0)

    def add(self, interval: Interval) -> bool:
        """One interval; whether enough was seen."""
        caches = interval.get("write_caches") or {}
        bytes_ = int(caches.get("dirty_bytes") or 0)
        self.seconds = interval["end_ns"] / 1e9
        self.most.append(max(bytes_, self.most[-1] if self.most else 0))
        self.filled = len(self.most) if bytes_ else self.filled
        self.count += sum(int(entry["count"]) for entry in interval.get("summary", {}).values())
        nothing = not self.filled
        self.destages = bool(caches.get("destages")) and not nothing
        looked = self.seconds >= LOOKED_S or self.count >= LOOKED_REQUESTS
        self.settled = self.destages or (nothing and looked) or self._is_level()
        return self.settled or self.count >= REQUESTS_MAX

    def _is_level(self) -> bool:
        """Whether the most of all is hardly more than the most of the earlier half, and the later half holds anything."""
        if self.seconds < self.level_s_min:
            return False
        half = len(self.most) // 2
        return self.filled > half and self.most[-1] <= self.most[half - 1] * (1.0 + GROWTH_MAX)


def _run_ahead(point: PlannedPoint, engine: Engine, control: Control) -> _Course | None:
    """The load until its caches are in balance; None when it cannot be run: the point itself will say why."""
    course = _loaded(point, engine, control, (_INTERVAL, LIMIT_S, LEVEL_S_MIN))
    if course is None or course.settled or course.count >= REQUESTS_MAX or control.stopped or course.seconds < LIMIT_S:
        return course
    return _loaded(point, engine, control, (_COARSE, BALANCE_S_MAX, LIMIT_S))


def _loaded(point: PlannedPoint, engine: Engine, control: Control, times: tuple[str, float, float]) -> _Course | None:
    """The load in such intervals, for as long at most, level no sooner than that."""
    interval, most_s, level_s_min = times
    course = _Course(level_s_min=level_s_min)

    def take(kind: str, event: Any) -> None:
        # What was under way when enough had been seen is no part of it.
        if kind == "interval" and not control.stopped and course.add(event):
            control.stop()

    options: Options = {**point.options, "warmup": 0.0, "duration": most_s}
    try:
        _, options = engine.set_option(point.workload, options, "interval", interval)
        job: Job = {"workload": point.workload, "job": options, "target": point.target, "permission": None}
        engine.run_job(job, take, control)
    except PlimsollError:
        return None
    return course if course.most else None
