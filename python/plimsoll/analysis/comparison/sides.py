"""Sides of a comparison, and its rows: one per point or mark and side.

Model: a *side* is one configuration of one run. The first side is the baseline; a row compares one figure of another side with it. The
ratio is side over baseline, so a ratio above 1 is more throughput or more latency; the verdict says which of them is better. Without a
ratio nothing was compared, and there is no verdict. Where nothing is shown and the interval is missing or spans more than a factor of
`plimsoll.analysis.comparison.ratio.DECISIVE_MAX`, the measurement was *too short to tell*: ``needed_s`` says how long would, and
``needed_repeats`` how often, of points that ask for a list once and end.

    Side("depth 8", results, run="runs/a", settings={"queue_depth": 8})
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, Literal, TypedDict

from plimsoll.analysis.comparison.drawn_ratio import DrawnRatio, DrawnRatioView
from plimsoll.analysis.comparison.ratio import Ratio, decides
from plimsoll.analysis.load_line.mark import Mark, MarkView
from plimsoll.analysis.point.metric import IOPS, RATES
from plimsoll.records import dataclass
from plimsoll.result import Estimate, Result

ComparisonVerdict = Literal["faster", "slower", "no difference shown", "too short to tell"]

FASTER: ComparisonVerdict = "faster"
SLOWER: ComparisonVerdict = "slower"
NOT_SHOWN: ComparisonVerdict = "no difference shown"
TOO_SHORT: ComparisonVerdict = "too short to tell"
#: Verdicts that show no difference.
OPEN = (NOT_SHOWN, TOO_SHORT)
#: Adjusted probability below which a difference is shown.
SIGNIFICANCE = 0.05


class ComparedValue(TypedDict):
    """A figure of one side, with its 95 % confidence interval, where there is one."""

    value: float
    low: float | None
    high: float | None
    batches: int
    at_least: bool


class _Compared(TypedDict):
    workload: str
    title: str
    group: str
    experiment: str
    side: str
    #: The side's figure over the baseline's; null where there is none.
    ratio: float | None
    low: float | None
    high: float | None
    #: Null where there is no ratio.
    verdict: ComparisonVerdict | None
    p_adjusted: float | None
    #: How long each point would have to last to tell, where it was too short; null where the scatter does not say.
    needed_s: float | None
    #: How often each point would have to be measured to tell, where it asks for a list once and more time gives nothing.
    needed_repeats: int | None


class ComparedPoint(_Compared):
    """One figure of one point on one side against the baseline."""

    #: What an experiment gave the point, by option.
    settings: dict[str, Any]
    level: float | None
    metric: str
    op: str
    #: A latency of a load that was not carried on some side: it says how long the load lasted.
    rate_not_achieved: bool
    #: The baseline's and the side's.
    values: tuple[ComparedValue, ComparedValue]
    #: Between what the ratio lies given what nobody has looked up of modelled sides; null without draws of both.
    interval: DrawnRatioView | None


class ComparedMark(_Compared):
    """The mark of one subject on one side against the baseline's."""

    objective: str
    note: str
    #: What people speak of these loads in.
    noun: str
    #: The baseline's and the side's.
    values: tuple[MarkView | None, MarkView | None]


@dataclass(frozen=True)
class Side:
    """One of the things compared. ``run`` is equal for sides of one run; ``settings`` are those of its configuration there."""

    label: str
    results: Sequence[Result]
    run: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def modelled(self) -> bool:
        """Whether any of its results comes from a model."""
        return any(result.modelled for result in self.results)


@dataclass(frozen=True)
class Point:
    """A point that several sides have: its workload, the settings the experiment gave it, its level."""

    workload: str
    title: str
    group: str
    settings: Mapping[str, Any]
    level: float | None
    experiment: str = ""
    #: What people call the rate of its load (`rate_noun`).
    rate: str = IOPS

    @property
    def axis(self) -> str:
        """The option that the level is a value of; ``level`` when the settings do not say."""
        named = [name for name, value in self.settings.items() if value == self.level and self.level is not None]
        return named[0].rpartition(".")[2] if named else "level"


