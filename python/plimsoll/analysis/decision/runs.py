"""What decision support says of each side: power, throughput and composite of each run, the lower run reported beside the other.

Model: a run is a point that has the section ``decision``; repeats of one load on one side are its runs. The one with the lower composite
is reported (with the lower throughput or power where there is no composite), so that a lucky run is nobody's figure. A point that failed
counts for nothing.
Limits: figures are those that the driver made; nothing is computed anew but the price of a composite.

    found = standings(results)[0]
    found.reported.composite, found.other.composite
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from plimsoll.analysis.point.definition import DECISION_SUPPORT
from plimsoll.records import dataclass
from plimsoll.result import Result
from plimsoll.stored import DecisionOutcome

#: Metrics in the order of tables, with what each says.
METRICS = {
    "power": "how fast queries are alone",
    "throughput": "how many queries per hour streams get beside each other",
    "composite": "the geometric mean of both",
}


@dataclass(frozen=True)
class Run:
    """One run; metrics are at its scale, None for a test that was not carried out to its end."""

    result: Result
    power: float | None
    throughput: float | None
    composite: float | None

    @property
    def decides(self) -> float:
        """The figure that tells the lower run."""
        return next((value for value in (self.composite, self.throughput, self.power) if value is not None), float("inf"))

    def to_json(self) -> dict[str, Any]:
        """As ``--json`` prints it."""
        return {"point": self.result.id, "repeat": self.result.job.repeat, **{name: getattr(self, name) for name in METRICS}}


@dataclass(frozen=True)
class Standing:
    """The runs of one load on one side, in the order measured; ``settings`` is what the experiment set for them."""

    side: str
    title: str
    scale: float
    settings: Mapping[str, Any]
    runs: tuple[Run, ...]

    @property
    def reported(self) -> Run:
        """The lower run."""
        return min(self.runs, key=lambda run: run.decides)

    @property
    def other(self) -> Run | None:
        """The run that is told beside it, where there were two or more: the highest."""
        others = [run for run in self.runs if run is not self.reported]
        return max(others, key=lambda run: run.decides) if others else None


def section(result: Result) -> DecisionOutcome | None:
    """What the driver said at the end; None for other loads, and for a point that had no end."""
    return result.engine.get("decision")


def asks_queries(result: Result) -> bool:
    """Whether the point's load is decision support."""
    return result.job.definition.get("driver") == DECISION_SUPPORT


def standings(results: Sequence[Result]) -> list[Standing]:
    """Of every side and setting that has a run with figures, in the order measured."""
    groups: dict[tuple[str, str, str], list[Run]] = {}
    for result in results:
        found = section(result)
        metrics = found.get("metrics") if found and result.status != "failed" else None
        if metrics and any(value is not None for value in metrics.values()):
            key = (result.side, str(found.get("scale")) if found else "", str(result.place.get("settings") or ""))
            groups.setdefault(key, []).append(Run(result, **{name: metrics.get(name) for name in METRICS}))
    return [
        Standing(
            side=runs[0].result.side,
            title=runs[0].result.job.title,
            scale=float((section(runs[0].result) or {})["scale"]),
            settings=runs[0].result.place.get("settings") or {},
            runs=tuple(runs),
        )
        for runs in groups.values()
    ]
