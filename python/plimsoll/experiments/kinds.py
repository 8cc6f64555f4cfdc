"""Kinds of experiments, their planners, and the schedule of their requests.

Kinds: the planner of each, the one list from which an experiment becomes plans.

Model: a `Planner` builds the plan for one subject, says how many points that will be (None where it depends on what is measured), and names
the settings it knows in advance, so that all of them can be checked before anything is touched. What a kind is for and which options it has
stands in `declaration`.

    PLANNERS["steps"].build(experiment, subject)

The schedule: from an experiment to requests in the order in which they are measured.

Model: workload by workload; within one, a plan for each configuration. Interleaved, the plans take turns point by point (A B A B), so that
a drift of the machine falls on all alike; otherwise one runs to its end before the next begins. Where points do not build on each other
(kind single), interleaved workloads take turns as well. The requests depend on nothing but the
experiment and the results, so feeding stored results arrives where a killed run stood.

    requests = schedule(experiment)
    request = next(requests)
    request = requests.send(result)          # StopIteration carries the conclusions
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

from plimsoll.experiments.declaration import KINDS_BY_NAME
from plimsoll.experiments.experiment import Experiment
from plimsoll.experiments.levels import is_rate
from plimsoll.experiments.plan import Ask, Conclusion, Configuration, Plan, Request, Subject, in_turn, interleave_plans
from plimsoll.result import Result

if TYPE_CHECKING:
    from plimsoll.analysis.objective.judgement import Objective

Settings = Mapping[str, Any]

#: Options whose levels are whole numbers; every other axis of numbers may take any.
WHOLE_OPTIONS = frozenset(
    (
        "threads",
        "queue_depth",
        "burst_size",
        "flush_every",
        "workers",
        "seed",
        "size",
        "align",
        "stride",
        "block_size",
        "read_block_size",
        "write_block_size",
        "trim_block_size",
        "region_start",
        "region_length",
        "requests",
        "amount",
        "run_length",
        "zone_length",
        "zone_amount",
        "zone_skip",
        "parts",
        "parts_unit",
        "merge_depth",
        "refill_depth",
        "pause_requests",
        "share_group",
    )
)


@dataclass(frozen=True)
class Planner:
    """How one kind is planned; ``all_in_turn``: interleaved, workloads take turns as well, since points do not build on each other."""

    build: Callable[[Experiment, Subject], Plan]
    points: Callable[[Experiment], int | None]
    settings: Callable[[Experiment], Iterator[Settings]]
    all_in_turn: bool = False


def _objective(experiment: Experiment) -> Objective | None:
    if experiment.objective is None:
        return None
    from plimsoll.analysis.objective.judgement import parse_objective

    return parse_objective(experiment.objective)


def _needed_objective(experiment: Experiment) -> Objective:
    objective = _objective(experiment)
    assert objective is not None, f"{experiment.name}: the reader lets no {experiment.kind} pass without objective"
    return objective


def _nothing_of_its_own(_: Experiment) -> Iterator[Settings]:
    yield {}


def _unknown(_: Experiment) -> None:
    return None


def _levels(experiment: Experiment) -> Iterator[Settings]:
    return ({experiment.axis: level} for level in experiment.over[experiment.axis])


def _points_of_levels(experiment: Experiment) -> int:
    return len(experiment.over[experiment.axis]) * experiment.repeat


def _points_of_scaling(experiment: Experiment) -> int:
    """A level that stands twice is asked once in every iteration."""
    return len(set(experiment.over[experiment.axis])) * experiment.repeat


def _single(experiment: Experiment, _: Subject) -> Plan:
    from plimsoll.experiments.single import single

    return single(experiment.repeat, _objective(experiment))


def _steps(experiment: Experiment, _: Subject) -> Plan:
    from plimsoll.experiments.sweep import steps

    return steps(experiment.axis, experiment.over[experiment.axis], experiment.repeat)


def _scaling(experiment: Experiment, _: Subject) -> Plan:
    from plimsoll.experiments.sweep import scaling

    return scaling(experiment.axis, experiment.over[experiment.axis], experiment.repeat)


def _matrix(experiment: Experiment, _: Subject) -> Plan:
    parameters = experiment.parameters
    if parameters["grid"] is not None:
        from plimsoll.experiments.orion import orion

        return orion(_grid(experiment), parameters["small"], parameters["large"], experiment.repeat)
    from plimsoll.experiments.sweep import matrix

    return matrix(experiment.over, experiment.repeat, parameters["shuffle"])


def _grid(experiment: Experiment) -> list[tuple[int, int]]:
    from plimsoll.experiments.orion import grid

    parameters = experiment.parameters
    return grid(parameters["grid"], parameters["disks"], parameters["num_small"], parameters["num_large"])


def _cells(experiment: Experiment) -> Iterator[Settings]:
    parameters = experiment.parameters
    if parameters["grid"] is not None:
        small, large = f"{parameters['small']}.queue_depth", f"{parameters['large']}.queue_depth"
        yield from ({small: few, large: many} for few, many in _grid(experiment) if few or many)
    else:
        yield from (dict(zip(experiment.over, levels, strict=True)) for levels in product(*experiment.over.values()))


def _points_of_cells(experiment: Experiment) -> int:
    if experiment.parameters["grid"] is not None:
        return sum(1 for cell in _grid(experiment) if any(cell)) * experiment.repeat
    return prod(len(levels) for levels in experiment.over.values()) * experiment.repeat


def _ramp(experiment: Experiment, _: Subject) -> Plan:
    from plimsoll.experiments.probe import Bounds, Growth, Resolution
    from plimsoll.experiments.search import ramp

    bounds = Bounds(*experiment.over[experiment.axis], integer=is_whole(experiment.axis))
    resolution, growth = Resolution.parse(experiment.parameters["resolution"]), Growth.parse(experiment.parameters["growth"])
    return ramp(experiment.axis, bounds, _needed_objective(experiment), resolution, growth)


def _search(experiment: Experiment, _: Subject) -> Plan:
    from plimsoll.experiments.probe import Bounds, Resolution
    from plimsoll.experiments.search import search

    bounds = Bounds(*experiment.over[experiment.axis], integer=is_whole(experiment.axis))
    resolution = Resolution.parse(experiment.parameters["resolution"])
    return search(experiment.axis, bounds, _needed_objective(experiment), resolution, experiment.parameters["repeats_max"])


def _curve(experiment: Experiment, _: Subject) -> Plan:
    from plimsoll.experiments.curve import Pace, curve

    pace = Pace(**{name: experiment.parameters[name] for name in ("rounding", "arrival", "outstanding", "maximum")})
    return curve(experiment.parameters["percent"], pace, _objective(experiment), experiment.repeat)


def _points_of_curve(experiment: Experiment) -> int:
    """At most: percentages of a small maximum may be rounded to the same rate, which is asked once."""
    parameters = experiment.parameters
    if parameters["maximum"] is None:
        return len(parameters["percent"]) * experiment.repeat + 1
    from plimsoll.experiments.curve import ROUNDINGS

    rounded = ROUNDINGS[parameters["rounding"]]
    return len({rounded(parameters["maximum"], percent) for percent in parameters["percent"]}) * experiment.repeat


def _steady(experiment: Experiment, _: Subject) -> Plan:
    from plimsoll.analysis.objective.clause import parse_metric
    from plimsoll.experiments.steady import steady

    op, metric = parse_metric(experiment.parameters["metric"])
    chosen = {name: experiment.parameters[name] for name in ("rounds_max", "window", "precondition")}
    return steady(metric, op, **chosen)


def _precondition(experiment: Experiment, _: Subject) -> Plan:
    from plimsoll.experiments.steady import precondition

    return precondition(experiment.parameters["amount"])


PLANNERS: Mapping[str, Planner] = {
    "single": Planner(_single, lambda experiment: experiment.repeat, _nothing_of_its_own, all_in_turn=True),
    "steps": Planner(_steps, _points_of_levels, _levels),
    "matrix": Planner(_matrix, _points_of_cells, _cells),
    "ramp": Planner(_ramp, _unknown, _levels),
    "search": Planner(_search, _unknown, _levels),
    "curve": Planner(_curve, _points_of_curve, _nothing_of_its_own),
    "scaling": Planner(_scaling, _points_of_scaling, _levels),
    "steady": Planner(_steady, _unknown, _nothing_of_its_own),
    "precondition": Planner(_precondition, lambda _: 1, _nothing_of_its_own),
}


def check(experiment: Experiment) -> None:
    """Raise `InputError` for what only the planner of its kind can refuse; nothing is planned yet."""
    PLANNERS[experiment.kind].build(experiment, Subject("", Configuration("", ""))).close()


def offers_rates(experiment: Experiment) -> bool:
    """Whether points are given a rate that their workload as it stands need not have."""
    return KINDS_BY_NAME[experiment.kind].offers_rates or any(is_rate(option) for option in experiment.over)


def is_whole(option: str) -> bool:
    """Whether levels of an option, of all streams or of one, are whole numbers."""
    return option.rpartition(".")[2] in WHOLE_OPTIONS


def schedule(experiment: Experiment) -> Generator[Request, Result, dict[Subject, Conclusion]]:
    """The requests of all subjects; returns what was concluded on each."""
    planner = PLANNERS[experiment.kind]
    order = interleave_plans if experiment.interleave else in_turn
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
