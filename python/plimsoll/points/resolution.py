"""An undertaking whose words are known: workloads found in the catalog or in files, a target everywhere.

Model: an experiment names workloads and settings; here they meet the catalog and the engine. Nothing is refused but what cannot be found.

    resolved_experiment(experiment, "folder/of/the/suite", engine).workloads
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace

from plimsoll import catalog
from plimsoll.analysis.point.definition import overwrites
from plimsoll.engine.protocol import Engine
from plimsoll.errors import InputError
from plimsoll.experiments.experiment import Experiment
from plimsoll.points.arguments import Arguments
from plimsoll.points.drivers import driver_of
from plimsoll.points.experiment_points import ExperimentPoints
from plimsoll.points.layouts import Layouts
from plimsoll.points.looks import Looks
from plimsoll.points.undertaking import Undertaking
from plimsoll.records import dataclass
from plimsoll.scratch import default_target
from plimsoll.stored import Definition, Json, StoredPrice
from plimsoll.target import Target

#: Workloads with the targets that they go to.
Uses = Sequence[tuple[Definition, Target]]


@dataclass(frozen=True)
class Resolved:
    """An undertaking whose workloads and targets are known, with what makes the points of each experiment."""

    asked: Undertaking
    experiments: tuple[Experiment, ...]
    points: tuple[ExperimentPoints, ...]
    looks: Looks
    layouts: Layouts
    engine: Engine

    def forms(self) -> Iterator[Definition]:
        """Every workload in every form that is known."""
        return (workload for points in self.points for workload in points.forms())


def resolved_experiment(experiment: Experiment, folder: str, engine: Engine) -> Experiment:
    """The experiment with its own or `catalog.sources` for workloads (tags spelled out, files from ``folder``), and a target everywhere."""
    sources = [found for workload in experiment.workloads for found in _sources(workload, experiment, folder)]
    usual = _usual_target(sources, experiment, engine)
    configurations = tuple(replace(one, target=one.target or usual) for one in experiment.configurations)
    return replace(experiment, workloads=tuple(dict.fromkeys(sources)), configurations=configurations)


def _usual_target(sources: Sequence[str], experiment: Experiment, engine: Engine) -> str:
    """What is measured where no target is named: a scratch file or a directory; empty where workloads need one of each."""
    usual = {_usual(source, experiment, engine) for source in sources}
    return usual.pop() if len(usual) == 1 else ""


def _usual(source: str, experiment: Experiment, engine: Engine) -> str:
    document = experiment.definitions.get(source) or catalog.load(source)
    try:
        return default_target(driver_of(document, engine))
    except InputError as unknown:
        raise InputError(f"{catalog.file_of(source)}: {unknown}") from None


def _sources(workload: str, experiment: Experiment, folder: str) -> list[str]:
    if workload in experiment.definitions:
        return [workload]
    return catalog.sources(os.path.join(folder, workload) if catalog.is_file(workload) else workload)


def uses_of(resolved: Resolved) -> Uses:
    """Every target once for each driver, with a workload that writes to it where there is one: grids have thousands of alike points."""
    found: dict[Target, Definition] = {}
    for points in resolved.points:
        for workload, target in points.applied():
            if target not in found or (overwrites(workload) and not overwrites(found[target])):
                found[target] = workload
    return [(workload, target) for target, workload in found.items()]


def written(experiments: Sequence[Experiment]) -> Json:
    """The options of `check_effect` that the experiments set; the first that does speaks for all."""
    settings = [table for one in experiments for table in (one.settings, *(item.settings for item in one.configurations))]
    found = {"size": next((table["size"] for table in settings if "size" in table), None)}
    return found | {"cache": next((one.cache for one in experiments if one.cache != "as found"), None)}


def prices_of(resolved: Resolved, arguments: Arguments) -> dict[str, StoredPrice]:
    """What sides cost, as it was typed, by their names; raises `InputError` for a side that is not measured."""
    if not arguments.prices:
        return {}
    from plimsoll.points.prices import to_store

    configurations = [configuration for experiment in resolved.experiments for configuration in experiment.configurations]
    return to_store(arguments.prices, list(dict.fromkeys((one.name, one.target) for one in configurations)))
