"""Plans of experiments, alone and in turn.

A plan: asks out, results in, a conclusion at the end.

Model: an experiment is planned once per *subject*, a workload in a configuration. A planner knows neither the target nor the engine; it
names settings, and whoever conducts the experiment turns them into a job, measures it and sends the result back. A point that failed is
sent back like any other; the planner goes on without it or concludes.

    def plan(levels: Sequence[float]) -> Plan:
        for level in levels:
            result = yield Ask({"queue_depth": level}, level=level)
        return Conclusion()

Turns: several plans at once, point by point, A B A B, so that drift of the machine falls on all alike; or one after the other.

Model: plans are asked by turns, in the order of the mapping; one that has concluded drops out, the others go on. Plans need not be equally
long. Each hears only the results of its own asks.

    turns = interleave_plans({subject: plan_of(subject) for subject in subjects})
    subject, ask = next(turns)
    subject, ask = turns.send(result)         # or StopIteration with {subject: conclusion}
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from plimsoll.records import dataclass
from plimsoll.result import Result
from plimsoll.stored import Coordinates

if TYPE_CHECKING:
    from plimsoll.analysis.load_line.mark import Mark

#: What a point is for: a point of the load line or grid, the search for the maximum, conditioning, or a round towards steady state.
Role = Literal["point", "maximum", "precondition", "round"]


@dataclass(frozen=True)
class Configuration:
    """One of the things compared: a target and settings, under a name that reports use."""

    name: str
    target: str
    # Left out of the hash, so that subjects can be keys; equal ones still have equal hashes.
    settings: Mapping[str, Any] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class Subject:
    """What an experiment is carried out on: a workload (shipped name or file) in a configuration."""

    workload: str
    configuration: Configuration


@dataclass(frozen=True)
class Ask:
    """The next point a planner wants.

    ``settings`` are options by name (``queue_depth``, ``log.rate``, ``target``), applied in order over those of experiment and
    configuration; a stream whose ``queue_depth``, ``threads`` or ``rate`` is 0 takes no part in the point. ``level`` is the load where
    the experiment has a single load axis. ``repeat`` counts from 1 and shifts the seed. ``amount`` ends the point when that multiple of
    the target's size has been transferred. ``label`` is what the plan calls the point where its settings do not say it. ``again`` counts
    how often a level was measured anew in place of what it was; ``precision`` is how well it is to be known then.
    """

    settings: Mapping[str, Any] = field(default_factory=dict)
    level: float | None = None
    role: Role = "point"
    repeat: int = 1
    amount: float | None = None
    label: str = ""
    again: int = 0
    precision: str | None = None
    #: How many asks follow this one at most, where the plan knows better than nothing; it changes nothing that is measured.
    left: int | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Request:
    """An ask with the subject it is for: what a conductor measures."""

    experiment: str
    kind: str
    subject: Subject
    ask: Ask

    @property
    def place(self) -> Coordinates:
        """Where the point stands, as stored in `Result.place`; ``key`` is equal for equal points of equal experiments."""
        ask, subject = self.ask, self.subject
        settings = ",".join(f"{name}={value}" for name, value in ask.settings.items())
        parts = [self.experiment, subject.configuration.name, subject.workload, ask.role, settings, str(ask.repeat)]
        if ask.again:
            parts.append(f"again {ask.again}")
        return {
            "experiment": self.experiment,
            "kind": self.kind,
            "configuration": subject.configuration.name,
            "subject": subject.workload,
            "settings": dict(ask.settings),
            "level": ask.level,
            "role": ask.role,
            "key": " / ".join(parts),
            **({"label": ask.label} if ask.label else {}),
            **({"again": ask.again} if ask.again else {}),
        }


@dataclass(frozen=True)
class Conclusion:
    """What an experiment found on one subject: sentences for people, figures for programs, and the mark where it looked for one."""

    sentences: tuple[str, ...] = ()
    mark: Mark | None = None
    figures: dict[str, Any] = field(default_factory=dict)


#: Asks out, results in, a conclusion at the end.
Plan = Generator[Ask, Result, Conclusion]


K = TypeVar("K")


def interleave_plans(plans: Mapping[K, Plan]) -> Generator[tuple[K, Ask], Result, dict[K, Conclusion]]:
    """One ask of each plan by turns, until all have concluded; conclusions in the order of ``plans``."""
    waiting: dict[K, Result | None] = dict.fromkeys(plans)
    concluded: dict[K, Conclusion] = {}
    while waiting:
        for key, result in list(waiting.items()):
            try:
                ask = next(plans[key]) if result is None else plans[key].send(result)
            except StopIteration as stop:
                concluded[key] = stop.value
                del waiting[key]
            else:
                waiting[key] = yield key, ask
    return {key: concluded[key] for key in plans}


def in_turn(plans: Mapping[K, Plan]) -> Generator[tuple[K, Ask], Result, dict[K, Conclusion]]:
    """Each plan to its end before the next one begins."""
    concluded: dict[K, Conclusion] = {}
    for key, plan in plans.items():
        concluded.update((yield from interleave_plans({key: plan})))
    return concluded
