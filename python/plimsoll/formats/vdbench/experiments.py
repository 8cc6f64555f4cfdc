"""A run as tables of an experiment file: its workload, and how it is varied.

Model: a run without loops is kind 'single', one at iorate=curve kind 'curve'. Loops become axes: kind 'steps' over a single axis of
threads or rate, kind 'matrix' otherwise, in the order in which Vdbench nests them. That holds only where every round differs from the
first in nothing but the axes; other runs become one experiment for each round, with a workload of its own.

    Runs(planning).tables()        # ([workload, …], [experiment, …])
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

from plimsoll.formats.vdbench.content import errors_allowed
from plimsoll.formats.vdbench.definition import Definition
from plimsoll.formats.vdbench.loops import Loop, loops_of, rounds
from plimsoll.formats.vdbench.numbers import decimal_text, number, parse, size_text
from plimsoll.formats.vdbench.pace import Pace, pace_of
from plimsoll.formats.vdbench.parameter import Word
from plimsoll.formats.vdbench.planning import Planning
from plimsoll.formats.vdbench.storage import SIZE_MAX, Storage
from plimsoll.formats.vdbench.streams import Composer, Load, Rate, slug, unique
from plimsoll.formats.vdbench.timing import timing

Json = dict[str, Any]

#: The option that a loop varies where it is an axis.
AXES = {
    "threads": "threads",
    "xfersize": "block_size",
    "rdpct": "read_percent",
    "seekpct": "random_percent",
    "compratio": "compress_ratio",
    "rate": "rate",
}
#: Axes that are levels of load.
_LOAD = ("threads", "rate")
#: Loops over sizes.
_SIZED = ("xfersize", "hitarea")
REPEAT_MAX = 1000
RESPONSE_MIN_MS, RESPONSE_MAX_MS = 0.001, 3_600_000


@dataclass(frozen=True)
class _Round:
    """One point of a run: the loops' values, the rate with them, and what follows."""

    choice: Mapping[str, Word]
    load: Load


@dataclass
class Runs:
    """Turns the runs of a file into tables, one after the other."""

    planning: Planning
    workloads: list[Json] = field(default_factory=list)
    experiments: list[Json] = field(default_factory=list)
    _workload_names: set[str] = field(default_factory=set)
    _experiment_names: set[str] = field(default_factory=set)
    #: What the run before drove, where that was one round at iorate=max.
    _observed: Load | None = None

    def tables(self) -> tuple[list[Json], list[Json]]:
        """Workloads and experiments of all runs, in the order of the file."""
        for run in self.planning.file.of("rd").values():
            self.planning.used.add(run)
            self._run(run)
        return self.workloads, self.experiments

    def _run(self, run: Definition) -> None:
        verdicts = self.planning.verdicts
        pace, loops = pace_of(run, verdicts), loops_of(run)
        composer = Composer(self.planning, run, loops)
        shared = self._shared(run)
        points = list(_rounds(composer, loops, pace))
        if pace.kind == "percents":
            self._check_observed(pace, points)
        if pace.kind in ("curve", "percents"):
            self._say_of_shares(pace, points)
            for point in points:
                self._add("curve", run, point, shared | _curve(run, pace))
        elif len(points) == 1:
            self._add("single", run, points[0], shared)
        else:
            axes = _axes(points, [*loops, Loop("rate", pace.parameter, ())])
            if axes:
                kind = "steps" if len(axes) == 1 and next(iter(axes)) in _LOAD else "matrix"
                self._add(kind, run, _Round({}, points[0].load), {"over": axes} | shared)
            else:
                for point in points:
                    self._add("single", run, point, shared)
        self._observed = points[0].load if pace.kind == "max" and len(points) == 1 else None

    def _shared(self, run: Definition) -> Json:
        """What all experiments of a run have, whatever their kind."""
        shared: Json = {"set": timing(run, self.planning.verdicts) | errors_allowed(self.planning)}
        repeat = self._repeat()
        return shared | ({"repeat": repeat} if repeat > 1 else {})

    def _repeat(self) -> int:
        parameter = self.planning.general("loop")
        if parameter is None:
            return 1
        found = parse(parameter.word)
        if re.fullmatch(r"\d+[smh]", parameter.word, re.IGNORECASE):
            self.planning.verdicts.unsupported(parameter, "runs are repeated by number, not for a time; the nearest thing is loop=NUMBER")
            return 1
        if found is None or found.value != int(found.value) or not 1 <= found.value <= REPEAT_MAX:
            raise parameter.wrong(f"write a whole number from 1 to {REPEAT_MAX}.")
        why = "repeat: each point so many times in a row, each with its own seed; Vdbench goes through all runs before it begins again"
        self.planning.verdicts.native(parameter, why)
        return int(found.value)

    def _check_observed(self, pace: Pace, points: Sequence[_Round]) -> None:
        if all(point.load == self._observed for point in points):
            self.planning.verdicts.native(pace.parameter, 'kind "curve": the maximum is measured again, then the percentages of it')
        else:
            why = (
                "a percentage is of the rate that the run before reached, and that was not this workload at iorate=max; the nearest thing "
                "is iorate=curve with these percentages"
            )
            self.planning.verdicts.unsupported(pace.parameter, why)

    def _say_of_shares(self, pace: Pace, points: Sequence[_Round]) -> None:
        if any(len(point.load.streams) > 1 for point in points):
            why = "the rates of streams divide as they did at the maximum; Vdbench divides them by skew, and equally over SDs"
            self.planning.verdicts.ignored(pace.parameter, why)

    def _add(self, kind: str, run: Definition, point: _Round, more: Json) -> None:
        title = ", ".join([run.name, *(f"{name} {_told(name, value)}" for name, value in point.choice.items())])
        workload = unique(slug(title), self._workload_names)
        self.workloads.append({"name": workload, "title": title, "stream": point.load.streams})
        name = unique(re.sub(r"[^A-Za-z0-9_.-]+", " ", title).strip(" .-") or "run", self._experiment_names)
        sizes = self._scratch_size(point.load.storages)
        experiment: Json = {"name": name, "kind": kind, "workloads": [workload], **more}
        experiment["set"] = {**more["set"], **sizes}
        storages = " + ".join(storage.name for storage in point.load.storages)
        experiment["configurations"] = [{"name": storages, "target": point.load.target}]
        if point.load.empties_cache:
            experiment["cache"] = "cold"
        self.experiments.append(experiment)

    def _scratch_size(self, storages: Sequence[Storage]) -> Json:
        """How large the files are that do not exist yet."""
        made = {storage.path: storage for storage in storages if not storage.device and storage.found is None and storage.size is not None}
        sizes = {path: max(item.size or 0 for item in storages if item.path == path) for path in made}
        if not sizes:
            return {}
        paths = {storage.path for storage in storages}
        why = ""
        if len(set(sizes.values())) > 1 or len(sizes) < len(paths):
            why = "files are made together only if all of the run's targets are files of one size that do not exist; make them beforehand"
        elif next(iter(sizes.values())) % 4096:
            why = "a file is made in whole pages; the nearest thing is a multiple of 4096"
        elif sum(sizes.values()) > SIZE_MAX:
            why = "files of more than 1 PiB together are not made; write a smaller size"
        if why:
            for storage in made.values():
                self.planning.verdicts.unsupported(storage.definition.get("size") or storage.lun, why)
            return {}
        return {"size": sum(sizes.values())}


