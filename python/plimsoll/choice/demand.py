"""What is asked of storage that is yet to be chosen: any stored workload, trace, ``plimsoll watch`` capture or stored run, at its rate.

Model: a demand is a workload whose streams are all open, since users do not wait for storage to ask for more. What has no rate of its own
is given one: ``oltp-db@5k``. Of a stored run the point with the highest throughput is demanded, each stream at the rate that it had there.
Several demands are one workload: each has an equal part of the target, its streams are called after it, and its objective and its cap are
its own. A cap is what a storage's quality of service lets through, so nothing above it is asked of the storage.
Limits: parts are equal, whatever each demand's data are. A capture tells no random from sequential requests. Schedules and traces keep
their course in time; their rates are raised in proportion.

    asked = demand_of([Source("demand.json", objective="p99 <= 5ms")], engine)
    asked.rate_per_s, asked.at(2.0)["stream"][0]["rate"]        # 900.0, 1800.0
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from plimsoll.analysis.objective.judgement import Objective, applies_to, parse_objective
from plimsoll.analysis.point.definition import is_open, streams
from plimsoll.analysis.sizing.demanded_workload import demanded_workload
from plimsoll.displayed import quoted
from plimsoll.engine.protocol import Engine
from plimsoll.errors import InputError, PlimsollError
from plimsoll.points.quantity import percent, rate_per_s
from plimsoll.stored import Definition, Json

#: What has to hold where nothing is said of the response.
KEPT_UP = "achieved >= 97%"
#: Of a demand whose rate is yet to be raised.
_PART_DEPTH = 256
_NAME = re.compile(r"[^A-Za-z0-9_-]+")


@dataclass(frozen=True)
class Source:
    """Where one demand is, as it was typed: a file, a workload's name with ``@RATE``, or a stored run; and what is said of it alone."""

    text: str
    objective: str | None = None
    cap: str | None = None
    device: str | None = None
    percentile: str | None = None
    random_percent: str | None = None
    growth: str | None = None


@dataclass(frozen=True)
class Part:
    """One of the demands: the streams that are its own by name, what has to hold for them, and what the storage lets through of them."""

    name: str
    source: str
    streams: tuple[str, ...]
    objective: Objective
    rate_per_s: float
    cap_per_s: float | None = None

    @property
    def let_through_per_s(self) -> float:
        """The rate that reaches the storage."""
        return self.rate_per_s if self.cap_per_s is None else min(self.rate_per_s, self.cap_per_s)

    def to_json(self) -> Json:
        """For programs."""
        return {
            "name": self.name,
            "source": self.source,
            "objective": self.objective.text,
            "rate_per_s": self.rate_per_s,
            "cap_per_s": self.cap_per_s,
        }


@dataclass(frozen=True)
class DemandedLoad:
    """All that is asked for: one workload of open streams, and which of them are whose."""

    workload: Definition
    parts: tuple[Part, ...]

    @property
    def rate_per_s(self) -> float:
        """Requests per second of all streams that reach the storage."""
        return sum(part.let_through_per_s for part in self.parts)

    @property
    def objective(self) -> Objective:
        """Of a single demand."""
        return self.parts[0].objective

    def at(self, factor: float, of: str | None = None) -> Definition:
        """The workload with every rate so many times as high; ``of`` raises one demand alone. Caps hold."""
        found: list[Json] = []
        for part in self.parts:
            raised = part.rate_per_s * (factor if of in (None, part.name) else 1.0)
            held = raised if part.cap_per_s is None else min(raised, part.cap_per_s)
            own = (stream for stream in streams(self.workload) if stream["name"] in part.streams)
            found += [_faster(cast("Json", stream), held / part.rate_per_s) for stream in own]
        return cast("Definition", {**self.workload, "stream": found})


def name_of(text: str) -> str:
    """What a demand is called: its file's name without what is behind a dot or @."""
    before, at, _ = text.rpartition("@")
    return _NAME.sub("-", os.path.basename((before if at else text).rstrip("/")).split(".")[0]).strip("-") or "demand"


