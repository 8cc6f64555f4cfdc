"""``plimsoll replay``: the requests of a block trace at a target, and how faithfully they were issued."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from plimsoll.cli.experiment.options import LoadCommand, takes
from plimsoll.cli.fit import ACTIONS, FORMS
from plimsoll.errors import InputError
from plimsoll.store.overwriting import REPLACED

if TYPE_CHECKING:
    from plimsoll.cli.conduct.tracing import Choice
    from plimsoll.experiments.experiment import Experiment, Suite
    from plimsoll.experiments.plan import Configuration

Json = dict[str, Any]

MAPS = ("refuse", "wrap", "scale", "squeeze")
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
_PLACE_BYTES = 1 << 20
#: How a lateness report begins; the engine writes it.
_LATENESS_HEAD = b"number,due_ns,submitted_ns,completed_ns"


@click.command(cls=LoadCommand, short_help="Issue the requests of a block trace, when they were recorded or as fast as possible.")
@click.argument("trace", metavar="TRACE")
@takes("targets")
@click.option("--speed", metavar="N", help="Recorded over replayed time: 2x is twice as fast. [default: 1x]")
@click.option("--as-fast-as-possible", "fast", is_flag=True, help="Keep queue_depth requests outstanding, in the order of the trace.")
@click.option(
    "--map", "mapping", type=click.Choice(MAPS), default="refuse", show_default=True, help="What becomes of addresses beyond TARGET."
)
@click.option("--limit", metavar="N|TIME", help="Only the first N requests, or those of the first TIME, e.g. 10m.")
@click.option("--device", "devices", metavar="NAME", multiple=True, help="Only requests of these devices, for the parts of TARGET in turn.")
@click.option("--lateness", metavar="FILE", help=f"Write a line per request there, as CSV: when it was due, left and came back. {REPLACED}")
@click.option("--format", "form", type=click.Choice(FORMS), help="What TRACE is. [default: recognised]")
@click.option("--action", "counted", type=click.Choice(ACTIONS), help="Where blktrace's requests are counted. [default: issue]")
@click.option("--convert", metavar="FILE", help=f"Only write TRACE there in the compact form that streams replay. {REPLACED}")
@takes("settings", "size", "repeat", "interleave", "objective", "asserts")
@takes("out", "label", "report_path", "keep", "destroy_data", "fresh", "quiet", "as_json")
def command(trace: str, **typed: Any) -> int:
    """Replay a block trace (fio iolog, blktrace, blkparse, MSR-Cambridge, Alibaba, MQSim) at TARGET, and say how late its requests were.

    The same command again goes on where it was stopped.

    \b
    plimsoll replay hm_0.csv --target /dev/sdb --destroy-data
    plimsoll replay sda.blkparse.txt -t /data/scratch --speed 2x --map squeeze --lateness late.csv
    plimsoll replay hm.csv --device 'hm 0' --device 'hm 1' -t concat:/dev/sdb,/dev/sdc
    """
    from plimsoll.cli.conduct.tracing import Choice, compact_of, header_of

    choice = Choice(trace, typed["form"], typed["counted"], typed["devices"], *_limit(typed["limit"]))
    speed = _speed(typed["speed"], fast=typed["fast"])
    if typed["convert"] is not None:
        return _convert(choice, typed["convert"])
    _check_outputs(trace, typed)
    path = compact_of(choice)
    header = header_of(path)
    _say_assumed(header)
    return _carried_out(choice, path, header, {**typed, "speed": speed})


def _carried_out(choice: Choice, path: str, header: Json, typed: Json) -> int:
    """The replay as an experiment of kind single: one workload of its own, a point for each target and repeat."""
    from plimsoll.cli.experiment.experimenting import carry_out

    if typed["speed"] is not None and not header["timed"]:
        raise InputError(f"{choice.path}: the trace has no times, so nothing is due when it says; give --as-fast-as-possible.")
    suite = _suite(_document(choice, path, header, typed), header, typed)
    _check_points(suite.experiments[0], header)
    return carry_out(suite, typed, name=f"replay-{_name(choice.path)}")


def _suite(workload: Json, header: Json, typed: Json) -> Suite:
    from plimsoll import engine as engines
    from plimsoll.cli.experiment.documenting import typed_settings
    from plimsoll.experiments.document import read_experiments
    from plimsoll.experiments.naming import TYPED
    from plimsoll.experiments.schedule import layered
    from plimsoll.scratch import DEFAULT_TARGET

    lateness = {"lateness_report": os.path.abspath(typed["lateness"])} if typed["lateness"] else {}
    own = typed_settings(typed)
    experiment: Json = {
        "name": "replay",
        "kind": "single",
        "workloads": [workload["name"]],
        "set": layered(_timing(header, typed["speed"]), lateness, own),
        "interleave": typed["interleave"],
        **{key: typed[key] for key in ("objective", "repeat") if typed[key] is not None},
    }
    suite = read_experiments({"workload": [workload], "experiment": [experiment]}, TYPED, targets=typed["targets"])
    read = suite.experiments[0]
    if "size" in own:
        return suite

    def sized(one: Configuration) -> Configuration:
        size = _scratch_bytes(header, typed["mapping"], one.target or DEFAULT_TARGET, engines.native())
        return replace(one, settings={"size": size} if size else {})

    return replace(suite, experiments=(replace(read, configurations=tuple(map(sized, read.configurations))),))


def _check_points(experiment: Experiment, header: Json) -> None:
    """Refuse settings that do not go with a trace, and a trace that reaches beyond one of the targets."""
    from plimsoll import engine as engines
    from plimsoll.cli.conduct.pointing import Pointing
    from plimsoll.cli.conduct.reach import check_reach
    from plimsoll.experiments.plan import Ask, Request

    engine = engines.native()
    pointing = Pointing(experiment, engine)
    for workload in experiment.workloads:
        for subject in experiment.subjects(workload):
            point = pointing.point(Request(experiment.name, experiment.kind, subject, Ask()))
            if point.refusal is not None:
                raise InputError(point.refusal)
            stream = engine.check_workload(point.workload, "--set")["stream"][0]
            check_reach(header, stream, engine.inspect_target(point.target), point.options.get("size"))


def _document(choice: Any, path: str, header: Json, typed: Json) -> Json:
    source, speed = header["source"], typed["speed"]
    pace = "as fast as possible" if speed is None else "when they were recorded" + (f", {speed:g} times as fast" if speed != 1 else "")
    stream: Json = {"name": "replay", "trace": path, "trace_map": typed["mapping"], "queue_depth": _depth(header, speed)}
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


def _scratch_bytes(header: Json, mapping: str, target: str, engine: Any) -> int | None:
    """The size of a scratch file to make that the trace fits; None where something is there or anything would do."""
    inspection = engine.inspect_target(target)
    if mapping != "refuse" or inspection["exists"] or len(inspection["parts"]) != 1:
        return None
    ends = [-(-int(device["end_bytes"]) // _PLACE_BYTES) * _PLACE_BYTES for device in header["devices"]]
    return max(_PLACE_BYTES, sum(ends))


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
    from plimsoll import engine as engines

    if text is None:
        return None, None
    if text.isascii() and text.isdigit() and 0 < int(text) < 1 << 62:
        return int(text), None
    try:
        seconds = float(engines.native().check_job({"duration": text})["duration"]) if not text.isdigit() else 0.0
    except InputError:
        seconds = 0.0
    if seconds <= 0:
        raise InputError(f"--limit {text}: neither a number of requests nor a time; write for example 100000 or 10m.")
    return None, seconds


def _check_outputs(trace: str, typed: Json) -> None:
    """Refuse before a long trace is read what could not be written afterwards, or would replace what is not ours."""
    from plimsoll.cli.report import checked_format
    from plimsoll.store.overwriting import check_replaceable

    if typed["report_path"] is not None:
        checked_format(typed["report_path"])
    path = typed["lateness"]
    if path is None:
        return
    if os.path.isdir(path) or not os.path.isdir(os.path.dirname(path) or "."):
        raise InputError(f"--lateness {path}: not a file in a directory that exists; name one, for example late.csv.")
    if len(typed["targets"]) > 1:
        raise InputError("--lateness: several targets would write one file; replay at one of them at a time.")
    if (typed["repeat"] or 1) > 1:
        raise InputError("--lateness: every repeat would write the same file; leave --repeat out.")
    check_replaceable(path, (_LATENESS_HEAD,), said="--lateness", inputs=(trace,), streamed=True)


def _convert(choice: Any, path: str) -> int:
    from plimsoll.cli.conduct.tracing import convert
    from plimsoll.formats.traces.compact import MAGIC
    from plimsoll.store.overwriting import check_replaceable
    from plimsoll.units import duration

    if not os.path.isdir(os.path.dirname(path) or "."):
        raise InputError(f"--convert {path}: there is no such directory; make it first.")
    if not os.path.basename(path):
        raise InputError(f"--convert {path}: this is a directory; name a file in it.")
    check_replaceable(path, (MAGIC,), said="--convert", inputs=(choice.path,))
    header = convert(choice, path)
    requests, devices = sum(header["ops"]), len(header["devices"])
    of = f"{requests:,} {'request' if requests == 1 else 'requests'} of {devices:,} {'device' if devices == 1 else 'devices'}"
    click.echo(f"{path}: {of}, {duration(header['span_ns'])}")
    for what, number in {**header["left_out"], **header["changed"]}.items():
        click.echo(f"  {what}: {number:,}", err=True)
    _say_assumed(header)
    return 0


def _say_assumed(header: Json) -> None:
    """What the trace does not say and is taken for granted."""
    for what in header["source"].get("assumed", []):
        click.echo(f"  {what}", err=True)


def _name(path: str) -> str:
    stem = os.path.basename(path).split(".")[0]
    return re.sub(r"[^A-Za-z0-9_-]+", "-", stem)[:64].strip("-") or "trace"