@dataclass(frozen=True)
class Row:
    """One figure of one point on one side against the baseline. ``values`` are the baseline's and the side's."""

    point: Point
    op: str
    metric: str
    side: str
    values: tuple[Estimate, Estimate]
    ratio: float | None
    low: float | None
    high: float | None
    p_adjusted: float | None
    verdict: ComparisonVerdict | None
    #: A latency of a point that was not carried at the offered rate, on either side: it says how long the load lasted.
    rate_not_achieved: bool = False
    #: How long each point would have to last to tell, where it was too short; None where the scatter does not say.
    needed_s: float | None = None
    #: How often it would have to be measured to tell, where it asks for a list once.
    needed_repeats: int | None = None
    #: Between what the ratio of modelled sides lies, given what nobody has looked up.
    interval: DrawnRatio | None = None

    @property
    def times_faster(self) -> float | None:
        """The ratio in the direction in which more is better."""
        return self.ratio if self.ratio is None or self.metric in RATES else 1 / self.ratio

    def to_json(self) -> ComparedPoint:
        """Flat, as pages and programs read it."""
        before, now = self.values
        return {
            "workload": self.point.workload,
            "title": self.point.title,
            "group": self.point.group,
            "settings": dict(self.point.settings),
            "level": self.point.level,
            "experiment": self.point.experiment,
            "metric": self.metric,
            "op": self.op,
            "side": self.side,
            "ratio": self.ratio,
            "low": self.low,
            "high": self.high,
            "verdict": self.verdict,
            "p_adjusted": self.p_adjusted,
            "needed_s": self.needed_s,
            "needed_repeats": self.needed_repeats,
            "rate_not_achieved": self.rate_not_achieved,
            "values": (_value(before), _value(now)),
            "interval": None if self.interval is None else self.interval.to_json(),
        }


@dataclass(frozen=True)
class MarkRow:
    """The mark of one subject on one side against the baseline's; ``note`` says why there is no ratio, or how to read it."""

    workload: str
    title: str
    group: str
    experiment: str
    objective: str
    side: str
    values: tuple[Mark | None, Mark | None]
    ratio: float | None
    low: float | None
    high: float | None
    p_adjusted: float | None
    verdict: ComparisonVerdict | None
    note: str = ""
    needed_s: float | None = None
    needed_repeats: int | None = None
    #: Too short to tell, and no more of the same levels would tell, since they are far apart.
    is_coarse: bool = False
    #: What people speak of these loads in: ``IOPS``, ``MB/s``, or what the driver does in a second.
    noun: str = IOPS

    @property
    def times_faster(self) -> float | None:
        """More load carried is better."""
        return self.ratio

    def to_json(self) -> ComparedMark:
        """As pages and programs read it."""
        before, now = self.values
        return {
            "workload": self.workload,
            "title": self.title,
            "group": self.group,
            "experiment": self.experiment,
            "objective": self.objective,
            "side": self.side,
            "note": self.note,
            "ratio": self.ratio,
            "low": self.low,
            "high": self.high,
            "verdict": self.verdict,
            "p_adjusted": self.p_adjusted,
            "needed_s": self.needed_s,
            "needed_repeats": self.needed_repeats,
            "noun": self.noun,
            "values": (before.to_json() if before else None, now.to_json() if now else None),
        }


def verdict(found: Ratio | None, p_adjusted: float | None, *, more_is_better: bool) -> ComparisonVerdict | None:
    """The word for a ratio; a difference is shown when chance would make one as large in less than 5 % of such tables."""
    if found is None:
        return None
    if p_adjusted is None or p_adjusted >= SIGNIFICANCE or found.value == 1:
        return NOT_SHOWN if decides(found.low, found.high) else TOO_SHORT
    return FASTER if (found.value > 1) == more_is_better else SLOWER


def _value(estimate: Estimate) -> ComparedValue:
    return {
        "value": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "batches": estimate.batches,
        "at_least": estimate.at_least,
    }