def demand_of(sources: Sequence[Source], engine: Engine, out: str = "results") -> DemandedLoad:
    """The demand that ``sources`` are together; raises `InputError` for what is no demand."""
    if not sources:
        raise InputError("nothing is demanded; give --demand FILE, for example what 'plimsoll watch -o demand.json' kept.")
    read = [_read(source, engine, out) for source in sources]
    names = [name for name, _ in read]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise InputError(f"--demand: two demands are called {quoted(twice)}; give each file a name of its own.")
    one = len(read) == 1
    workloads = [workload if one else _placed(name, workload, (number, len(read))) for number, (name, workload) in enumerate(read)]
    joined = cast("Json", dict(workloads[0]))
    if not one:
        joined |= {"name": "demands", "title": "Demands: " + ", ".join(names), "stream": [s for w in workloads for s in streams(w)]}
        joined = cast("Json", engine.check_workload(joined, "the demands together"))
    parts = [_part(source, name, workload) for source, (name, _), workload in zip(sources, read, workloads, strict=True)]
    return DemandedLoad(cast("Definition", joined), tuple(parts))


def _part(source: Source, name: str, workload: Definition) -> Part:
    objective = parse_objective(source.objective or KEPT_UP)
    if reason := applies_to(objective, workload):
        raise InputError(f"--objective: {reason}")
    cap = None if source.cap is None else rate_per_s("--cap", source.cap)
    own = streams(workload)
    return Part(name, source.text, tuple(stream["name"] for stream in own), objective, sum(_rate(s, source.text) for s in own), cap)


def _read(source: Source, engine: Engine, out: str) -> tuple[str, Definition]:
    """The demand's name and its workload, every stream open, growth included."""
    text, at, rate = source.text.rpartition("@")
    text, typed = (text, rate) if at else (source.text, None)
    name = name_of(source.text)
    workload = _workload(source, text, name, engine, out)
    if typed is not None:
        workload = _rated(workload, rate_per_s(f"--demand {source.text}", typed), engine)
    closed = [stream["name"] for stream in streams(workload) if not is_open(stream)]
    if workload.get("driver") is not None:
        raise InputError(f"--demand {source.text}: it is no load of requests on a device but one of an application; give a trace of it.")
    if closed:
        raise InputError(f"--demand {source.text}: it asks as fast as storage answers, so it demands no rate; give one: {text}@5k.")
    if source.growth is not None:
        grown = 1 + percent("--growth", source.growth) / 100
        workload = cast("Definition", {**workload, "stream": [_faster(cast("Json", s), grown) for s in streams(workload)]})
    return name, workload


def _workload(source: Source, text: str, name: str, engine: Engine, out: str) -> Definition:
    from plimsoll import catalog
    from plimsoll.points.drivers import checked_workload

    if text.endswith(".json") or text == "-":
        return _watched(source, text, name, engine)
    for option, value in (("--device", source.device), ("--percentile", source.percentile), ("--random-percent", source.random_percent)):
        if value is not None:
            raise InputError(f"{option} is for what 'plimsoll watch' kept, and {text} is none; leave it out.")
    if os.path.isdir(text):
        return _stored(text, out)
    if os.path.isfile(text) and not text.endswith(".toml"):
        return _of_trace(text, name, engine)
    if catalog.is_file(text) and not os.path.isfile(text):
        raise InputError(f"--demand {source.text}: there is no such file.")
    try:
        named = catalog.sources(text)
    except InputError as unknown:
        # A run of the store by its name, its label or as the latest.
        try:
            return _stored(text, out)
        except PlimsollError:
            raise InputError(f"--demand {source.text}: {unknown}") from None
    if len(named) > 1:
        raise InputError(f"--demand {source.text}: {quoted(text)} is a tag of {len(named)} workloads; name one of {', '.join(named)}.")
    return checked_workload(named[0], engine)


def _watched(source: Source, path: str, name: str, engine: Engine) -> Definition:
    """Of a capture, at the percentile of its intervals that was asked for."""
    from plimsoll.points.demand_source import observed_demand

    demand = observed_demand(path, source.device, source.percentile)
    if source.random_percent is not None:
        demand = replace(demand, random_percent=percent("--random-percent", source.random_percent))
    return engine.check_workload(demanded_workload(demand, name), path)


