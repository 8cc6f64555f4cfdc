"""The replay of a trace as an experiment: one workload of its own, a point for each target and repeat.

Model: the trace is converted into its compact form first; how long the job may last, how many requests may be outstanding and how large a
scratch file has to be follow from its header. Options are those of ``plimsoll replay``, by their names there.

    replay_undertaking("hm_0.csv", complete({"targets": "/dev/sdb", "speed": "2x"}), print)
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace

from plimsoll.engine import block as block_engine
from plimsoll.errors import InputError
from plimsoll.experiments.document import TYPED, read_experiments
from plimsoll.experiments.experiment import Experiment, Suite
from plimsoll.experiments.plan import Ask, Configuration, Request
from plimsoll.experiments.schedule import layer_settings
from plimsoll.points.arguments import ReplayArguments
from plimsoll.points.experiment_points import ExperimentPoints
from plimsoll.points.layouts import Layouts
from plimsoll.points.listener import Remark
from plimsoll.points.preconditions import check_reach
from plimsoll.points.short_document import typed_settings
from plimsoll.points.traces import Choice, compact_of, header_of, scratch_bytes
from plimsoll.points.undertaking import Undertaking
from plimsoll.scratch import DEFAULT_TARGET
from plimsoll.stored import Json, Stream
from plimsoll.target import Composer

#: Most requests outstanding when they are due at instants, and memory for what they write.
MOST_OUTSTANDING = 1024
BUFFER_BYTES = 256 << 20
LEAST_OUTSTANDING = 16
#: Requests outstanding as fast as possible.
DEFAULT_DEPTH = 32
#: A replay may last that much longer than the trace, and that many seconds more, until it is given up.
LONGEST_FACTOR, LONGEST_MORE_S = 2.0, 60.0
_LONGEST_DAYS = "900d"
_INTERVALS = 40


def choice_of(trace: str, arguments: ReplayArguments) -> Choice:
    """What of the trace was asked for."""
    return Choice(trace, arguments.form, arguments.counted, arguments.devices, *_limit(arguments.limit))


def replay_undertaking(trace: str, arguments: ReplayArguments, remark: Remark) -> Undertaking:
    """The replay, to be carried out; ``remark`` hears what the trace does not say and is taken for granted."""
    choice = choice_of(trace, arguments)
    speed = _speed(arguments.speed, fast=arguments.fast)
    _check_lateness(arguments)
    path = compact_of(choice)
    header = header_of(path)
    for assumed in header["source"].get("assumed", []):
        remark(f"  {assumed}")
    if speed is not None and not header["timed"]:
        raise InputError(f"{choice.path}: the trace has no times, so nothing is due when it says; give --as-fast-as-possible.")
    composer = Composer()
    suite = _suite(_Trace(choice, path, header, speed), arguments, composer)
    _check_points(suite.experiments[0], header, composer, elsewhere=_is_elsewhere(arguments))
    return Undertaking(suite, f"replay-{_name(choice.path)}", composer=composer)


@dataclass(frozen=True)
class _Trace:
    """The trace that is replayed: in our form at ``path``, with the header of that; without ``speed`` as fast as possible."""

    choice: Choice
    path: str
    header: Json
    speed: float | None


def _check_lateness(arguments: ReplayArguments) -> None:
    """Refuse several points that would write one report."""
    if not arguments.lateness:
        return
    if arguments.hosts:
        raise InputError(
            "--lateness: every host would write the same file; leave it out, since each host's own result says how late it was."
        )
    if len(arguments.targets) > 1:
        raise InputError("--lateness: several targets would write one file; replay at one of them at a time.")
    if (arguments.repeat or 1) > 1:
        raise InputError("--lateness: every repeat would write the same file; leave --repeat out.")


def _suite(trace: _Trace, arguments: ReplayArguments, composer: Composer) -> Suite:
    workload = _document(trace, arguments.mapping)
    lateness = {"lateness_report": os.path.abspath(arguments.lateness)} if arguments.lateness else {}
    own = typed_settings(arguments)
    experiment: Json = {
        "name": "replay",
        "kind": "single",
        "workloads": [workload["name"]],
        "set": layer_settings(_timing(trace.header, trace.speed), lateness, own),
        "interleave": arguments.interleave,
        **({} if arguments.objective is None else {"objective": arguments.objective}),
        **({} if arguments.repeat is None else {"repeat": arguments.repeat}),
    }
    suite = read_experiments({"workload": [workload], "experiment": [experiment]}, TYPED, targets=arguments.targets)
    read = suite.experiments[0]
    if "size" in own or _is_elsewhere(arguments):
        return suite

    def sized(one: Configuration) -> Configuration:
        size = scratch_bytes(
            trace.header, arguments.mapping, block_engine.native().inspect_target(composer.target(one.target or DEFAULT_TARGET))
        )
        return replace(one, settings={"size": size} if size else {})

    return replace(suite, experiments=(replace(read, configurations=tuple(map(sized, read.configurations))),))


def _is_elsewhere(arguments: ReplayArguments) -> bool:
    """Whether hosts that are elsewhere replay: what a target is, each of them finds, and makes a scratch file that the trace fits."""
    if not arguments.hosts:
        return False
    from plimsoll.points.gang import lineup_from

    return not lineup_from(arguments.hosts).same_machine


def _check_points(experiment: Experiment, header: Json, composer: Composer, *, elsewhere: bool) -> None:
    """Refuse settings that do not go with a trace, and a trace that reaches beyond one of the targets."""
    engine = block_engine.native()
    points = ExperimentPoints(experiment, engine, Layouts(composer=composer))
    for workload in experiment.workloads:
        for subject in experiment.subjects(workload):
            point = points.point(Request(experiment.name, experiment.kind, subject, Ask()))
            if point.refusal is not None:
                raise InputError(point.refusal)
            stream = engine.check_workload(dict(point.workload), "--set")["stream"][0]
            if not elsewhere or "size" in point.options:
                check_reach(header, stream, engine.inspect_target(point.target), point.options.get("size"))


def _document(trace: _Trace, mapping: str) -> Json:
    choice, header, speed = trace.choice, trace.header, trace.speed
    source = header["source"]
    pace = "as fast as possible" if speed is None else "when they were recorded" + (f", {speed:g} times as fast" if speed != 1 else "")
    stream: Stream = {"name": "replay", "trace": trace.path, "trace_map": mapping, "queue_depth": _depth(header, speed)}
    if speed is not None:
        stream |= {"arrival": "trace", "trace_speed": speed}
    return {
        "name": _name(choice.path),
        "title": f"Replay of {source['name'] or os.path.basename(choice.path)}",
        "group": "replay",
        "purpose": f"Issues the {sum(header['ops']):,} requests of a trace {pace}",
        "source": f"{source['name']} ({source['format']}){', sha256 ' + source['sha256'] if source.get('sha256') else ''}",
        **({"rationale": f"{'; '.join(assumed)}."} if (assumed := source.get("assumed")) else {}),
        "stream": [stream],
    }


def _depth(header: Json, speed: float | None) -> int:
    if speed is None:
        return DEFAULT_DEPTH
    longest = max(header["longest"][:2], default=0) or 1
    return max(LEAST_OUTSTANDING, min(MOST_OUTSTANDING, BUFFER_BYTES // longest))


def _timing(header: Json, speed: float | None) -> Json:
    """As long as the trace with room to spare; all of it is measured."""
    if speed is None:
        return {"duration": _LONGEST_DAYS, "warmup": "0s", "interval": "1s" if sum(header["ops"]) > 10_000_000 else "100ms"}
    seconds = header["span_ns"] / 1e9 / speed
    interval = min(10.0, max(0.1, round(seconds / _INTERVALS, 1)))
    return {"duration": f"{seconds * LONGEST_FACTOR + LONGEST_MORE_S:.3f}s", "warmup": "0s", "interval": f"{interval:g}s"}


def _speed(text: str | None, *, fast: bool) -> float | None:
    if fast:
        if text is not None:
            raise InputError(f"--speed {text} has no effect with --as-fast-as-possible; leave one of both out.")
        return None
    found = re.fullmatch(r"(\d{1,7}(?:\.\d{1,6})?) ?[x×]?", text or "1x")
    if found is None or not 0.001 <= float(found[1]) <= 1_000_000:
        raise InputError(f"--speed {text}: not a speed; write how many times as fast, 0.001x to 1000000x, for example 2x or 0.5x.")
    return float(found[1])


def _limit(text: str | None) -> tuple[int | None, float | None]:
    """A number of requests, or seconds."""
    if text is None:
        return None, None
    if text.isascii() and text.isdigit() and 0 < int(text) < 1 << 62:
        return int(text), None
    try:
        seconds = float(block_engine.native().check_job({"duration": text})["duration"]) if not text.isdigit() else 0.0
    except InputError:
        seconds = 0.0
    if seconds <= 0:
        raise InputError(f"--limit {text}: neither a number of requests nor a time; write for example 100000 or 10m.")
    return None, seconds


def _name(path: str) -> str:
    stem = os.path.basename(path).split(".")[0]
    return re.sub(r"[^A-Za-z0-9_-]+", "-", stem)[:64].strip("-") or "trace"
