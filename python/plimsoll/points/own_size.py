"""Targets that have a size of their own: a device, or a file that Plimsoll did not make. The ``size`` of a suite's file is not for them.

Model: that size is how large scratch files are made. Where several hosts measure, what their targets are is known to them alone, and what
one of them has counts for all, since all get the same options.

    has_own_size(engine.inspect_target(target))
    without_size(experiment)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import cast

from plimsoll.experiments.experiment import Experiment
from plimsoll.stored import Inspection


def has_own_size(inspection: Inspection) -> bool:
    """Whether a part of the target, on any host, keeps the size that it has."""
    inspections = of_hosts(inspection).values()
    return any(part["exists"] and not part["made_by_plimsoll"] for one in inspections for part in one.get("parts") or [])


def of_hosts(inspection: Inspection) -> Mapping[str, Inspection]:
    """What each host has found, by its name; of this host alone the name is empty."""
    return cast("Mapping[str, Inspection]", inspection.get("hosts") or {"": inspection})


def without_size(experiment: Experiment) -> Experiment:
    """The experiment as targets are measured that have a size of their own."""
    return replace(experiment, settings={name: value for name, value in experiment.settings.items() if name != "size"})


def fitted(experiments: Iterable[Experiment], has_own: Callable[[str], bool]) -> tuple[Experiment, ...]:
    """Each without its ``size`` where one of its targets has its own; ``has_own`` says it of the text of a target."""

    def fits(one: Experiment) -> bool:
        return "size" not in one.settings or not any(has_own(item.target) for item in one.configurations if item.target)

    return tuple(one if fits(one) else without_size(one) for one in experiments)
