"""The experiment file that does what an ICF asks for: one experiment per specification, in Iometer's order.

Model: for each specification in the order of its assignment, the tests of the series. A queue depth that is cycled makes the experiment one
of kind ``steps``; numbers of workers and targets make configurations, in which the streams that do not take part have no threads. Where
only the number of alike, random workers changes, the steps are over threads instead. A load is a stream: an access list per
specification, a thread per worker, a region per target. Iometer's sequential pointer belongs to one worker at one target and starts where
the region starts, so workers become threads of one stream only where every request is random; otherwise each is a stream of its own.
Limits: a target used with alignment 0 is used in sectors of 512 bytes, as Iometer uses a disk whose sectors it does not know.

    document(file, "load.icf", intent)["experiment"][0]["kind"]
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from plimsoll.formats.iometer.model import AccessLine, AccessSpec, IometerFile, Setup
from plimsoll.formats.iometer.resolve import Intent, Load, Stage
from plimsoll.formats.iometer.storage import SECTOR, Layout
from plimsoll.stored import Json
from plimsoll.units import size_text

#: Loads that are threads of the same stream.
Group = list[Load]

#: The byte that stands for Iometer's repeated ones, which change from request to request.
REPEATED_BYTE = "0x5a"
REPEATING = 0
NAME_LENGTH = 40


def grouped(loads: Sequence[Load], stages: Sequence[Stage]) -> list[Group]:
    """Loads by stream: those that are alike, all random, and take part in the same stages go together."""
    groups: dict[object, Group] = {}
    for load in loads:
        taking = tuple(stage.takes(load.access) for stage in stages)
        key = (load.target, load.spec.name, load.assignment.settings, taking) if is_random(load.spec) else load.access
        groups.setdefault(key, []).append(load)
    return list(groups.values())


def is_random(spec: AccessSpec) -> bool:
    """Whether no request follows another."""
    return all(line.random == 100 for line in spec.lines)


def stream(group: Group, name: str, layout: Layout) -> Json:
    """The stream that ``group`` is."""
    load = group[0]
    settings = load.assignment.settings
    made: Json = {
        "name": name,
        "access": [_entry(line) for line in load.spec.lines],
        "threads": len(group),
        "queue_depth": settings.outstanding or 1,
        **_region(load, layout),
    }
    if settings.data_pattern == REPEATING:
        made |= {"content": "pattern", "pattern": REPEATED_BYTE}
    if settings.use_fixed_seed and settings.fixed_seed is not None:
        # Ours are of 63 bits.
        made["seed"] = settings.fixed_seed % 2**63
    return made


def stream_names(groups: Sequence[Group]) -> list[str]:
    """A name for each, from its worker and, where that has several, its target."""
    names: list[str] = []
    for group in groups:
        load = group[0]
        name = slug(load.assignment.worker.name) or "worker"
        if len(load.assignment.targets) > 1:
            name = f"{name}-target-{load.access.target + 1}"
        if len(group) > 1:
            name = f"{name}-and-{len(group) - 1}-more"
        names.append(unique(name, names))
    return names


def slug(text: str) -> str:
    """``text`` in letters, digits and dashes."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:NAME_LENGTH].strip("-")


def unique(name: str, taken: Sequence[str]) -> str:
    """``name``, with a number behind it where it is taken."""
    number, found = 1, name
    while found in taken:
        number += 1
        found = f"{name}-{number}"
    return found


def _entry(line: AccessLine) -> Json:
    entry: Json = {
        "weight": line.share,
        "size": size_text(line.size),
        "read_percent": line.reads,
        "random_percent": line.random,
        "align": size_text(line.align or SECTOR),
    }
    if line.burst != 1:
        entry["burst"] = line.burst
    if line.delay_ms:
        entry["delay"] = f"{line.delay_ms}ms"
    return entry


def _region(load: Load, layout: Layout) -> Json:
    settings = load.assignment.settings
    start = (settings.starting_sector or 0) * SECTOR
    lengths = [(settings.maximum_sectors or 0) * SECTOR, _rest(load, layout, start)]
    length = min(filter(None, lengths), default=0)
    return {
        **({"parts": layout.parts[load.target]} if load.target in layout.parts else {}),
        **({"region_start": size_text(start)} if start else {}),
        **({"region_length": size_text(length)} if length else {}),
    }


def _rest(load: Load, layout: Layout, starting: int) -> int:
    """From the starting sector to the end of a target whose size is known; 0 for to the end of the whole."""
    length = layout.lengths[load.target]
    return max(length - starting, SECTOR) if length is not None else 0


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
            label = unique(_printable(stage.label or layout.label), [item["name"] for item in found])
            found.append({"name": label, **target, **({"set": off} if off else {})})
        return found


def _printable(label: str) -> str:
    """A label as experiments take it: in names of targets any character may stand."""
    return "".join(character if character.isprintable() else " " for character in label).strip() or "targets"


def _kind(loads: list[Load]) -> str:
    """Under which heading reports put it."""
    shares = [line.random for load in loads for line in load.spec.lines]
    return "sequential" if not any(shares) else "random" if all(share == 100 for share in shares) else "combined"
