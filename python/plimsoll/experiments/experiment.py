"""One experiment as it was read: everything resolved, every default filled in, nothing of the machine yet.

Model: what to measure (workloads in configurations), how hard (the axes and the parameters of the kind), and under which rules (repeats,
order, cache, precision, objective). Values are canonical, so two experiments are the same when their JSON forms are equal; that form is
stored with a run, and a run is only resumed by the experiment that began it.
Limits: workload names are kept as written; what they stand for, and what an option means, others say.

    experiment = Experiment("random", "steps", ("oltp-db",), (Configuration("disk", "/dev/sdb"),), over={"queue_depth": (1, 2, 4)})
    Experiment.from_json(experiment.to_json()) == experiment
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Any

from plimsoll.errors import StoreError
from plimsoll.experiments.plan import Configuration, Subject
from plimsoll.records import dataclass
from plimsoll.stored import Experiment as Stored
from plimsoll.stored import Json


@dataclass(frozen=True)
class Experiment:
    """What an experiment asks for.

    ``over`` holds the levels of each axis in their nesting order; for a kind that looks for a level, its two ends. ``settings`` are options
    over the workload's own, those of all streams first. ``parameters`` are the options that only some kinds have, complete for this one.
    """

    name: str
    kind: str
    workloads: tuple[str, ...]
    configurations: tuple[Configuration, ...]
    over: Mapping[str, tuple[Any, ...]] = field(default_factory=dict, hash=False)
    settings: Mapping[str, Any] = field(default_factory=dict, hash=False)
    objective: str | None = None
    repeat: int = 1
    interleave: bool = False
    cache: str = "as found"
    precision: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict, hash=False)
    #: Definitions of those workloads that the file defines itself, by name.
    definitions: Mapping[str, Json] = field(default_factory=dict, hash=False)

    @property
    def axis(self) -> str:
        """The option that a kind with a single load axis varies."""
        (name,) = self.over
        return name

    def subjects(self, workload: str) -> Iterator[Subject]:
        """One workload in every configuration."""
        return (Subject(workload, configuration) for configuration in self.configurations)

    def to_json(self) -> Stored:
        """The canonical stored form. Axes are a list, because their order is part of what was asked."""
        return {
            "name": self.name,
            "kind": self.kind,
            "workloads": list(self.workloads),
            "configurations": [{"name": item.name, "target": item.target, "set": dict(item.settings)} for item in self.configurations],
            "over": [{"option": option, "levels": list(levels)} for option, levels in self.over.items()],
            "set": dict(self.settings),
            "objective": self.objective,
            "repeat": self.repeat,
            "interleave": self.interleave,
            "cache": self.cache,
            "precision": self.precision,
            "parameters": dict(self.parameters),
            "definitions": dict(self.definitions),
        }

    @classmethod
    def from_json(cls, value: Json) -> Experiment:
        """The experiment that a stored form holds; raises `StoreError` when it is not one."""
        try:
            configurations = [Configuration(item["name"], item["target"], dict(item["set"])) for item in value["configurations"]]
            return cls(
                name=value["name"],
                kind=value["kind"],
                workloads=tuple(value["workloads"]),
                configurations=tuple(configurations),
                over={axis["option"]: tuple(axis["levels"]) for axis in value["over"]},
                settings=dict(value["set"]),
                objective=value["objective"],
                repeat=value["repeat"],
                interleave=value["interleave"],
                cache=value["cache"],
                precision=value["precision"],
                parameters=dict(value["parameters"]),
                definitions=dict(value.get("definitions", {})),
            )
        except (KeyError, TypeError, ValueError) as problem:
            raise StoreError(
                f"a stored experiment cannot be read ({type(problem).__name__}: {problem}); "
                "the file was changed after Plimsoll wrote it, or another version wrote it."
            ) from None


@dataclass(frozen=True)
class Suite:
    """The experiments of one file, with where they come from; ``published`` names the figures to show beside what is measured."""

    title: str
    purpose: str
    source: str
    rationale: str
    experiments: tuple[Experiment, ...]
    published: tuple[str, ...] = ()
