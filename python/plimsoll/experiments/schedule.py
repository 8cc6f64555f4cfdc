"""The schedule: from an experiment to requests in the order in which they are measured.

Model: workload by workload; within one, a plan for each configuration. Interleaved, the plans take turns point by point (A B A B), so that
a drift of the machine falls on all alike; otherwise one runs to its end before the next begins. Where points do not build on each other
(kind single), interleaved workloads take turns as well. The requests depend on nothing but the
experiment and the results, so feeding stored results arrives where a killed run stood.

    requests = schedule(experiment)
    request = next(requests)
    request = requests.send(result)          # StopIteration carries the conclusions
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Any

from plimsoll.experiments.experiment import Experiment
from plimsoll.experiments.kind import Settings
from plimsoll.experiments.kinds import KINDS_BY_NAME
from plimsoll.experiments.levels import is_rate
from plimsoll.experiments.plan import Ask, Conclusion, Configuration, Request, Subject, in_turn, interleave_plans
from plimsoll.result import Result


def check(experiment: Experiment) -> None:
    """Raise `InputError` for what only the planner of its kind can refuse; nothing is planned yet."""
    KINDS_BY_NAME[experiment.kind].build(experiment, Subject("", Configuration("", ""))).close()


def offers_rates(experiment: Experiment) -> bool:
    """Whether points are given a rate that their workload as it stands need not have."""
    return KINDS_BY_NAME[experiment.kind].offers_rates or any(is_rate(option) for option in experiment.over)


def schedule(experiment: Experiment) -> Generator[Request, Result, dict[Subject, Conclusion]]:
    """The requests of all subjects; returns what was concluded on each."""
    kind = KINDS_BY_NAME[experiment.kind]
    order = interleave_plans if experiment.interleave else in_turn
    together = [experiment.workloads] if experiment.interleave and kind.all_in_turn else [(one,) for one in experiment.workloads]
    conclusions: dict[Subject, Conclusion] = {}
    for workloads in together:
        subjects = [subject for workload in workloads for subject in experiment.subjects(workload)]
        asks = order({subject: kind.build(experiment, subject) for subject in subjects})
        conclusions |= yield from _requests(experiment, asks)
    return conclusions


def planned_points(experiment: Experiment) -> int | None:
    """How many points will be measured; None when that depends on what is measured."""
    each = KINDS_BY_NAME[experiment.kind].points(experiment)
    return None if each is None else each * len(experiment.workloads) * len(experiment.configurations)


def settings_of(experiment: Experiment) -> Iterator[dict[str, Any]]:
    """Every combination of settings known in advance, complete and in the order to apply them; each is to be checked with each workload."""
    for configuration in experiment.configurations:
        for asked in KINDS_BY_NAME[experiment.kind].settings(experiment):
            yield layer_settings(experiment.settings, configuration.settings, asked)


def layer_settings(*layers: Settings) -> dict[str, Any]:
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
