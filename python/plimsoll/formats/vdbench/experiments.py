"""A run as tables of an experiment file: its workload, and how it is varied.

Model: a run without loops is kind 'single', one at iorate=curve kind 'curve'. Loops become axes: kind 'steps' over a single axis of
threads or rate, kind 'matrix' otherwise, in the order in which Vdbench nests them. That holds only where every round differs from the
first in nothing but the axes; other runs become one experiment for each round, with a workload of its own.

    runs = Runs(planning, BLOCK_DEVICES)
    runs.run(planning.runs[0])
    runs.made()        # Made([workload, …], [experiment, …], notes, used)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

from plimsoll.formats.vdbench.content import errors_allowed
from plimsoll.formats.vdbench.load import Composing, Load, Loop, Rate, loops_of, rounds
from plimsoll.formats.vdbench.model import Definition, Word
from plimsoll.formats.vdbench.notes import Note, Notes, Translated, ignored, native, together, unsupported
from plimsoll.formats.vdbench.pace import Pace, pace_of, timing
from plimsoll.formats.vdbench.resolve import Planning, RunSettings
from plimsoll.formats.vdbench.values import decimal_text, number, parse, size_text, slug, unique
from plimsoll.stored import Json

#: Axes that are levels of load.
_LOAD = ("threads", "rate")
#: Loops over sizes.
_SIZED = ("xfersize", "hitarea", "xfersizes", "sizes", "totalsize", "workingsetsize")
#: Options of trees; every other one is of streams.
_OF_TREES = ("depth", "width", "files", "sizes", "total_size", "working_set")
REPEAT_MAX = 1000
RESPONSE_MIN_MS, RESPONSE_MAX_MS = 0.001, 3_600_000


@dataclass(frozen=True)
class Family:
    """What runs of block devices and runs of file systems do not share.

    ``rate`` is the keyword of the run's rate; ``loops`` says which keyword each loop varies, ``axes`` which option that is.
    """

    rate: str
    loops: Mapping[str, str]
    axes: Mapping[str, str]
    composer: Callable[[Planning, RunSettings, Sequence[Loop]], Composing]


@dataclass(frozen=True)
class _Round:
    """One point of a run: the loops' values, the rate with them, and what follows."""

    choice: Mapping[str, Word]
    load: Load


@dataclass(frozen=True)
class Made:
    """The tables of runs, what is to be said of the parameters behind them, and the definitions that they use."""

    workloads: list[Json]
    experiments: list[Json]
    notes: Notes
    used: frozenset[Definition]


@dataclass
class Runs:
    """Turns the runs of a file into tables, one after the other."""

    planning: Planning
    family: Family
    workloads: list[Json] = field(default_factory=list)
    experiments: list[Json] = field(default_factory=list)
    _workload_names: set[str] = field(default_factory=set)
    _experiment_names: set[str] = field(default_factory=set)
    _notes: list[Note] = field(default_factory=list)
    _used: set[Definition] = field(default_factory=set)
    #: What the run before drove, where that was one round at iorate=max.
    _observed: Load | None = None

    def all(self) -> Made:
        """The tables of every run."""
        for run in self.planning.runs:
            self.run(run)
        return self.made()

    def made(self) -> Made:
        """Workloads and experiments of all runs so far."""
        return Made(self.workloads, self.experiments, tuple(self._notes), frozenset(self._used))

    def run(self, run: RunSettings) -> None:
        """Adds the tables of one run."""
        pace = pace_of(run)
        loops, looped = loops_of(run.definition, self.family.loops)
        composer = self.family.composer(self.planning, run, loops)
        self._used |= {run.definition, *composer.used}
        common = self._shared(run)
        shared = common.options
        points = list(_rounds(composer, loops, pace))
        self._notes += [*pace.notes, *looped, *common.notes, *(note for point in points for note in point.load.notes)]
        if pace.kind == "percents":
            self._notes.append(self._observed_note(pace, points))
        if pace.kind in ("curve", "percents"):
            self._notes += _divided(pace, points)
            for point in points:
                self._add("curve", run, point, shared | _curve(run, pace, of_files=self.family.rate == "fwdrate"))
        elif len(points) == 1:
            self._add("single", run, points[0], shared)
        else:
            axes = self._axes(points, [*loops, Loop("rate", pace.parameter, ())])
            if axes:
                kind = "steps" if len(axes) == 1 and next(iter(axes)) in _LOAD else "matrix"
                self._add(kind, run, _Round({}, points[0].load), {"over": axes} | shared)
            else:
                for point in points:
                    self._add("single", run, point, shared)
        self._observed = points[0].load if pace.kind == "max" and len(points) == 1 else None

    def point(self, run: RunSettings, load: Load, settings: Json) -> None:
        """Adds a single point of a run."""
        self._used.add(run.definition)
        self._notes += load.notes
        self._add("single", run, _Round({}, load), {"set": settings})

    def say(self, notes: Iterable[Note], used: Iterable[Definition]) -> None:
        """Adds what is to be said beside the runs."""
        self._notes += notes
        self._used |= set(used)

    def _shared(self, run: RunSettings) -> Translated:
        """What all experiments of a run have, whatever their kind."""
        settings = together((timing(run), errors_allowed(self.planning.general.data_errors)))
        repeat, said = self._repeat()
        return Translated({"set": settings.options} | ({"repeat": repeat} if repeat > 1 else {}), (*settings.notes, *said))

    def _repeat(self) -> tuple[int, Notes]:
        parameter = self.planning.general.loop
        if parameter is None:
            return 1, ()
        found = parse(parameter.word)
        if re.fullmatch(r"\d+[smh]", parameter.word, re.IGNORECASE):
            return 1, (unsupported(parameter, "runs are repeated by number, not for a time; the nearest thing is loop=NUMBER"),)
        if found is None or found.value != int(found.value) or not 1 <= found.value <= REPEAT_MAX:
            raise parameter.wrong(f"write a whole number from 1 to {REPEAT_MAX}.")
        why = "repeat: each point so many times in a row, each with its own seed; Vdbench goes through all runs before it begins again"
        return int(found.value), (native(parameter, why),)

    def _observed_note(self, pace: Pace, points: Sequence[_Round]) -> Note:
        if all(point.load == self._observed for point in points):
            return native(pace.parameter, 'kind "curve": the maximum is measured again, then the percentages of it')
        rate = self.family.rate
        why = (
            f"a percentage is of the rate that the run before reached, and that was not this workload at {rate}=max; the nearest "
            f"thing is {rate}=curve with these percentages"
        )
        return unsupported(pace.parameter, why)

    def _add(self, kind: str, run: RunSettings, point: _Round, more: Json) -> None:
        title = ", ".join([run.name, *(f"{name} {_told(name, value)}" for name, value in point.choice.items())])
        workload = unique(slug(title), self._workload_names)
        self.workloads.append({"name": workload, "title": title, **point.load.workload})
        name = unique(re.sub(r"[^A-Za-z0-9_.-]+", " ", title).strip(" .-") or "run", self._experiment_names)
        experiment: Json = {"name": name, "kind": kind, "workloads": [workload], **more}
        experiment["set"] = {**more["set"], **point.load.settings}
        experiment["configurations"] = [{"name": point.load.label, "target": point.load.target}]
        if point.load.empties_cache:
            experiment["cache"] = "cold"
        self.experiments.append(experiment)

    def _axes(self, points: Sequence[_Round], loops: Sequence[Loop]) -> dict[str, list[Any]]:
        """Options with their levels, outermost first, if the points differ in nothing else; otherwise nothing."""
        names = [loop.name for loop in loops if loop.name in points[0].choice]
        first = points[0].load
        if any(name not in self.family.axes for name in names):
            return {}
        if "rate" in names and len(first.streams) > 1:
            # Levels would be rates of each stream, while the file speaks of the rate of the whole.
            return {}
        options = {name: _option(self.family.axes[name], first) for name in names}
        axes: dict[str, dict[str, Any]] = {name: {} for name in names}
        for point in points:
            levels = {name: _level(point.load, option) for name, option in options.items()}
            expected = _varied_load(first, {option: levels[name] for name, option in options.items()})
            if None in levels.values() or (point.load.trees, point.load.streams) != expected or point.load.target != first.target:
                return {}
            for name, value in point.choice.items():
                axes[name][value.text] = levels[name]
        found = {options[name]: list(levels.values()) for name, levels in axes.items()}
        many = prod(len(each) for each in found.values())
        distinct = all(len({repr(level) for level in each}) == len(each) for each in found.values())
        return found if many == len(points) and distinct else {}


