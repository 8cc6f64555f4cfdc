"""The experiment file that does what an ICF asks for: one experiment per specification, in Iometer's order.

Model: for each specification in the order of its assignment, the tests of the series. A queue depth that is cycled makes the experiment one
of kind ``steps``; numbers of workers and targets make configurations, in which the streams that do not take part have no threads. Where
only the number of alike, random workers changes, the steps are over threads instead.

    document(file, "load.icf", intent)["experiment"][0]["kind"]
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from plimsoll.formats.iometer.cycling import Stage
from plimsoll.formats.iometer.intent import Intent, Load
from plimsoll.formats.iometer.model import IometerFile, Setup
from plimsoll.formats.iometer.streams import Group, grouped, is_random, size_text, slug, stream, stream_names, unique

Json = dict[str, Any]


def document(file: IometerFile, source: str, intent: Intent) -> Json:
    """The tables of the experiment file."""
    setup = file.setup or Setup()
    writing = _Writing(intent, _settings(setup, intent))
    for run in range(intent.runs):
        loads = intent.loads(run)
        if loads:
            writing.add(loads)
    return {
        "title": (setup.description or "").strip() or "Iometer configuration",
        "source": f"{source}, written by Iometer {file.version.text}",
        "workload": list(writing.workloads.values()),
        "experiment": writing.experiments,
    }


def run_time_s(setup: Setup) -> int:
    """Seconds of measured time; 0 is until somebody stops it."""
    hours, minutes, seconds = setup.run_time or (0, 0, 0)
    return hours * 3600 + minutes * 60 + seconds


def steps_over_threads(loads: list[Load], intent: Intent) -> bool:
    """Whether the workers that are cycled are alike in everything, so that their number is a number of threads."""
    if intent.series.test_type != "CYCLE_WORKERS" or len({load.access.manager for load in loads}) != 1:
        return False
    workers = {load.access.worker for load in loads}
    groups = grouped(loads, ())
    return all(is_random(load.spec) for load in loads) and all(len(group) == len(workers) for group in groups) and _counts_up(workers)


def _counts_up(workers: set[int]) -> bool:
    """Idle workers among them would be counted as well."""
    return workers == set(range(len(workers)))


def _settings(setup: Setup, intent: Intent) -> Json:
    duration = run_time_s(setup)
    size = intent.layout.size_bytes
    return {
        **({"duration": f"{duration}s"} if duration else {}),
        "warmup": f"{setup.ramp_up_s or 0}s",
        **({"size": size_text(size)} if size else {}),
    }


@dataclass
class _Writing:
    """The document as it grows."""

    intent: Intent
    settings: Json
    workloads: dict[str, Json] = field(default_factory=dict)
    experiments: list[Json] = field(default_factory=list)

    def add(self, loads: list[Load]) -> None:
        """The experiment of one specification."""
        series = self.intent.series
        if steps_over_threads(loads, self.intent):
            name = self._workload(loads, grouped(loads, ()))
            levels = [stage.workers for stage in series.stages if stage.workers is not None]
            self._experiment(name, {"kind": "steps", "over": {"threads": levels}}, self._configurations([], [Stage()]))
            return
        stages = [stage for stage in series.stages if any(stage.takes(load.access) for load in loads)]
        groups = grouped(loads, stages)
        name = self._workload(loads, groups)
        how: Json = {"kind": "single"} if series.depths is None else {"kind": "steps", "over": {"queue_depth": list(series.depths)}}
        self._experiment(name, how, self._configurations(groups, stages))

    def _workload(self, loads: list[Load], groups: list[Group]) -> str:
        """The name of the workload of these streams, which is written unless it stands already."""
        titles = list(dict.fromkeys(load.spec.name for load in loads))
        body = {
            "title": " + ".join(titles),
            "group": _kind(loads),
            "purpose": f"Access specification {' and '.join(titles)} of an Iometer configuration.",
            "stream": [stream(group, name, self.intent.layout) for group, name in zip(groups, stream_names(groups), strict=True)],
        }
        for name, workload in self.workloads.items():
            if {key: value for key, value in workload.items() if key != "name"} == body:
                return name
        name = unique(slug(" and ".join(titles)) or "specification", list(self.workloads))
        self.workloads[name] = {"name": name, **body}
        return name

    def _experiment(self, workload: str, how: Json, configurations: list[Json]) -> None:
        taken = [experiment["name"] for experiment in self.experiments]
        experiment = {"name": unique(workload, taken), **how, "workloads": [workload], "set": dict(self.settings)}
        self.experiments.append({**experiment, **({"configurations": configurations} if configurations else {})})

    def _configurations(self, groups: list[Group], stages: list[Stage]) -> list[Json]:
        layout = self.intent.layout
        if layout.target is None and len(stages) == 1 and not stages[0].label:
            return []
        names = stream_names(groups)
        target = {} if layout.target is None else {"target": layout.target}
        found: list[Json] = []
        for stage in stages:
            off = {f"{name}.threads": 0 for group, name in zip(groups, names, strict=True) if not stage.takes(group[0].access)}
            label = unique(stage.label or layout.label, [item["name"] for item in found])
            found.append({"name": label, **target, **({"set": off} if off else {})})
        return found


def _kind(loads: list[Load]) -> str:
    """Under which heading reports put it."""
    shares = [line.random for load in loads for line in load.spec.lines]
    return "sequential" if not any(shares) else "random" if all(share == 100 for share in shares) else "combined"
