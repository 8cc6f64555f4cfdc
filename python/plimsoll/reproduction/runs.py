"""One chain on one modelled array: its runs as experiments, planned and measured like any other; nothing is stored.

Model: a run is an experiment of kind single; with ``over`` one of kind steps, with ``ramp`` one of kind ramp, so that levels, objectives
and bisection are those of `plimsoll.experiments`. Several runs in a chain become one job: stream after stream on one array, each for
warm-up and duration of its run, and each is read off the intervals of its own duration.
Limits: runs in order are of equal length and have one level; how busy components were is known of the whole chain only, so not read.

    readings = carried_out(chain, engine, guard)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import gcd
from typing import Any, cast

from plimsoll.analysis.point.metric import ALL, metric
from plimsoll.analysis.point.summary import Summary
from plimsoll.apps import driver_of
from plimsoll.catalog.claims import Run
from plimsoll.displayed import quoted
from plimsoll.engine.protocol import Control, Engine
from plimsoll.errors import InputError
from plimsoll.experiments.document import read_experiments
from plimsoll.experiments.experiment import Experiment
from plimsoll.experiments.plan import Conclusion
from plimsoll.experiments.schedule import schedule
from plimsoll.measure import Job, measure
from plimsoll.points.experiment_points import ExperimentPoints
from plimsoll.points.point import PlannedPoint
from plimsoll.reproduction.chain import Chain
from plimsoll.reproduction.readings import Reading, reading_of
from plimsoll.result import Result
from plimsoll.stored import Interval, Json, Options, Sample, TargetFacts

#: A fresh brake for each job, known to whoever may have to stop it.
Guard = Callable[[Control], Control]
_NS_PER_S = 1_000_000_000


class _Silence:
    """A sink that keeps nothing: the result says all that is read."""

    def interval(self, interval: Interval) -> None:
        """Not kept."""

    def monitor(self, sample: Sample) -> None:
        """Not kept."""


def carried_out(chain: Chain, engine: Engine, guard: Guard) -> tuple[Reading, ...]:
    """A reading for each run of the chain."""
    if len(chain) == 1:
        return (_single(chain[0], engine, guard),)
    return _in_order(chain, engine, guard)


def _single(run: Run, engine: Engine, guard: Guard) -> Reading:
    experiment = experiment_of(run)
    pointing = ExperimentPoints(experiment, engine)
    plan, results = schedule(experiment), []
    try:
        request = next(plan)
        while True:
            result = replace(_measured(pointing.point(request), engine, guard), place=request.place)
            results.append(result)
            request = plan.send(result)
    except StopIteration as end:
        (conclusion,) = end.value.values()
    return _counting(run, results, conclusion)


def experiment_of(run: Run) -> Experiment:
    """The run as an experiment on its array."""
    kind: Json = {"kind": "single"}
    if run.ramp:
        kind = {"kind": "ramp", **thawed(run.ramp)}
    elif run.over:
        kind = {"kind": "steps", "over": dict([run.over])}
    table = {"name": "claim", "workloads": [run.workload], "set": dict(run.settings), **kind}
    return read_experiments({"experiment": [table]}, f"run on {run.array}", targets=(run.target,)).experiments[0]


def thawed(table: tuple[tuple[str, Any], ...]) -> Json:
    """A table of a run as it stood in its file."""
    return {key: thawed(value) if isinstance(value, tuple) else value for key, value in table}


def _measured(point: PlannedPoint, engine: Engine, guard: Guard) -> Result:
    if point.refusal is not None:
        raise InputError(point.refusal)
    inspection = engine.inspect_target(point.target)
    job = Job(
        point.workload["name"],
        point.workload,
        point.options,
        point.target,
        {"target": cast("TargetFacts", inspection)},
        repeat=point.repeat,
    )
    return measure(job, driver_of(point.workload, engine), _Silence(), guard(engine.control()))


def _counting(run: Run, results: list[Result], conclusion: Conclusion) -> Reading:
    """The reading of the level that counts."""
    broken = next((result for result in results if result.status != "complete"), None)
    if broken is not None:
        return reading_of(broken)
    if not run.ramp:
        best = max(results, key=_bytes_per_s)
        return replace(reading_of(best), level=best.place.get("level"))
    mark = conclusion.mark
    if mark is None:
        return Reading(problem=f"no level held {run.array}'s objective {quoted(thawed(run.ramp)['objective'])}")
    levels: Mapping[float | None, Result] = {result.place["level"]: result for result in results}
    beyond = None if mark.next_level is None else replace(reading_of(levels[mark.next_level]), level=mark.next_level)
    return replace(reading_of(levels[mark.level]), level=mark.level, beyond=beyond)


def _bytes_per_s(result: Result) -> float:
    found = metric(result, ALL, "bytes_per_s")
    return found.value if found else 0.0


def _in_order(chain: Chain, engine: Engine, guard: Guard) -> tuple[Reading, ...]:
    points = [_only_point(run, engine) for run in chain]
    windows = _Windows(points)
    workload = engine.check_workload(windows.workload(), "runs in order")
    job = Job(points[0].workload["name"], workload, windows.options(), points[0].target, {})
    inspection = engine.inspect_target(job.target)
    result = measure(replace(job, host={"target": cast("TargetFacts", inspection)}), engine, windows, guard(engine.control()))
    if result.status != "complete":
        return tuple(reading_of(result) for _ in chain)
    return tuple(replace(reading_of(own), use={}, limited_by=None) for own in windows.results(result))


def _only_point(run: Run, engine: Engine) -> PlannedPoint:
    if run.over or run.ramp:
        raise InputError(f"run on {run.array}: a run in order has one level; leave over and ramp out.")
    experiment = experiment_of(run)
    return ExperimentPoints(experiment, engine).point(next(schedule(experiment)))


class _Windows:
    """The runs of a chain side by side on the clock, and a sink that deals intervals to them."""

    def __init__(self, points: list[PlannedPoint]) -> None:
        self._points = points
        first = points[0]
        timing = {(point.target, point.options["warmup"], point.options["duration"]) for point in points}
        if len(timing) > 1:
            raise InputError(f"runs in order on {first.target}: they need one array, warm-up and duration.")
        self._warmup_ns = round(first.options["warmup"] * _NS_PER_S)
        self._span_ns = self._warmup_ns + round(first.options["duration"] * _NS_PER_S)
        self._summaries = [Summary() for _ in points]

    def workload(self) -> Json:
        """All streams, each in the time of its run."""
        streams = [
            {
                **stream,
                "name": _name(place, stream["name"]),
                "start_after": place * self._span_ns / _NS_PER_S,
                "end_after": (place + 1) * self._span_ns / _NS_PER_S,
            }
            for place, point in enumerate(self._points)
            for stream in point.workload["stream"]
        ]
        return {**self._points[0].workload, "stream": streams}

    def options(self) -> Options:
        """Those of the job: the whole time is measured, in intervals that no warm-up and no run crosses."""
        interval_ns = gcd(self._warmup_ns, self._span_ns)
        times = {"warmup": 0.0, "duration": len(self._points) * self._span_ns / _NS_PER_S, "interval": interval_ns / _NS_PER_S}
        return cast("Options", {**self._points[0].options, **times})

    def interval(self, interval: Interval) -> None:
        """Counts what a run's own streams did in its measured time."""
        place, into_ns = divmod(interval["start_ns"], self._span_ns)
        if place >= len(self._points) or into_ns < self._warmup_ns:
            return
        own = [cell for cell in interval["cells"] if _place(cell["stream"]) == place]
        self._summaries[place].add({**interval, "cells": own})

    def monitor(self, sample: Sample) -> None:
        """A model has no host to watch."""

    def results(self, whole: Result) -> list[Result]:
        """The whole result with each run's own totals."""
        return [replace(whole, totals=summary.totals(), streams={}, estimates={}) for summary in self._summaries]


def _name(place: int, name: str) -> str:
    return f"run-{place}-{name}"


def _place(stream: str | None) -> int:
    return -1 if stream is None else int(stream.split("-", 2)[1])
