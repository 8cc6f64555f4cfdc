"""What an undertaking will do, known before it is done: points in their order, time, what is made and written where, room that it takes.

Model: the points are those that the planners will ask for; where results decide, a subject has a line with its fewest and most points.
Time is warm-up and duration of the points. On a model it is virtual and counted apart: how long that takes depends on this machine.
Limits: filling scratch files, drawing the report and waiting between points come on top. A point with a precision or an amount may end
sooner, and one that had too few requests may be measured again for longer. On a modelled array points go on by themselves, unless their
time was chosen.

    found = preview(experiments, points, uses)
    found.sentence()          # "15 points, 2 min 20 s of load"
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict

from plimsoll.analysis.point.definition import ends_by_itself, overwrites
from plimsoll.engine.protocol import Engine
from plimsoll.experiments.experiment import Experiment
from plimsoll.experiments.kinds import KINDS_BY_NAME
from plimsoll.experiments.outlook import is_known, known_requests, outlook
from plimsoll.experiments.plan import Ask, Request, Subject
from plimsoll.host.device import free_bytes
from plimsoll.points.balance import TIMING
from plimsoll.points.drivers import driver_of
from plimsoll.points.experiment_points import ExperimentPoints
from plimsoll.points.own_size import of_hosts
from plimsoll.points.point import PlannedPoint
from plimsoll.records import dataclass
from plimsoll.stored import Definition, Inspection, Json, PartInspection
from plimsoll.target import Target
from plimsoll.units import time_text

_VIRTUAL = ("array", "queue")
#: A duration of a day says nothing about points that end by themselves.
NO_LIMIT_S = 86_400.0


@dataclass(frozen=True)
class Line:
    """A point, or the points of one subject where results decide how many there are; ``seconds`` is the time of each."""

    experiment: str
    workload: str
    configuration: str
    what: str
    least: int
    most: int
    seconds: float
    is_virtual: bool
    may_end_sooner: bool
    may_last_longer: bool = False


@dataclass(frozen=True)
class TargetUse:
    """A part of a target, its path behind its host where there are several: what becomes of it.

    ``makes_bytes`` is the size of a scratch file that is not there yet.
    """

    target: str
    path: str
    kind: str
    makes_bytes: int | None
    free_bytes: int | None
    written_by: tuple[str, ...]
    #: What a driver makes there, in words; empty of block I/O.
    makes: str = ""


@dataclass(frozen=True)
class Preview:
    """All of an undertaking, line by line; without lines of known points only their number and time."""

    lines: tuple[Line, ...]
    places: tuple[TargetUse, ...] = ()
    #: What has to hold, of the experiments that ask for something.
    objectives: tuple[str, ...] = ()
    #: What the directory of the run is called, behind its time.
    name: str = ""
    #: The layouts that are made and taken away, with every command (`plimsoll.points.layouts.PlannedLayout.to_json`).
    layouts: tuple[Json, ...] = ()

    @property
    def points(self) -> tuple[int, int]:
        """The fewest and the most."""
        return sum(line.least for line in self.lines), sum(line.most for line in self.lines)

    def seconds(self, *, virtual: bool) -> tuple[float, float]:
        """The least and the most time of load, real or virtual."""
        lines = [line for line in self.lines if line.is_virtual is virtual]
        return sum(line.least * line.seconds for line in lines), sum(line.most * line.seconds for line in lines)

    def sentence(self) -> str:
        """How many points, and for how long."""
        least, most = self.points
        number = f"{most:,} point{'' if most == 1 else 's'}" if least == most else f"{least:,} to {most:,} points"
        longer = "at least " if any(line.may_last_longer for line in self.lines) else ""
        clocks = {False: ("", "load"), True: (longer, "virtual time")}
        times = [f"{clocks[virtual][0]}{_span(*self.seconds(virtual=virtual))} of {clocks[virtual][1]}" for virtual in self._clocks()]
        if self.lines and all(line.may_end_sooner and line.seconds >= NO_LIMIT_S for line in self.lines):
            return f"{number}, until everything is done"
        sooner = "at most " if any(line.may_end_sooner for line in self.lines) else ""
        return f"{number}, {sooner}{' and '.join(times)}" if times else number

    def longest(self) -> str:
        """The time of load on one target, as a list has it."""
        least, most = self.seconds(virtual=False)
        return f"{'at most ' if least < most or any(line.may_end_sooner for line in self.lines) else ''}{time_text(most)}"

    def to_json(self) -> Json:
        """As ``--dry-run --json`` prints it; times in seconds."""
        real, virtual = self.seconds(virtual=False), self.seconds(virtual=True)
        return {
            "points": list(self.points),
            "seconds": list(real),
            "virtual_seconds": list(virtual),
            "plan": [asdict(line) for line in self.lines],
            "places": [asdict(place) for place in self.places],
            "objectives": list(self.objectives),
            **({"layouts": list(self.layouts)} if self.layouts else {}),
        }

    def _clocks(self) -> list[bool]:
        return [virtual for virtual in (False, True) if any(line.is_virtual is virtual for line in self.lines)]


def brief(experiments: Sequence[Experiment], points: Sequence[ExperimentPoints]) -> Preview:
    """Number and time of all points, from one point of each subject: quick, however many there are."""
    return Preview(
        tuple(
            line
            for experiment, made in zip(experiments, points, strict=True)
            for workload in experiment.workloads
            for subject in experiment.subjects(workload)
            for line in _sums(experiment, subject, made)
        ),
        objectives=_objectives(experiments),
    )


def preview(
    experiments: Sequence[Experiment], points: Sequence[ExperimentPoints], uses: Sequence[tuple[Definition, Target]], engine: Engine
) -> Preview:
    """Everything, point by point."""
    lines = [line for experiment, made in zip(experiments, points, strict=True) for line in _lines(experiment, made)]
    sizes = {target.text: size for made in points for target, size in made.sizes()}
    writers = _writers(points)
    targets = list(dict.fromkeys(target for _, target in uses))
    drivers = {target: driver_of(workload, engine) for workload, target in uses}
    places = [place for target in targets for place in _places(target, drivers[target], sizes, writers)]
    # One path can be the target of several drivers.
    distinct = tuple({place.path or place.target: place for place in reversed(places)}.values())[::-1]
    return Preview(tuple(lines), distinct, _objectives(experiments))


def _objectives(experiments: Sequence[Experiment]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(experiment.objective for experiment in experiments if experiment.objective))


def _lines(experiment: Experiment, made: ExperimentPoints) -> Iterator[Line]:
    if is_known(experiment):
        for request in known_requests(experiment):
            yield _line(experiment, request.subject, made.point(request), _what(request.ask), (1, 1))
        return
    for workload in experiment.workloads:
        for subject in experiment.subjects(workload):
            yield from _sums(experiment, subject, made)


def _sums(experiment: Experiment, subject: Subject, made: ExperimentPoints) -> Iterator[Line]:
    """All points of one subject in a line, as long each as its first; filling it is another."""
    ahead = outlook(experiment)
    if ahead.filling:
        ask = Ask(role="precondition")
        yield _line(experiment, subject, made.point(Request(experiment.name, experiment.kind, subject, ask)), _what(ask), (1, 1))
    first = Ask({option: levels[0] for option, levels in experiment.over.items()}, role=KINDS_BY_NAME[experiment.kind].role)
    point = made.point(Request(experiment.name, experiment.kind, subject, first))
    yield _line(experiment, subject, point, ahead.words, (ahead.least, ahead.most))


def _line(experiment: Experiment, subject: Subject, point: PlannedPoint, what: str, numbers: tuple[int, int]) -> Line:
    filling = point.place.get("role") == "precondition"
    return Line(
        experiment=experiment.name,
        workload=subject.workload,
        configuration=subject.configuration.name,
        what=what,
        least=numbers[0],
        most=numbers[1],
        seconds=0.0 if filling else float(point.options.get("warmup") or 0) + float(point.options.get("duration") or 0),
        is_virtual=point.target.kind in _VIRTUAL,
        may_last_longer=point.target.document is not None and not point.chosen.issuperset(TIMING),
        may_end_sooner=filling or point.precision is not None or ends_by_itself(point.workload),
    )


def _what(ask: Ask) -> str:
    words = [f"{name} {value}" for name, value in ask.settings.items()]
    if ask.role == "precondition":
        words.insert(0, "filling")
    if ask.repeat > 1:
        words.append(f"repeat {ask.repeat}")
    return ", ".join(words)


def _writers(points: Sequence[ExperimentPoints]) -> dict[str, list[str]]:
    """The workloads that write, by target."""
    found: dict[str, dict[str, None]] = {}
    for made in points:
        for workload, target in made.applied():
            if overwrites(workload):
                found.setdefault(target.text, {})[str(workload["name"])] = None
    return {target: list(names) for target, names in found.items()}


def _places(target: Target, driver: Engine, sizes: dict[str, int | None], writers: dict[str, list[str]]) -> Iterator[TargetUse]:
    share = sizes.get(target.text)
    for host, inspection in of_hosts(driver.inspect_target(target)).items():
        parts: Sequence[PartInspection | Inspection] = inspection.get("parts") or [inspection]
        for part in parts:
            path = str(part.get("path") or "")
            missing = bool(path) and part.get("kind") == "file" and not part.get("exists")
            made = (share // len(parts) if share is not None else int(part["size_bytes"])) if missing else None
            yield TargetUse(
                target=target.text,
                path=f"{host}:{path}" if host and path else path,
                kind=str(part.get("kind") or inspection.get("kind")),
                makes_bytes=made,
                # How much room another host has, it says itself when the file is made.
                free_bytes=free_bytes(path) if missing and not host else None,
                written_by=tuple(writers.get(target.text, ())),
                makes=str(getattr(driver, "makes", "")),
            )


def _span(least: float, most: float) -> str:
    return time_text(most) if round(least) == round(most) else f"{time_text(least)} to {time_text(most)}"
