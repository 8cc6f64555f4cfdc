"""``plimsoll fit``: a workload that is like a block trace, or an array whose unknowns make it give what was measured."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from plimsoll.cli import completions
from plimsoll.cli.fitted_workload import check_output, name_of, write_workload
from plimsoll.defaults import defaults
from plimsoll.displayed import as_document
from plimsoll.errors import InputError, PlimsollError
from plimsoll.store.durable import REPLACED
from plimsoll.stored import Json

if TYPE_CHECKING:
    from plimsoll.analysis.trace.fit import Fit
    from plimsoll.analysis.trace.match import Measure
    from plimsoll.analysis.trace.profile import Profile
    from plimsoll.engine.protocol import Job
    from plimsoll.formats.traces import Trace, TraceRequest


SCHEMA = "plimsoll.fit/1"
#: The formats of `plimsoll.formats.traces`, which is imported when it is needed.
FORMS = ("iolog", "blktrace", "blkparse", "msr", "alibaba", "mqsim", "cloudphysics", "vscsi", "oracle-general", "compact")
ACTIONS = ("issue", "queue", "complete")
#: How unknowns of an array are looked for (`plimsoll.analysis.array_fit.unknown`).
SEARCHES = ("simplex", "grid")
#: Most requests that are drawn or issued to be held against the trace.
MOST_DRAWN = 1_000_000
MOST_ISSUED = 200_000
_SERVICE_US = 10
_INTERVALS = 20
_NAMED = 8
#: Options that mean something for one of the two things that can be fitted.
_OF_TRACES = ("form", "device", "action", "percentile")
_OF_ARRAYS = (
    "measured",
    "unknown",
    "hold_out",
    "where",
    "workload",
    "settings",
    "search",
    "levels",
    "requests",
    "seed",
    "processes",
    "hosts",
    "out",
)
_SPELT = {"form": "--format", "settings": "--set"}


@click.command(short_help="Turn a trace or a demand into a workload, or calibrate a modelled array.")
@click.argument("what", metavar="TRACE|DEMAND|array:NAME", shell_complete=completions.fitted)
@click.option("--format", "form", type=click.Choice(FORMS), help="What TRACE is. [default: recognised]")
@click.option("--device", metavar="NAME", help="Only requests of this target. [default: all together]")
@click.option("--percentile", metavar="P", help="Of a demand: rates that this part of its intervals did not exceed. [default: 95]")
@click.option("--action", type=click.Choice(ACTIONS), help="Where blktrace's requests are counted. [default: issue]")
@click.option(
    "--measured",
    metavar="FILE|RUN",
    help="Compare the array with these measurements: a CSV file of rates or latencies, a stored run, published:NAME, or trace:FILE; "
    "needs --unknown and "
    "--hold-out.",
)
@click.option(
    "--unknown",
    metavar="KEY=LOW..HIGH[:log]",
    multiple=True,
    help="Look for this value in this range, e.g. host.request_ns=10us..200us; three at most.",
)
@click.option("--hold-out", metavar="COLUMN[=VALUE]", multiple=True, help="Judge by these rows; without VALUE, by each value in turn.")
@click.option("--where", metavar="COLUMN=VALUE", multiple=True, help="Take only rows with this value.")
@click.option("--workload", metavar="NAME", help="What the rows of a file measured, e.g. 'se6920-{access}'.")
@click.option("--set", "settings", metavar="KEY=VALUE", multiple=True, help="An option of all rows of a file, e.g. threads=16.")
@click.option("--search", type=click.Choice(SEARCHES), help="How values are looked for. [default: simplex]")
@click.option("--levels", metavar="N", type=click.IntRange(min=2, max=1000), help="Values of each unknown in a grid.")
@click.option("--requests", metavar="N", type=click.IntRange(min=100), help="Requests that count in each run. [default: 10000]")
@click.option("--seed", metavar="N", type=click.IntRange(min=0), help="Seed of every run of the model. [default: 1]")
@click.option("--processes", metavar="N", type=click.IntRange(min=1), help="Runs at a time. [default: one per processor]")
@click.option("--hosts", metavar="HOSTS", help="Of an array: run the model on these hosts' processors: db1,db2, a lab's file, or local:3.")
@click.option("--out", metavar="DIR", help="Where runs called by name are kept. [default: results]")
@click.option("-o", "--output", metavar="FILE", help=f"Write the workload, or the array, there as TOML. {REPLACED}")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(what: str, output: str | None, as_json: bool, **chosen: Any) -> None:
    """Read a block trace (fio iolog, blktrace, blkparse, MSR-Cambridge, Alibaba, MQSim), fit a workload to it, and show both side by side:
    operations, sizes, gaps, sequentiality, hot spots.

    Or turn a demand that 'plimsoll watch -o' recorded into a workload: its rate, mix and sizes.

    Or calibrate up to three unknown values of a modelled array and validate them on held-out rows, next to a power law of the same
    rows. Everything runs in virtual time.

    \b
    plimsoll fit hm_0.csv -o hm_0.toml && plimsoll run hm_0.toml --target /dev/sdb
    plimsoll fit io_traces.csv --device 419 --json
    plimsoll fit demand.json -o demand.toml && plimsoll run demand.toml -t array:nvme
    plimsoll fit array:se6920-raid1 --measured published:se6920 --where 'label=SE6920 RAID 1' --where workload=se6920-random \\
      --unknown host.page_cache.size_bytes=512MiB..2GiB:log --unknown host.request_ns=20us..200us:log --hold-out size=8G
    """
    from plimsoll.catalog.arrays import is_array

    array = is_array(what)
    for option in _OF_TRACES if array else _OF_ARRAYS:
        if chosen[option]:
            spelt = _SPELT.get(option, f"--{option.replace('_', '-')}")
            raise InputError(f"{spelt} is for {'traces' if array else 'arrays, such as array:se6920-raid1'}; leave it out.")
    if array:
        from plimsoll.cli.array_fit import fit_array

        fit_array(what, {**chosen, "out": chosen["out"] or defaults().store}, output, as_json=as_json)
        return
    from plimsoll.cli.demand_fit import fit_demand, is_demand

    if is_demand(what):
        fit_demand(what, output, as_json=as_json, chosen=chosen)
        return
    if chosen["percentile"] is not None:
        raise InputError("--percentile is for demands, which 'plimsoll watch -o FILE' keeps; leave it out.")
    fit_trace(what, output, as_json=as_json, chosen=chosen)


def fit_trace(trace: str, output: str | None, *, as_json: bool, chosen: Json) -> None:
    """Fit a workload to a trace, and print or write it."""
    check_output(output)
    profile, opened = _profiled(trace, chosen["form"], chosen["device"], chosen["action"])
    fit, drawn, measures = _fitted(profile, trace)
    workload = fit.workload(name_of(output or trace), _source(trace, opened, chosen["device"]))
    issued = _issued(fit, workload)
    if output is not None:
        write_workload(output, workload)
    if as_json:
        click.echo(as_document(_document(opened, fit, workload, measures, {"drawn": drawn, "engine": issued})))
        return
    click.echo("\n".join(_text(opened, fit, measures, drawn, issued)))
    if output is None:
        click.echo("\nThe workload was not written; -o FILE writes it.", err=True)


def _profiled(path: str, form: str | None, device: str | None, action: str | None) -> tuple[Profile, Trace]:
    from plimsoll.analysis.trace.profile import profile_requests
    from plimsoll.formats.traces import open_trace
    from plimsoll.points.traces import trace_file

    with trace_file(path) as file:
        trace = open_trace(file, path, form, action)
        seen: dict[str, None] = {}
        try:
            profile = profile_requests(trace.requests() if device is None else _of(trace.requests(), device, seen))
        except OSError as problem:
            raise InputError(f"{path}: cannot be read ({str(problem.strerror).lower()}); give a trace.") from None
    if device is not None and not profile.count:
        others = list(seen)
        named = ", ".join(others[:_NAMED]) + (f" and {len(others) - _NAMED} more" if len(others) > _NAMED else "")
        raise InputError(f"--device {device}: {path} has no request of it; it has those of {named or 'none'}.")
    if not profile.count:
        raise InputError(f"{path}: there is no request in it; give a trace with at least one.")
    return profile, trace


def _of(requests: Iterator[TraceRequest], device: str, seen: dict[str, None]) -> Iterator[TraceRequest]:
    """The requests of one target; the names of some others are kept in ``seen``, for the sentence when there are none."""
    from plimsoll.analysis.trace.profile import MOST_TARGETS

    for request in requests:
        if request.target == device:
            yield request
        elif len(seen) < MOST_TARGETS:
            seen[request.target] = None


def _fitted(profile: Profile, path: str) -> tuple[Fit, int, list[Measure]]:
    """The fit, how many requests were drawn from it, and how they match."""
    from plimsoll.analysis.trace.fit import fit_workload
    from plimsoll.analysis.trace.match import compare_profiles
    from plimsoll.analysis.trace.profile import profile_requests
    from plimsoll.analysis.trace.sample import draw_requests

    try:
        fit = fit_workload(profile)
    except InputError as problem:
        raise InputError(f"{path}: {problem}") from None
    synthetic = profile_requests(draw_requests(fit, min(profile.count, MOST_DRAWN)))
    return fit, synthetic.count, compare_profiles(profile, synthetic)


def _issued(fit: Fit, workload: Json) -> Json | None:
    """What the engine issues of the workload, to a modelled target in virtual time; None, with the reason on stderr, where it cannot."""
    from plimsoll.engine import block as block_engine
    from plimsoll.target import Target

    engine, counts, moved = block_engine.native(), dict[str, int](), dict[str, int]()
    seconds = _seconds(fit)

    def take(kind: str, event: Json) -> None:
        for cell in event["cells"] if kind == "interval" else ():
            counts[cell["op"]] = counts.get(cell["op"], 0) + cell["count"]
            moved[cell["op"]] = moved.get(cell["op"], 0) + cell["bytes"]

    try:
        options = engine.check_job({"duration": f"{seconds:.9f}s", "warmup": "0s", "interval": f"{max(0.001, seconds / _INTERVALS):.9f}s"})
        target = Target(f"queue:?service=const:{_SERVICE_US}us&servers=4096&size={_round_size(fit.size_bytes)}")
        job: Job = {"workload": engine.check_workload(workload, "fitted"), "job": options, "target": target, "permission": None}
        engine.run_job(job, take, engine.control())
    except PlimsollError as problem:
        click.echo(f"the engine did not issue it: {problem}", err=True)
        return None
    total = sum(counts.values())
    return {
        "requests": total,
        "seconds": seconds,
        "rate_per_s": total / seconds,
        "ops": {op: count / total for op, count in counts.items()},
        "mean_bytes": {op: moved[op] / count for op, count in counts.items() if count and moved[op]},
    }


def _seconds(fit: Fit) -> float:
    """As long as the trace, but for no more than `MOST_ISSUED` requests."""
    spacing = fit.profile.total.spacing
    if not fit.profile.timed or not spacing.span_ns:
        return max(0.001, min(fit.profile.count, MOST_ISSUED) * _SERVICE_US / 1e6)
    return max(0.001, min(spacing.span_ns / 1e9, MOST_ISSUED / spacing.rate_per_s))


def _round_size(size: int) -> str:
    kibibyte = 1024
    return f"{max(4, -(-size // kibibyte))}KiB"


def _source(path: str, trace: Trace, device: str | None) -> str:
    import os

    of = f", target {device}" if device is not None else ""
    return f"{os.path.basename(path)} ({trace.title}{of})"


def _document(trace: Trace, fit: Fit, workload: Json, measures: list[Measure], generated: Json) -> Json:
    profile = fit.profile
    return {
        "schema": SCHEMA,
        "trace": {
            "source": trace.reading.source,
            "format": trace.form,
            "requests": profile.count,
            "seconds": profile.total.spacing.span_ns / 1e9 if profile.timed else None,
            "targets": dict(profile.targets.most_common()),
            "outstanding": profile.outstanding,
            "left_out": dict(trace.reading.left_out),
            "assumed": list(trace.reading.assumed),
        },
        "workload": workload,
        "target_bytes": fit.size_bytes,
        "warnings": fit.warnings,
        "match": [measure.to_json() for measure in measures],
        **generated,
    }


def _text(trace: Trace, fit: Fit, measures: list[Measure], drawn: int, issued: Json | None) -> Iterator[str]:
    from plimsoll.reports.terminal.fit import match_lines, match_table, stream_lines, trace_lines

    yield from trace_lines(fit.profile, trace.title, dict(trace.reading.left_out))
    yield from (f"assumed   {what}" for what in trace.reading.assumed)
    yield from stream_lines(fit)
    yield ""
    yield match_table(measures)
    yield ""
    yield from match_lines(fit.profile.count, drawn, issued)
    yield from (f"Not kept: {warning}." for warning in fit.warnings)
