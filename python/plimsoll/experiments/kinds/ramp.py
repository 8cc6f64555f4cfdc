"""The load raised until the objective fails."""

from __future__ import annotations

from plimsoll.experiments import forms
from plimsoll.experiments.experiment import Experiment
from plimsoll.experiments.kind import Kind, Outlook, levels, needed_objective
from plimsoll.experiments.levels import is_whole
from plimsoll.experiments.option import OBJECTIVE, OVER, PRECISION, RESOLUTION, Option
from plimsoll.experiments.plan import Plan, Subject


def _build(experiment: Experiment, _: Subject) -> Plan:
    from plimsoll.experiments.probe import Bounds, Growth, Resolution
    from plimsoll.experiments.search import ramp

    bounds = Bounds(*experiment.over[experiment.axis], integer=is_whole(experiment.axis))
    resolution, growth = Resolution.parse(experiment.parameters["resolution"]), Growth.parse(experiment.parameters["growth"])
    return ramp(experiment.axis, bounds, needed_objective(experiment), resolution, growth)


def _ahead(experiment: Experiment) -> Outlook:
    from plimsoll.experiments.search import ahead_of_search

    return ahead_of_search(experiment)


RAMP = Kind(
    "ramp",
    "ramp to the objective",
    "Raise the load until the objective fails, then close in on the mark.",
    "Starts at the lower end, grows by `growth` until a level fails, and halves the distance between the highest level that held and "
    "the lowest that failed until it is within `resolution`. Every level is decided by its value. When "
    "the level it ends at had too few requests to show that the objective holds, it is measured for as long as they take, at most 30 "
    "times its duration.",
    "ends",
    'name = "threads to 20 ms"\nkind = "ramp"\nworkloads = ["oltp-db"]\nover = { threads = "1..256" }\n'
    'objective = "read mean <= 20ms and write mean <= 20ms"\nresolution = 1',
    _build,
    (
        OVER,
        OBJECTIVE,
        PRECISION,
        RESOLUTION,
        Option("growth", forms.GROWTH, "How the level rises until it fails.", "+4", default="2x"),
    ),
    ("over", "objective"),
    ahead=_ahead,
    settings=levels,
    drawings=("line",),
    usual_axis="queue_depth=1..1024",
    varies_load=True,
    seeks_mark=True,
    adaptive=True,
)
