"""From what a planner asks for to a point that can be measured: settings become options, a target, a seed.

Model: settings of the experiment, then of the configuration, then of the ask are applied in order over the workload as it stands in the
catalog or its file. ``target`` is set like an option. A stream whose queue depth, threads or rate is 0 takes no part in the point: that is
how a grid leaves one of two streams out. An ask that fills the target (role ``precondition``) replaces the workload by a sequential write.
Limits: an ask that no engine would take, say queue depth 70,000 while a ramp looks for the limit, becomes a point with a refusal; it is
stored as failed and the planner hears of it like of any other failure.

    pointing = ExperimentPoints(experiment, engine)
    pointing.check()                 # every setting that is known in advance, before anything is touched
    point = pointing.point(request)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any

from plimsoll import catalog
from plimsoll.displayed import quoted
from plimsoll.engine.block import check_blocks
from plimsoll.engine.protocol import Engine
from plimsoll.errors import InputError
from plimsoll.experiments.experiment import Experiment
from plimsoll.experiments.kind import Settings
from plimsoll.experiments.kinds import KINDS_BY_NAME
from plimsoll.experiments.plan import Ask, Request, Subject
from plimsoll.experiments.schedule import layer_settings, settings_of
from plimsoll.points.drivers import driver_name, driver_of
from plimsoll.points.layouts import Layouts
from plimsoll.points.looks import Looks
from plimsoll.points.point import PlannedPoint, changed, defined, own_defined, repeated, warmed
from plimsoll.scratch import default_target
from plimsoll.stored import Definition, Json, Options
from plimsoll.target import Target

#: Options whose 0 leaves a stream out.
LEAVES_OUT = ("queue_depth", "threads", "rate")
TARGET = "target"
#: Preconditioning as SNIA SSS PTS 2.0.2 has it (workload independent): sequential writes of 128 KiB over the whole device. Nothing of the
#: workload itself holds for them. The depth is ours; the standard leaves it to the tester.
FILL: Json = {
    "title": "Preconditioning",
    "purpose": "Sequential writes of 128 KiB over the whole target until the amount asked for is written",
    "stream": [{"name": "fill", "block_size": "128KiB", "read_percent": 0, "random_percent": 0, "queue_depth": 32}],
}
#: Filling ends by amount, with the interval that reaches it; the duration is only the limit for a target that takes nothing any more.
FILL_TIMING = (("duration", "1d"), ("warmup", 0), ("interval", "1s"))


class ExperimentPoints:
    """Makes the points of one experiment."""

    def __init__(
        self,
        experiment: Experiment,
        engine: Engine,
        layouts: Layouts | None = None,
        *,
        typed: frozenset[str] | None = None,
        looks: Looks | None = None,
    ) -> None:
        """``typed`` names the settings that the user typed, of a shipped suite; without it all of the experiment's are the user's."""
        self._experiment = experiment
        self._typed = typed
        self._engine = engine
        self._defined: dict[str, tuple[Definition, Options]] = {}
        #: What `_applied` found, by the workload and the settings as they are written: 1 and True are two settings.
        self._known_forms: dict[tuple[str, str], tuple[Definition, Options, str | None]] = {}
        self._layouts = layouts or Layouts()
        self._looks = looks or Looks(engine)

    def check(self) -> None:
        """Raise `InputError` for the first workload, target or level that cannot be. Levels that results will name are not known yet."""
        blocks: dict[str, int] = {}
        for subject in self._subjects():
            workload, _, target = self._shared(subject)
            block_bytes = int(self._looks.at(workload, target).get("logical_block_bytes") or 0)
            blocks[subject.workload] = max(blocks.get(subject.workload, 0), block_bytes)
        for source, forms in zip(self._experiment.workloads, self.workloads, strict=True):
            for workload in forms:
                # Options that only make sense together, say arrival and rate.
                where = f"workload {quoted(source)}" if source in self._experiment.definitions else catalog.file_of(source)
                driver_of(workload, self._engine).check_workload(workload, where)
                if driver_name(workload) is None and blocks.get(source):
                    check_blocks(workload, blocks[source])

    @cached_property
    def workloads(self) -> list[list[Definition]]:
        """Every workload in each of the forms that it will be measured in, as far as they are known."""
        return [[self._known(source, settings) for settings in settings_of(self._experiment)] for source in self._experiment.workloads]

    def applied(self) -> Iterator[tuple[Definition, Target]]:
        """Every workload, in every form known in advance, with the target it goes to; filling among them where it is asked for."""
        experiment, kind = self._experiment, KINDS_BY_NAME[self._experiment.kind]
        for subject in self._subjects():
            if kind.fills(experiment):
                workload, _, target = self._filling(subject)
                yield workload, target
            for asked in kind.settings(experiment):
                workload, _, target = self._shared(subject, asked)
                yield workload, target

    def sizes(self) -> Iterator[tuple[Target, int | None]]:
        """Every target with the size that a scratch file is asked to have; None where the engine chooses."""
        for subject in self._subjects():
            _, options, target = self._shared(subject)
            yield target, options.get("size")

    def forms(self) -> Iterator[Definition]:
        """All of them, one after the other."""
        return (workload for alike in self.workloads for workload in alike)

    def definitions(self) -> dict[str, Definition]:
        """Canonical workloads by subject: what makes two runs the same besides the experiments' own words."""
        return {source: self._source(source)[0] for source in self._experiment.workloads}

    def point(self, request: Request) -> PlannedPoint:
        """The point that ``request`` asks for; with a refusal when no such point can be."""
        subject, ask = request.subject, request.ask
        try:
            workload, options, target = self._filling(subject) if ask.role == "precondition" else self._shared(subject, ask.settings)
        except InputError as error:
            return self._refused(request, str(error))
        experiment = self._experiment
        point = PlannedPoint(
            workload,
            repeated(options, ask.repeat),
            target,
            ask.repeat,
            place=request.place,
            amount=ask.amount,
            chosen=self._chosen(subject, ask),
        )
        if ask.role == "precondition":
            # It is there for what it leaves on the medium: neither its own caches nor its own precision matter.
            return point
        driver = driver_of(workload, self._engine)
        if getattr(driver, "keeps_caches", False):
            return self._with_caches(point)
        if experiment.cache == "cold" and (refusal := getattr(driver, "cold_refusal", _never)(target)):
            return self._refused(request, refusal)
        asked = (
            replace(point, precision=ask.precision, decides_itself=True)
            if ask.precision
            else replace(point, precision=experiment.precision)
        )
        return warmed(replace(asked, cache=experiment.cache, precision=None if ask.amount else asked.precision))

    def _with_caches(self, point: PlannedPoint) -> PlannedPoint:
        """The point of a driver that brings its caches about itself: one of its own options says how."""
        if self._experiment.cache in (None, "as found"):
            return point
        workload, options = changed(point.workload, point.options, self._engine, [("cache", self._experiment.cache)])
        return replace(point, workload=workload, options=options)

    def _chosen(self, subject: Subject, ask: Ask) -> frozenset[str]:
        """The settings of a point that are the user's choice: those of a shipped suite are ours."""
        given = {*self._experiment.settings, *subject.configuration.settings}
        return frozenset(ask.settings) | (given if self._typed is None else given & self._typed)

    def _refused(self, request: Request, reason: str) -> PlannedPoint:
        workload, options, target = self._shared(request.subject)
        return PlannedPoint(
            workload, options, target, request.ask.repeat, place=request.place, refusal=f"{_settings_text(request.ask)}: {reason}"
        )

    def _subjects(self) -> list[Subject]:
        return [subject for workload in self._experiment.workloads for subject in self._experiment.subjects(workload)]

    def _known(self, source: str, settings: Settings) -> Definition:
        """The workload with known settings; a target that one of them names is looked at."""
        workload, _, target = self._applied(source, settings)
        if target is not None:
            self._looks.at(workload, self._target(target, workload))
        return workload

    def _shared(self, subject: Subject, asked: Settings | None = None) -> tuple[Definition, Options, Target]:
        """A subject's workload, job options and target, with what is asked on top of what all its points share."""
        configuration = subject.configuration
        settings = layer_settings(self._experiment.settings, configuration.settings, asked or {})
        workload, options, target = self._applied(subject.workload, settings)
        text = target or configuration.target or default_target(driver_of(workload, self._engine))
        return workload, options, self._target(text, workload)

    def _target(self, text: str, workload: Definition) -> Target:
        """What ``text`` names; of a layout, what it will give to the workload."""
        return self._layouts.target(text, driver_of(workload, self._engine), driver_name(workload))

    def _applied(self, source: str, settings: Settings) -> tuple[Definition, Options, str | None]:
        """The workload and job options with settings, and the target if one of them names it; settings are applied once."""
        known = (source, repr(dict(settings)))
        if known not in self._known_forms:
            self._known_forms[known] = self._with_settings(source, settings)
        return self._known_forms[known]

    def _with_settings(self, source: str, settings: Settings) -> tuple[Definition, Options, str | None]:
        workload, options = self._source(source)
        target: str | None = None
        left_out: set[str] = set()
        for key, value in settings.items():
            if key == TARGET:
                target = str(value)
            elif _leaves_out(key, value) and workload.get("stream"):
                left_out |= _streams_of(key, workload)
            else:
                # A later setting brings a stream back in.
                left_out -= _streams_of(key, workload) if key.rpartition(".")[2] in LEAVES_OUT else set()
                workload, options = changed(workload, options, self._engine, [(key, value)])
        return _without(workload, left_out), options, target

    def _filling(self, subject: Subject) -> tuple[Definition, Options, Target]:
        _, options, target = self._shared(subject)
        workload = self._engine.check_workload(FILL, "precondition")
        workload, options = changed(workload, options, self._engine, FILL_TIMING)
        return workload, options, replace(target, driver=None)

    def _source(self, source: str) -> tuple[Definition, Options]:
        if source not in self._defined:
            own = self._experiment.definitions.get(source)
            self._defined[source] = defined(source, self._engine) if own is None else own_defined(source, own, self._engine)
        return self._defined[source]


def _leaves_out(key: str, value: Any) -> bool:
    if key.rpartition(".")[2] not in LEAVES_OUT:
        return False
    try:
        return float(value) == 0
    except (TypeError, ValueError):
        return False


def _streams_of(key: str, workload: Definition) -> set[str]:
    """The streams that a setting is for: the one before the dot, or all."""
    name, dot, _ = key.rpartition(".")
    names = {stream["name"] for stream in workload.get("stream", ())}
    if not dot:
        return names
    if name not in names:
        raise InputError(f"{key}: no stream is called {quoted(name)}; this workload has {', '.join(sorted(names))}.")
    return {name}


def _without(workload: Definition, left_out: set[str]) -> Definition:
    if not left_out:
        return workload
    streams = [stream for stream in workload["stream"] if stream["name"] not in left_out]
    if not streams:
        raise InputError("every stream has queue depth, threads or rate 0, so there is nothing to measure; leave at least one above 0.")
    return {**workload, "stream": streams}


def _settings_text(ask: Ask) -> str:
    return ", ".join(f"{key}={value}" for key, value in ask.settings.items()) or ask.role


def _never(_: Target) -> None:
    """Nothing speaks against starting cold."""
