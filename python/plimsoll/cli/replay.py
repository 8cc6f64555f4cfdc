"""``plimsoll replay``: the requests of a block trace at a target, and how faithfully they were issued."""

from __future__ import annotations

import os
from typing import Any

import click

from plimsoll.cli.fit import ACTIONS, FORMS
from plimsoll.cli.options import LoadCommand, takes
from plimsoll.errors import InputError
from plimsoll.store.durable import REPLACED

MAPS = ("refuse", "wrap", "scale", "squeeze")
#: How a lateness report begins; the engine writes it.
_LATENESS_HEAD = b"number,due_ns,submitted_ns,completed_ns"


@click.command(cls=LoadCommand, short_help="Replay a block trace at its recorded times or as fast as possible.")
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
@takes("draws", "out", "label", "prices", "report_path", "opens", "live", "otlp", "dry_run", "keep", "destroy_data", "fresh")
@takes("hosts", "share", "quiet", "as_json")
def command(trace: str, convert: str | None, **typed: Any) -> int:
    """Replay a block trace (fio iolog, blktrace, blkparse, MSR-Cambridge, Alibaba, MQSim) at TARGET, and say how late its requests were.

    Run the same command again to resume an interrupted run.

    \b
    plimsoll replay hm_0.csv --target /dev/sdb --destroy-data
    plimsoll replay sda.blkparse.txt -t /data/scratch --speed 2x --map squeeze --lateness late.csv
    plimsoll replay hm.csv --device 'hm 0' --device 'hm 1' -t concat:/dev/sdb,/dev/sdc
    """
    from plimsoll.cli.experiment import DisplayArguments, carried_out
    from plimsoll.points.arguments import ReplayArguments

    if convert is not None:
        from plimsoll.points.replay import choice_of

        return _convert(choice_of(trace, ReplayArguments.of(typed)), convert)
    _check_outputs(trace, DisplayArguments.of(typed).report_path, ReplayArguments.of(typed).lateness)
    return carried_out("replay", (trace,), typed)


def _check_outputs(trace: str, report_path: str | None, path: str | None) -> None:
    """Refuse before a long trace is read what could not be written afterwards, or would replace what is not ours."""
    from plimsoll.cli.report import checked_format
    from plimsoll.store.durable import check_replaceable

    if report_path is not None:
        checked_format(report_path)
    if path is None:
        return
    if os.path.isdir(path) or not os.path.isdir(os.path.dirname(path) or "."):
        raise InputError(f"--lateness {path}: not a file in a directory that exists; name one, for example late.csv.")
    check_replaceable(path, (_LATENESS_HEAD,), said="--lateness", inputs=(trace,), streamed=True)


def _convert(choice: Any, path: str) -> int:
    from plimsoll.formats.traces.compact import MAGIC
    from plimsoll.points.traces import convert
    from plimsoll.store.durable import check_replaceable
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
    for what in header["source"].get("assumed", []):
        click.echo(f"  {what}", err=True)
    return 0
