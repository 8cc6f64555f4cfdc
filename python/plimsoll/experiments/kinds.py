"""The kinds of experiments and the planner of each: the one list from which an experiment becomes plans.

Model: a `Planner` builds the plan for one subject, says how many points that will be (None where it depends on what is measured), and names
the settings it knows in advance, so that all of them can be checked before anything is touched. What a kind is for and which options it has
stands in `declaration`.

    PLANNERS["steps"].build(experiment, subject)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

from plimsoll.experiments.experiment import Experiment
from plimsoll.experiments.levels import is_rate
from plimsoll.experiments.plan import Configuration, Plan, Subject

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
    from plimsoll.experiments.steps import steps

    return steps(experiment.axis, experiment.over[experiment.axis], experiment.repeat)


def _scaling(experiment: Experiment, _: Subject) -> Plan:
    from plimsoll.experiments.scaling import scaling

    return scaling(experiment.axis, experiment.over[experiment.axis], experiment.repeat)


def _matrix(experiment: Experiment, _: Subject) -> Plan:
    parameters = experiment.parameters
    if parameters["grid"] is not None:
        from plimsoll.experiments.orion import orion

        return orion(_grid(experiment), parameters["small"], parameters["large"], experiment.repeat)
    from plimsoll.experiments.matrix import matrix

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
    from plimsoll.experiments.bounds import Bounds, Growth, Resolution
    from plimsoll.experiments.ramp import ramp

    bounds = Bounds(*experiment.over[experiment.axis], integer=is_whole(experiment.axis))
    resolution, growth = Resolution.parse(experiment.parameters["resolution"]), Growth.parse(experiment.parameters["growth"])
    return ramp(experiment.axis, bounds, _needed_objective(experiment), resolution, growth)


def _search(experiment: Experiment, _: Subject) -> Plan:
    from plimsoll.experiments.bounds import Bounds, Resolution
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
    from plimsoll.experiments.rounding import ROUNDINGS

    rounded = ROUNDINGS[parameters["rounding"]]
    return len({rounded(parameters["maximum"], percent) for percent in parameters["percent"]}) * experiment.repeat


def _steady(experiment: Experiment, _: Subject) -> Plan:
    from plimsoll.analysis.objective.clause import parse_metric
    from plimsoll.experiments.steady import steady

    op, metric = parse_metric(experiment.parameters["metric"])
    chosen = {name: experiment.parameters[name] for name in ("rounds_max", "window", "precondition")}
    return steady(metric, op, **chosen)


def _precondition(experiment: Experiment, _: Subject) -> Plan:
    from plimsoll.experiments.precondition import precondition

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
    return experiment.kind == "curve" or any(is_rate(option) for option in experiment.over)


def is_whole(option: str) -> bool:
    """Whether levels of an option, of all streams or of one, are whole numbers."""
    return option.rpartition(".")[2] in WHOLE_OPTIONS
