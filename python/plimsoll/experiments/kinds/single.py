"""Workloads as they stand."""

from __future__ import annotations

from plimsoll.experiments.experiment import Experiment
from plimsoll.experiments.kind import Kind, objective_of
from plimsoll.experiments.option import OBJECTIVE, PRECISION, REPEAT
from plimsoll.experiments.plan import Plan, Subject


def _build(experiment: Experiment, _: Subject) -> Plan:
    from plimsoll.experiments.single import single

    return single(experiment.repeat, objective_of(experiment))


SINGLE = Kind(
    "single",
    "single points",
    "Measure every workload as it stands.",
    "One point per workload, configuration and repeat.",
    "none",
    'name = "as they stand"\nkind = "single"\nworkloads = ["oltp-db", "exchange-server"]\nrepeat = 3\n'
    'configurations = [{ name = "depth 1", set = { queue_depth = 1 } }, { name = "depth 8", set = { queue_depth = 8 } }]\n'
    "interleave = true",
    _build,
    (OBJECTIVE, REPEAT, PRECISION),
    points=lambda experiment: experiment.repeat,
    drawings=("bars",),
    command="run",
    as_it_stands=True,
    all_in_turn=True,
)
