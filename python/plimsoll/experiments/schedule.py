"""From an experiment to requests in the order in which they are measured.

Model: workload by workload; within one, a plan for each configuration. Interleaved, the plans take turns point by point (A B A B), so that
a drift of the machine falls on all alike; otherwise one runs to its end before the next begins. Where points do not build on each other
(kind single), interleaved workloads take turns as well. The requests depend on nothing but the
experiment and the results, so feeding stored results arrives where a killed run stood.

    requests = schedule(experiment)
    request = next(requests)
    request = requests.send(result)          # StopIteration carries the conclusions
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from typing import Any

from plimsoll.experiments.experiment import Experiment
from plimsoll.experiments.interleave import in_turn, interleaved
from plimsoll.experiments.kinds import PLANNERS
from plimsoll.experiments.plan import Ask, Conclusion, Request, Subject
from plimsoll.result import Result

Settings = Mapping[str, Any]


def schedule(experiment: Experiment) -> Generator[Request, Result, dict[Subject, Conclusion]]:
    """The requests of all subjects; returns what was concluded on each."""
    planner = PLANNERS[experiment.kind]
    order = interleaved if experiment.interleave else in_turn
    together = [experiment.workloads] if experiment.interleave and planner.all_in_turn else [(one,) for one in experiment.workloads]
    conclusions: dict[Subject, Conclusion] = {}
    for workloads in together:
        subjects = [subject for workload in workloads for subject in experiment.subjects(workload)]
        asks = order({subject: planner.build(experiment, subject) for subject in subjects})
        conclusions |= yield from _requests(experiment, asks)
    return conclusions


def planned_points(experiment: Experiment) -> int | None:
    """How many points will be measured; None when that depends on what is measured."""
    each = PLANNERS[experiment.kind].points(experiment)
    return None if each is None else each * len(experiment.workloads) * len(experiment.configurations)


def settings_of(experiment: Experiment) -> Iterator[dict[str, Any]]:
    """Every combination of settings known in advance, complete and in the order to apply them; each is to be checked with each workload."""
    for configuration in experiment.configurations:
        for asked in PLANNERS[experiment.kind].settings(experiment):
            yield layered(experiment.settings, configuration.settings, asked)


def layered(*layers: Settings) -> dict[str, Any]:
    """Settings of several layers in one, to be applied in order: what a later layer names is applied last, also over single streams'."""
    result: dict[str, Any] = {}
    for layer in layers:
        for name, value in layer.items():
            result.pop(name, None)
            result[name] = value
    return result


def _requests(
    experiment: Experiment, asks: Generator[tuple[Subject, Ask], Result, dict[Subject, Conclusion]]
) -> Generator[Request, Result, dict[Subject, Conclusion]]:
    try:
        subject, ask = next(asks)
        while True:
            result = yield Request(experiment.name, experiment.kind, subject, ask)
            subject, ask = asks.send(result)
    except StopIteration as end:
        conclusions: dict[Subject, Conclusion] = end.value
        return conclusions
