"""Speed-up with concurrency."""

from __future__ import annotations

from plimsoll.experiments.experiment import Experiment
from plimsoll.experiments.forms import whole
from plimsoll.experiments.kind import Kind, levels
from plimsoll.experiments.option import OBJECTIVE, OVER, PRECISION, REPEAT, Option
from plimsoll.experiments.plan import Plan, Subject


def _build(experiment: Experiment, _: Subject) -> Plan:
    from plimsoll.experiments.sweep import scaling

    return scaling(experiment.axis, experiment.over[experiment.axis], experiment.repeat)


def _points(experiment: Experiment) -> int:
    """A level that stands twice is asked once in every iteration."""
    return len(set(experiment.over[experiment.axis])) * experiment.repeat


SCALING = Kind(
    "scaling",
    "scaling",
    "Measure speed-up with concurrency.",
    "One point per level and iteration; speed-up and efficiency against the lowest level, and a fit of the Universal Scalability Law.",
    "one",
    'name = "workers"\nkind = "scaling"\nworkloads = ["sequential-read-128k"]\nover = { threads = "1..64" }\niterations = 3',
    _build,
    (OVER, OBJECTIVE, REPEAT, PRECISION, Option("iterations", whole(1, 1000), "Another word for `repeat`.", 3, absent="`repeat`")),
    ("over",),
    points=_points,
    settings=levels,
    drawings=("speed-up",),
    command="scale",
    usual_axis="threads=1..64",
    varies_load=True,
)