def _rounds(composer: Composer, loops: Sequence[Loop], pace: Pace) -> Iterator[_Round]:
    for choice in rounds(loops):
        if pace.kind != "rates":
            yield _Round(_varied(choice, loops), composer.load(choice, None))
        for rate in pace.rates:
            told = {"rate": Word(f"{rate:g}")} if len(pace.rates) > 1 else {}
            yield _Round({**_varied(choice, loops), **told}, composer.load(choice, Rate(rate, pace.arrival)))


def _told(name: str, value: Word) -> str:
    """A loop's value as names say it."""
    found = parse(value.text)
    return value.text if found is None or name not in _SIZED else str(size_text(found.value))


def _varied(choice: Mapping[str, Word], loops: Sequence[Loop]) -> dict[str, Word]:
    """The values of loops that have several."""
    several = {loop.name for loop in loops if len(loop.values) > 1}
    return {name: value for name, value in choice.items() if name in several}


def _axes(points: Sequence[_Round], loops: Sequence[Loop]) -> dict[str, list[Any]]:
    """Options with their levels, outermost first, if the points differ in nothing else; otherwise nothing."""
    names = [loop.name for loop in loops if loop.name in points[0].choice]
    if any(name not in AXES for name in names):
        return {}
    if "rate" in names and len(points[0].load.streams) > 1:
        # Levels would be rates of each stream, while the file speaks of the rate of the whole.
        return {}
    axes: dict[str, dict[str, Any]] = {name: {} for name in names}
    first = points[0].load
    for point in points:
        levels = {name: _level(point.load, AXES[name]) for name in names}
        expected = [stream | {AXES[name]: level for name, level in levels.items()} for stream in first.streams]
        if None in levels.values() or point.load.streams != expected or point.load.target != first.target:
            return {}
        for name, value in point.choice.items():
            axes[name][value.text] = levels[name]
    found = {AXES[name]: list(levels.values()) for name, levels in axes.items()}
    many = prod(len(each) for each in found.values())
    distinct = all(len({repr(level) for level in each}) == len(each) for each in found.values())
    return found if many == len(points) and distinct else {}


def _level(load: Load, option: str) -> Any:
    """The value that all streams have in common."""
    values = [stream.get(option) for stream in load.streams]
    return values[0] if all(value == values[0] for value in values) else None


def _curve(run: Definition, pace: Pace) -> Json:
    options: Json = {"percent": list(pace.percents), "rounding": "vdbench", "arrival": pace.arrival}
    stop = run.get("stopcurve")
    if stop is not None and pace.kind == "curve":
        limit = number(stop).value
        if not RESPONSE_MIN_MS <= limit <= RESPONSE_MAX_MS:
            raise stop.wrong("that is no response time; write milliseconds such as 30.")
        options["objective"] = f"mean <= {decimal_text(limit, 6)}ms"
    return options
