"""The mark: the highest throughput at which the objective holds.

Model: going up level by level (repeats pooled), the mark is the last level before the first that fails. Between that level and the
failing one the response crosses the limit; where, is interpolated with the throughput linear in the reciprocal of the response. In an
M/M/1 queue that scale is exact for the mean and for every percentile, because the response is a constant over μ − λ (Kleinrock,
"Queueing Systems" I, 1975, 3.2); between two neighbours of any rising line the choice of scale matters little.
The interval of the crossing comes from the line's band: its upper edge crosses the limit at the low end, its lower edge at the high end
(inversion of a confidence band, as in calibration: Draper and Smith, "Applied Regression Analysis", 3.2). Where noise lets an edge cross
more than once, the outermost upward crossing counts; a level beyond it that is too noisy to say anything changes nothing, because the
response does not fall as load rises. The throughput's own interval is added in quadrature. The interval is widened to contain
the mark and the crossing, so with coarse levels it also says how coarse.
A level with too few requests to show that it holds (`plimsoll.analysis.objective.sample_size`), or with none at all, neither holds nor
fails: it is passed over, and no mark rests on it. A note names those that could have raised the mark.
Limits: a clause that is no upper limit on a latency, or a level without response, has no crossing; the interval then spans the levels at
which the objective certainly held and certainly failed. No interval is given where one of its ends was not measured; the notes say so.

    mark = mark_of(results, parse_objective("read mean <= 20ms"))
    mark.iops, mark.interval, mark.failed_by
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from math import sqrt
from typing import TypedDict

from plimsoll.analysis.load_line.line import LoadLine, LoadPoint, achieved, by_level, load_line, usable
from plimsoll.analysis.objective.judgement import ClauseJudgement, Judgement, Objective, judge
from plimsoll.analysis.objective.sample_size import idle
from plimsoll.analysis.point.definition import has_rate
from plimsoll.analysis.point.metric import ALL, RATES, RESPONSES
from plimsoll.analysis.point.repeats import pooled_metric
from plimsoll.records import dataclass
from plimsoll.result import Estimate, Result

#: A point's response or one edge of its band; None where there is no interval.
Edge = Callable[[LoadPoint], float | None]

_OPEN_BELOW = "Lower bound unknown: even the lowest level is too noisy to be sure it met the limit."
_OPEN_ABOVE = "Upper bound unknown: no level clearly failed. Use higher levels or a longer --duration."
_NO_BAND = "No interval is known for the mark: the points around it have none. Measure longer, unless the metric never has one."
#: The same of points that ask for a list once: more time gives them nothing.
_OPEN_ABOVE_LIST = "Upper bound unknown: no level clearly failed. Use higher levels, or repeat them (--repeat 3)."
_NO_BAND_LIST = "No interval is known for the mark: what was done once has none. Repeat the levels (--repeat 3)."
_NEVER_FAILED = "No level failed: the mark is at least this. Measure higher levels to find it."


class MarkView(TypedDict):
    """A mark as ``--json`` and the page have it."""

    iops: float
    bytes_per_s: float
    level: float
    #: Of the throughput in IOPS at which the response crosses the limit.
    interval: tuple[float, float] | None
    objective: str
    failed_by: str | None
    next_level: float | None
    crossing: float | None
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Mark:
    """The highest load that held. ``interval`` is the 95 % interval of the throughput at which the response crosses the limit.

    ``failed_by`` names the clause of the objective that failed first above the mark, None when no level failed; ``next_level`` is the
    lowest level that failed. ``crossing`` is the interpolated throughput at the limit, None unless upper limits on latency alone
    failed. ``notes`` are sentences to know the mark by.
    """

    iops: float
    bytes_per_s: float
    level: float
    interval: tuple[float, float] | None
    objective: str
    failed_by: str | None
    next_level: float | None
    crossing: float | None = None
    notes: tuple[str, ...] = ()

    def to_json(self) -> MarkView:
        """As ``--json`` prints it."""
        return {
            "iops": self.iops,
            "bytes_per_s": self.bytes_per_s,
            "level": self.level,
            "interval": self.interval,
            "objective": self.objective,
            "failed_by": self.failed_by,
            "next_level": self.next_level,
            "crossing": self.crossing,
            "notes": self.notes,
        }


@dataclass(frozen=True)
class _Judged:
    """One level, judged."""

    level: float
    repeats: tuple[Result, ...]
    judgement: Judgement
    #: The repeats, and those that no figure rests on.
    all: tuple[Result, ...]

    @property
    def iops(self) -> Estimate | None:
        return pooled_metric(self.repeats, ALL, "iops") if self.repeats else None


def mark_of(results: Iterable[Result], objective: Objective) -> Mark | None:
    """The mark of one subject; None when the lowest level does not hold.

    A lower limit on a rate (``iops >= 5000``) that fails at the lowest levels is passed over: too little load breaks it, not too much.
    """
    found = _judged(list(results), objective)
    levels = [judged for judged in found if judged.judgement.too_few is None and not idle(judged.all)]
    first = next((index for index, judged in enumerate(levels) if not too_little_load(judged.judgement)), len(levels))
    failing = next((index for index in range(first, len(levels)) if not levels[index].judgement.holds), len(levels))
    if failing == first:
        return None
    held, failed = levels[failing - 1], levels[failing] if failing < len(levels) else None
    iops, bytes_per_s = held.iops, pooled_metric(held.repeats, ALL, "bytes_per_s")
    if iops is None or bytes_per_s is None:
        return None
    taken = [result for judged in levels for result in judged.repeats]
    bounds = _Bounds(taken, levels, failing - 1, iops) if failed else None
    interval, missing = bounds.interval() if bounds else (None, [_NEVER_FAILED])
    return Mark(
        iops=iops.value,
        bytes_per_s=bytes_per_s.value,
        level=held.level,
        interval=interval,
        objective=str(objective),
        failed_by=failed.judgement.failed_by if failed else None,
        next_level=failed.level if failed else None,
        crossing=bounds.crossing if bounds else None,
        notes=(*missing, *_held_again(levels[failing:]), *_too_few(found, held, failed)),
    )


def crossing(line: LoadLine, limit_ns: float, above_level: float | None = None) -> float | None:
    """The throughput at which the line first crosses ``limit_ns`` upwards, from ``above_level`` on; None when it does not."""
    points = [point for point in line.points if above_level is None or point.level >= above_level]
    found = _crossings(points, limit_ns, lambda point: point.response.value)
    return found[0] if found else None


class _Bounds:
    """Where the response crosses the limit: ``crossing``, and `interval` around it."""

    def __init__(self, results: Sequence[Result], levels: Sequence[_Judged], held: int, iops: Estimate) -> None:
        self._levels = levels
        self._of_a_list = all(not has_rate(result.job.definition) for result in results)
        self._held = held
        self._iops = iops
        self._limits = [
            (load_line(results, failed.op or ALL, failed.clause.metric), failed.clause.limit)
            for failed in _failed_latencies(levels[held + 1].judgement)
        ]
        crossings = [crossing(line, limit, levels[held].level) for line, limit in self._limits]
        found = [throughput for throughput in crossings if throughput is not None]
        # Several limits that fail at the same level: the objective fails at the first of them.
        self.crossing = min(found) if found and len(found) == len(self._limits) else None

    def interval(self) -> tuple[tuple[float, float] | None, list[str]]:
        """Both ends, or None and why."""
        if self.crossing is not None and not self._has_band():
            return None, [_NO_BAND_LIST if self._of_a_list else _NO_BAND]
        low, high = self._from_band() if self.crossing is not None else self._from_levels()
        if low is None or high is None:
            above = _OPEN_ABOVE_LIST if self._of_a_list else _OPEN_ABOVE
            return None, [note for end, note in ((low, _OPEN_BELOW), (high, above)) if end is None]
        middle = self.crossing if self.crossing is not None else self._iops.value
        spread = _half_width(self._iops) if self.crossing is not None else 0.0
        low = middle - sqrt(max(0.0, middle - low) ** 2 + spread**2)
        high = middle + sqrt(max(0.0, high - middle) ** 2 + spread**2)
        return (max(0.0, min(low, self._iops.value)), max(high, self._iops.value)), []

    def _has_band(self) -> bool:
        around = (self._levels[self._held].level, self._levels[self._held + 1].level)
        return all(
            point.response.low is not None and point.response.high is not None
            for line, _ in self._limits
            for point in line.points
            if point.level in around
        )

    def _from_band(self) -> tuple[float | None, float | None]:
        lows, highs = [], []
        for line, limit in self._limits:
            edges = _lower_edges(line.points, limit)
            upper = _crossings(line.points, limit, _upper)
            lower = _crossings(line.points, limit, lambda point, edges=edges: edges[point.level])  # type: ignore[misc]
            lows.append(min(upper, default=None))
            highs.append(max(lower, default=None))
        return _least(lows), _least(highs)

    def _from_levels(self) -> tuple[float | None, float | None]:
        """From the highest level up to the mark that surely held to the lowest above it that surely failed."""
        sure = [judged for judged in self._levels[: self._held + 1] if judged.judgement.holds and judged.judgement.settled]
        failed = [judged for judged in self._levels[self._held + 1 :] if judged.judgement.settled and not judged.judgement.holds]
        low, high = (found.iops if found else None for found in (sure[-1] if sure else None, failed[0] if failed else None))
        return _edge(low, "low"), _edge(high, "high")


def _judged(results: Sequence[Result], objective: Objective) -> list[_Judged]:
    judged = []
    for level, group in by_level(results):
        # A repeat that failed makes its level fail; one that ended early does not count beside complete ones.
        failed = [result for result in group if result.status == "failed"]
        judged.append(_Judged(level, usable(group), judge(objective, [*failed, *usable(group)] or group), group))
    return judged


def too_little_load(judgement: Judgement) -> bool:
    """Whether nothing but lower limits on rates failed."""
    failed = [clause for clause in judgement.clauses if not clause.holds]
    return bool(failed) and all(clause.clause.metric in RATES and clause.clause.relation in (">=", ">") for clause in failed)


def _failed_latencies(judgement: Judgement) -> list[ClauseJudgement]:
    """What failed, if it was upper limits on latencies alone."""
    failed = [clause for clause in judgement.clauses if not clause.holds]
    upper = [clause for clause in failed if clause.clause.metric in RESPONSES and clause.clause.relation in ("<=", "<")]
    return upper if len(upper) == len(failed) else []


def _upper(point: LoadPoint) -> float | None:
    return point.response.high


def _lower(point: LoadPoint) -> float | None:
    """An open load that was not carried has a response that grows for as long as it lasts; its interval means nothing."""
    return point.response.low if achieved(point) else point.response.value


def _lower_edges(points: Sequence[LoadPoint], limit: float) -> dict[float, float | None]:
    """The lower edge by level. Above a level that surely failed, one whose response is above the limit, too, surely failed as well: its
    edge is at least as high, however wide its own interval."""
    edges: dict[float, float | None] = {}
    sure = 0.0
    for point in points:
        edge = _lower(point)
        if edge is not None:
            if sure > limit and point.response.value > limit:
                edge = max(edge, sure)
            sure = max(sure, edge)
        edges[point.level] = edge
    return edges


def _crossings(points: Sequence[LoadPoint], limit: float, edge: Edge) -> list[float]:
    """The throughput at every upward crossing of ``limit`` by the line or by one edge of its band, lowest level first."""
    found = []
    for below, above in pairwise(points):
        before, after = edge(below), edge(above)
        if before is not None and after is not None and before <= limit < after:
            share = (1 / before - 1 / limit) / (1 / before - 1 / after) if before > 0 else 1.0
            found.append(below.iops.value + share * (above.iops.value - below.iops.value))
    return found


def _least(ends: Sequence[float | None]) -> float | None:
    known = [end for end in ends if end is not None]
    return min(known) if known and len(known) == len(ends) else None


def _edge(estimate: Estimate | None, name: str) -> float | None:
    if estimate is None:
        return None
    edge: float | None = getattr(estimate, name)
    return estimate.value if edge is None else edge


def _half_width(estimate: Estimate) -> float:
    return 0.0 if estimate.low is None or estimate.high is None else (estimate.high - estimate.low) / 2


def _too_few(found: Sequence[_Judged], held: _Judged, failed: _Judged | None) -> list[str]:
    """A note on the levels that could have raised the mark, had there been more requests."""
    between = [judged for judged in found if judged.level > held.level and (failed is None or judged.level < failed.level)]
    short = [(judged.level, lacking) for judged in between if (lacking := judged.judgement.too_few) is not None]
    return [f"Level {level:g} does not count: {lacking.text}." for level, lacking in short]


def _held_again(above: Sequence[_Judged]) -> list[str]:
    """A note when a level holds above the one that failed."""
    again = [judged.level for judged in above[1:] if judged.judgement.holds]
    if not again:
        return []
    levels = "level" if len(again) == 1 else "levels"
    named = ", ".join(f"{level:g}" for level in again)
    return [f"The objective failed at level {above[0].level:g} but held again at {levels} {named}; the mark stays below the failure."]
