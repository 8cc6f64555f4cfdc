"""The mark, found as surely as the noise allows."""

from __future__ import annotations

from plimsoll.experiments.experiment import Experiment
from plimsoll.experiments.forms import whole
from plimsoll.experiments.kind import Kind, levels, needed_objective
from plimsoll.experiments.kinds.ramp import RAMP
from plimsoll.experiments.levels import is_whole
from plimsoll.experiments.option import OBJECTIVE, OVER, PRECISION, RESOLUTION, Option
from plimsoll.experiments.plan import Plan, Subject


def _build(experiment: Experiment, _: Subject) -> Plan:
    from plimsoll.experiments.probe import Bounds, Resolution
    from plimsoll.experiments.search import search

    bounds = Bounds(*experiment.over[experiment.axis], integer=is_whole(experiment.axis))
    resolution = Resolution.parse(experiment.parameters["resolution"])
    return search(experiment.axis, bounds, needed_objective(experiment), resolution, experiment.parameters["repeats_max"])


SEARCH = Kind(
    "search",
    "search for the objective",
    "Find the mark as surely as the noise allows.",
    "Like `ramp`, but a level whose 95 % interval contains the limit is measured again with another seed, up to `repeats_max` times, "
    "and called undecided when that does not settle it.",
    "ends",
    'name = "mark"\nkind = "search"\nworkloads = ["random-read-4k"]\nset = { arrival = "poisson", rate = 500, queue_depth = 1024 }\n'
    'over = { rate = "500..50k" }\nobjective = "p99 <= 5ms and achieved >= 97%"\nresolution = "2%"',
    _build,
    (
        OVER,
        OBJECTIVE,
        PRECISION,
        RESOLUTION,
        Option("repeats_max", whole(1, 1000), "How often a level near the limit is measured at most.", 8, default=5),
    ),
    ("over", "objective"),
    ahead=RAMP.ahead,
    settings=levels,
    drawings=("line",),
    command="ramp --settle",
    usual_axis="queue_depth=1..1024",
    varies_load=True,
    seeks_mark=True,
    adaptive=True,
)