def _divided(pace: Pace, points: Sequence[_Round]) -> Notes:
    if not any(len(point.load.streams) > 1 for point in points):
        return ()
    return (ignored(pace.parameter, "the rates of streams divide as they did at the maximum; Vdbench divides them by skew"),)


def _rounds(composer: Composing, loops: Sequence[Loop], pace: Pace) -> Iterator[_Round]:
    for choice in rounds(loops):
        if pace.kind != "rates":
            yield _Round(_varied(choice, loops), composer.load(choice, None))
        for rate in pace.rates:
            told = {"rate": Word("max" if rate is None else f"{rate:g}")} if len(pace.rates) > 1 else {}
            yield _Round({**_varied(choice, loops), **told}, composer.load(choice, None if rate is None else Rate(rate, pace.arrival)))


def _told(name: str, value: Word) -> str:
    """A loop's value as names say it."""
    found = parse(value.text)
    return value.text if found is None or name not in _SIZED else str(size_text(found.value))


def _varied(choice: Mapping[str, Word], loops: Sequence[Loop]) -> dict[str, Word]:
    """The values of loops that have several."""
    several = {loop.name for loop in loops if len(loop.values) > 1}
    return {name: value for name, value in choice.items() if name in several}


def _option(axis: str, load: Load) -> str:
    """The option that an axis varies; the threads of an open stream are slots of one thread."""
    return "queue_depth" if axis == "threads" and any("queue_depth" in stream for stream in load.streams) else axis


def _level(load: Load, option: str) -> Any:
    """The value that all streams, or all trees, have in common."""
    values = [table.get(option) for table in (load.trees if option in _OF_TREES else load.streams)]
    return values[0] if values and all(value == values[0] for value in values) else None


def _varied_load(load: Load, levels: Mapping[str, Any]) -> tuple[list[Json], list[Json]]:
    """Trees and streams with levels of axes in them."""
    of_trees = {option: level for option, level in levels.items() if option in _OF_TREES}
    of_streams = {option: level for option, level in levels.items() if option not in _OF_TREES}
    return [tree | of_trees for tree in load.trees], [stream | of_streams for stream in load.streams]


def _curve(run: RunSettings, pace: Pace, *, of_files: bool) -> Json:
    options: Json = {"percent": list(pace.percents), "rounding": "vdbench", "arrival": pace.arrival}
    if not of_files:
        # Vdbench never has more outstanding on an SD than its threads.
        options["outstanding"] = "kept"
    stop = run.stopcurve
    if stop is not None and pace.kind == "curve":
        limit = number(stop).value
        if not RESPONSE_MIN_MS <= limit <= RESPONSE_MAX_MS:
            raise stop.wrong("that is no response time; write milliseconds such as 30.")
        options["objective"] = f"mean <= {decimal_text(limit, 6)}ms"
    return options
