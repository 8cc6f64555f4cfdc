"""How long a suite measures: its points times their durations, from the same planning that measures it.

Model: warm-up and duration of every point; a ramp counts with the most points it can take. Making and filling scratch files and the few
milliseconds between points are left out.

    measured_seconds("four-corners", quick=True)       # 36.0
"""

from __future__ import annotations

import math

from plimsoll import catalog
from plimsoll.apps import check_workload, driver_of
from plimsoll.engine.block import native
from plimsoll.experiments.document import read_experiments
from plimsoll.experiments.experiment import Experiment
from plimsoll.experiments.schedule import planned_points


def measured_seconds(suite: str, *, quick: bool) -> float:
    """The time that all points of a suite take together, at most, on one target."""
    found = read_experiments(catalog.suite_document(suite), f"{suite}.toml", quick=quick)
    return sum(points_max(experiment) * _seconds(experiment) for experiment in found.experiments)


def points_max(experiment: Experiment) -> int:
    """Points of all workloads of an experiment."""
    workloads = [source for asked in experiment.workloads for source in catalog.sources(asked)]
    each = planned_points(experiment)
    if each is not None:
        return each // len(experiment.workloads) * len(workloads)
    (start, stop), resolution = next(iter(experiment.over.values())), float(experiment.parameters["resolution"].rstrip("%")) / 100
    doublings = math.ceil(math.log2(stop / start)) + 1
    # The widest gap lies below the last level; halving it ends when it is no wider than the resolution.
    halvings = math.ceil(math.log2(stop / 2 / max(resolution * stop / 2, 1)))
    return (doublings + halvings) * experiment.repeat * len(workloads)


def _seconds(experiment: Experiment) -> float:
    """Warm-up and duration as the settings of the experiment leave them."""
    (source, *_) = catalog.sources(experiment.workloads[0])
    document = catalog.document(source)
    engine = native()
    workload, options = check_workload(document, source, engine), engine.check_job({})
    for key, value in experiment.settings.items():
        workload, options = driver_of(workload, engine).set_option(workload, options, key, value)
    return float(options["duration"] + options["warmup"])
