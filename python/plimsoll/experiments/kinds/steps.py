"""A list of levels of load."""

from __future__ import annotations

from plimsoll.experiments.experiment import Experiment
from plimsoll.experiments.kind import Kind, levels
from plimsoll.experiments.option import OBJECTIVE, OVER, PRECISION, REPEAT
from plimsoll.experiments.plan import Plan, Subject


def _build(experiment: Experiment, _: Subject) -> Plan:
    from plimsoll.experiments.sweep import steps

    return steps(experiment.axis, experiment.over[experiment.axis], experiment.repeat)


STEPS = Kind(
    "steps",
    "steps of load",
    "Measure a list of levels of load.",
    "One point per level, in the order written; all levels once, then all again for the next repeat. With an objective, the mark is "
    "the highest load that held.",
    "one",
    'name = "depth"\nkind = "steps"\nworkloads = ["random-read-4k"]\nover = { queue_depth = "1..64" }\n'
    'objective = "p99 <= 5ms"\nrepeat = 3',
    _build,
    (OVER, OBJECTIVE, REPEAT, PRECISION),
    ("over",),
    points=lambda experiment: len(experiment.over[experiment.axis]) * experiment.repeat,
    settings=levels,
    drawings=("bars", "line"),
    command="run --over",
    usual_axis="queue_depth=1..64",
    varies_load=True,
)
