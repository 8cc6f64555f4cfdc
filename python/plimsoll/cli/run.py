"""``plimsoll run``: measure targets under workloads, store every point, show the totals."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import click

from plimsoll import engine as engines
from plimsoll.cli.planning import Typed, planned
from plimsoll.cli.report import checked_format, write_report
from plimsoll.cli.sequence import Outcome, Setup, run_sequence
from plimsoll.host.machine import host_facts, versions
from plimsoll.reports.progress import PlainLines, Progress
from plimsoll.store.reader import open_run
from plimsoll.store.writer import RUN_SCHEMA, RunInfo, RunWriter


class _RunCommand(click.Command):
    """Takes the value of ``--destroy-data`` after ``=`` only, so that it never swallows the next argument."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        end = args.index("--") if "--" in args else len(args)
        head = ["--destroy-data=" if arg == "--destroy-data" else arg for arg in args[:end]]
        return super().parse_args(ctx, head + args[end:])


@click.command(cls=_RunCommand, short_help="Measure a target under one or more workloads.")
@click.argument("workloads", metavar="WORKLOAD...", nargs=-1, required=True)
@click.option(
    "-t",
    "--target",
    "targets",
    metavar="TARGET",
    multiple=True,
    help="File, device, concat:A,B, stripe:A,B?unit=1MiB, null: or queue:; several are measured in turn. "
    "[default: a scratch file ./plimsoll-scratch.dat, made and removed]",
)
@click.option("-s", "--set", "settings", metavar="KEY=VALUE", multiple=True, help="Change an option, e.g. queue_depth=32.")
@click.option("-d", "--duration", metavar="TIME", help="Measured time of each point, e.g. 30s or 5m. [default: 10s; of a file: 30s]")
@click.option("-w", "--warmup", metavar="TIME", help="Load before it is measured. [default: 2s; of a file: 5s]")
@click.option("--size", metavar="SIZE", help="Size of a scratch file to make, e.g. 8GiB.")
@click.option("--repeat", metavar="N", type=click.IntRange(1, 1000), default=1, help="Measure everything N times, interleaved.")
@click.option("-o", "--out", metavar="DIR", default="results", show_default=True, help="Where runs are kept.")
@click.option("--label", metavar="TEXT", help="What to call this run in reports.")
@click.option("--report", "report_path", metavar="FILE", help="Write the report there: .html, .csv or .json.")
@click.option("--keep", is_flag=True, help="Keep the scratch file.")
@click.option(
    "--destroy-data",
    metavar="[=SERIAL|PATH]",
    help="Allow writing to a device or to a file that Plimsoll did not make; its serial number or path "
    "must be typed as well when it carries data.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the results as one JSON document.")
def command(**typed: Any) -> int:
    """Measure TARGET under each WORKLOAD: a shipped name, a tag such as proliant, or a .toml file.

    \b
    plimsoll run proliant
    plimsoll run oltp-db --target /dev/nvme0n1 --destroy-data --set queue_depth=32
    plimsoll run mine.toml --target file:/data/test --size 16GiB --json
    """
    engine = engines.native()
    options = tuple((key, typed[key]) for key in ("duration", "warmup", "size") if typed[key] is not None)
    request = Typed(typed["workloads"], typed["targets"], typed["settings"], options, typed["repeat"])
    points = planned(request, engine)
    if typed["report_path"] is not None:
        checked_format(typed["report_path"])
    host, destroy = host_facts(), typed["destroy_data"]
    info = RunInfo(
        name=_run_name(request.workloads),
        command=["plimsoll", *sys.argv[1:]],
        points_planned=len(points),
        host=host,
        versions=versions(),
        label=typed["label"],
    )
    run = RunWriter.create(typed["out"], info)
    setup = Setup(
        engine=engine,
        run=run,
        progress=_progress(),
        host=host,
        permission=None if destroy is None else {"destroy": True, "typed": destroy or None},
        keep=typed["keep"],
    )
    outcome = run_sequence(points, setup)
    _show(outcome, run.path, as_json=typed["as_json"], report_path=typed["report_path"])
    return outcome.exit_code


def _run_name(workloads: tuple[str, ...]) -> str:
    first = os.path.basename(workloads[0]).removesuffix(".toml")
    return first if len(workloads) == 1 else f"{first}-and-more"


def _progress() -> Progress:
    if sys.stderr.isatty():
        from plimsoll.reports.live import LiveView

        return LiveView(sys.stderr)
    return PlainLines(sys.stderr)


def _show(outcome: Outcome, path: str, *, as_json: bool, report_path: str | None) -> None:
    if as_json:
        results = [result.to_json() for result in outcome.results]
        json.dump({"schema": RUN_SCHEMA, "results": results}, sys.stdout, ensure_ascii=False)
        sys.stdout.write("\n")
    elif outcome.results:
        from plimsoll.reports.terminal import summary

        click.echo(summary(outcome.results))
    click.echo(f"\nresults  {path}", err=as_json)
    if outcome.results:
        written = write_report([open_run(path)], report_path)
        click.echo(f"report   {written}", err=as_json)