def _of_trace(path: str, name: str, engine: Engine) -> Definition:
    """A workload that is like the trace."""
    from plimsoll.analysis.trace.fit import fit_workload
    from plimsoll.analysis.trace.profile import profile_requests
    from plimsoll.formats.traces import open_trace
    from plimsoll.points.traces import trace_file

    with trace_file(path) as file:
        profile = profile_requests(open_trace(file, path, None, None).requests())
    if not profile.count:
        raise InputError(f"{path}: there is no request in it; give a trace with at least one.")
    try:
        fit = fit_workload(profile)
    except InputError as problem:
        raise InputError(f"{path}: {problem}") from None
    return engine.check_workload(fit.workload(name, f"Fitted to the trace {path}"), path)


def _stored(path: str, out: str) -> Definition:
    """What a stored run asked for where it carried most, each stream at the rate that it had there."""
    from plimsoll.store.reader import open_runs

    (run,) = open_runs([path], out)
    measured = [point.result for point in run.points if point.result.totals]
    if not measured:
        raise InputError(f"--demand {path}: nothing was measured in this run; name one with results.")
    best = max(measured, key=lambda result: sum(total.iops for total in result.totals.values()))
    asked = []
    for stream in streams(best.job.definition):
        rate = sum(total.iops for total in best.streams.get(stream["name"], {}).values())
        opened = {**stream, "arrival": "poisson", "rate": rate} if not is_open(stream) else stream
        asked.append({**opened, "queue_depth": max(_PART_DEPTH, int(stream.get("queue_depth", 1)))})
    return cast("Definition", {**best.job.definition, "stream": asked})


def _rated(workload: Definition, rate: float, engine: Engine) -> Definition:
    """The workload at a rate: a single closed stream is opened, open ones are raised in proportion."""
    own = streams(workload)
    if all(is_open(stream) for stream in own):
        before = sum(_rate(stream, workload["name"]) for stream in own)
        return cast("Definition", {**workload, "stream": [_faster(cast("Json", stream), rate / before) for stream in own]})
    if len(own) > 1:
        raise InputError(f"{workload['name']}@{rate:g}: one rate does not say what each of its {len(own)} streams asks; {_FILE}")
    (stream,) = own
    kept = {key: value for key, value in stream.items() if key not in ("think_time",)}
    opened = {**kept, "arrival": "poisson", "rate": rate, "queue_depth": max(_PART_DEPTH, int(stream.get("queue_depth", 1))), "threads": 1}
    return engine.check_workload(cast("Json", {**workload, "stream": [opened]}), workload["name"])


_FILE = "write a workload file with a rate for each stream."


def _placed(name: str, workload: Definition, place: tuple[int, int]) -> Definition:
    """The workload in its part of the target, its streams called after it."""
    number, count = place
    own = streams(workload)
    called = [name if len(own) == 1 else f"{name}-{stream['name']}" for stream in own]
    where = {"region_start": f"{100 * number / count:.6f}%", "region_length": f"{100 / count:.6f}%"}
    return cast("Definition", {**workload, "stream": [{**stream, "name": word, **where} for stream, word in zip(own, called, strict=True)]})


def _rate(stream: Any, text: str) -> float:
    """Requests per second of an open stream, in the mean of its schedule."""
    if isinstance(stream.get("rate"), int | float):
        return float(stream["rate"])
    steps = stream.get("schedule")
    if steps:
        return sum(float(step["rate"]) for step in steps) / len(steps)
    raise InputError(f"--demand {text}: stream {quoted(stream['name'])} replays a trace; give the trace itself, which is fitted.")


def _faster(stream: Json, factor: float) -> Json:
    if stream.get("schedule"):
        return {**stream, "schedule": [{**step, "rate": step["rate"] * factor} for step in stream["schedule"]]}
    return {**stream, "rate": stream["rate"] * factor}
