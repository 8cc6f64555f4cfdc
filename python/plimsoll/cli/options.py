"""The options that several commands share, each declared once; a command names those it takes, in the order its help shows them.

Model: `takes` adds the options to a command's function; the values arrive under the names of `DECLARED`. `LoadCommand` is the class of
every command that applies a load: it reads ``--destroy-data`` without ever taking the next word for its value.

    @click.command(cls=LoadCommand)
    @takes("targets", "settings", "duration")
    def command(**typed: Any) -> int: ...
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import click

from plimsoll.cli import completions
from plimsoll.defaults import defaults
from plimsoll.errors import InputError
from plimsoll.experiments.layout_target import devices, layout_target
from plimsoll.experiments.named_target import named_target
from plimsoll.store.durable import REPLACED

if TYPE_CHECKING:
    from plimsoll.uncertainty.figures import Plan

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def named(context: click.Context, _option: click.Parameter, targets: tuple[str, ...]) -> tuple[str, ...]:
    """The targets, with those put in that plimsoll.toml names. An empty name is a variable that is not set, and measures nothing."""
    if any(not target.strip() for target in targets):
        raise InputError("--target: the name is empty, as that of a variable which is not set; name a target, or leave the option out.")
    for target in targets:
        if named_target(target).name and os.path.lexists(target):
            raise InputError(f"--target {target}: there is a file of that name; write ./{target} for it, or give the side another name.")
    known = defaults()
    found = tuple(known.named(target) for target in targets)
    if not any(parameter.name == "on" for parameter in context.command.params):
        check_there(context.info_name or "", found)
    return found


def check_there(command: str, targets: Iterable[str]) -> None:
    """Refuse layouts for a command that looks at what is there."""
    for target in map(named_target, targets):
        if layout_target(target.target) is not None:
            raise InputError(
                f"'plimsoll {command}' takes no {target.target}, which is yet to be made; make it with 'plimsoll layout apply' and name "
                "what it gives, or compare layouts with 'plimsoll curve', 'ramp', 'run' or 'suite'."
            )


def price_option(what: str) -> Decorator:
    """``--price``; ``what`` begins its help."""
    return click.option(
        "--price",
        "prices",
        metavar="SIDE=PRICE",
        multiple=True,
        help=f"{what}, e.g. A=288751, 'A=288,751 USD' or a price list A=prices.toml; of a single side the price alone.",
    )


def planned(_context: click.Context, _option: click.Parameter, typed: str | None) -> Plan | None:
    """How many draws are wanted: as many as are worth the time unless something was said; None for none at all."""
    from plimsoll.uncertainty import figures

    return figures.affordable() if typed is None else figures.plan_of(typed)


def asked_for(_context: click.Context, _option: click.Parameter, typed: str | None) -> Plan | None:
    """The draws that were asked for, which may be none; None where nothing was said."""
    if typed is None:
        return None
    from plimsoll.uncertainty import figures

    return figures.plan_of(typed) or figures.Plan(draws=0)


#: Every shared option by the name its value arrives under.
DECLARED: dict[str, Decorator] = {
    "uncertainty": click.option(
        "--uncertainty",
        metavar="DRAWS",
        callback=planned,
        help="How often values of a modelled array that nobody has looked up are drawn, e.g. 100, or 100@7 with another seed; off for "
        "never. [default: 60, as far as 30 s suffice]",
    ),
    "draws": click.option(
        "--uncertainty",
        "draws",
        metavar="DRAWS",
        callback=asked_for,
        help="Measure modelled arrays again, so often, with other values for what nobody has looked up of them, e.g. 60, or 100@7 with "
        "another seed: figures get the interval that follows, and the values that matter. [default: with --report or --open 60, as far as "
        "30 s suffice]",
    ),
    "over": click.option(
        "--over",
        metavar="NAME=LEVELS",
        multiple=True,
        shell_complete=completions.settings,
        help="The levels of an option: 1,2,4 or 1..64 (doubling), 1..64*3, 1..32+4.",
    ),
    "targets": click.option(
        "-t",
        "--target",
        "targets",
        metavar="TARGET",
        multiple=True,
        callback=named,
        shell_complete=completions.targets,
        help="File, device, concat:A,B, stripe:A,B?unit=1MiB, null:, queue:, array:NAME or layout:NAME; several are measured in turn and "
        "compared. "
        "NAME=TARGET says what tables call it, e.g. fast=/dev/sdb; a file whose own name has a '=' is written ./a=b. "
        "[default: a scratch file ./plimsoll-scratch.dat, made and removed]",
    ),
    "on": click.option(
        "--on",
        "on",
        metavar="DEVICE,...",
        multiple=True,
        callback=lambda _context, _option, typed: devices(typed),
        help="The devices that layouts (-t layout:NAME, and those of suites) are made of before they are measured, in their order.",
    ),
    "settings": click.option(
        "-s",
        "--set",
        "settings",
        metavar="KEY=VALUE",
        multiple=True,
        shell_complete=completions.settings,
        help="Change an option, e.g. queue_depth=32.",
    ),
    "duration": click.option(
        "-d", "--duration", metavar="TIME", help="Measured time of each point, e.g. 30s or 5m. [default: 10s; of a file: 30s]"
    ),
    "warmup": click.option(
        "-w", "--warmup", metavar="TIME", help="How long to run the load before measuring. [default: 2s; of a file: 5s]"
    ),
    "size": click.option("--size", metavar="SIZE", help="Size of a scratch file to make, e.g. 8GiB."),
    "repeat": click.option(
        "--repeat",
        metavar="N",
        type=click.IntRange(1, 1000),
        help="Measure everything N times, each time with the next seed.",
    ),
    "interleave": click.option("--interleave", is_flag=True, help="Take targets (run: workloads, too) in turn, point by point: A B A B."),
    "cache": click.option(
        "--cache",
        metavar="STATE",
        type=click.Choice(("cold", "warm", "as found")),
        help="cold: drop the page cache of the target before each point; warm: a warm-up as long as the measurement.",
    ),
    "precision": click.option(
        "--precision",
        metavar="PERCENT",
        shell_complete=completions.precisions,
        help="End a point when its interval is that narrow, e.g. 2% or '2% of read p99'; the duration is then the limit.",
    ),
    "objective": click.option(
        "--objective",
        metavar="OBJECTIVE",
        shell_complete=completions.objectives,
        help="What has to hold, e.g. 'read mean <= 20ms and write mean <= 20ms' or 'p99 <= 5ms'.",
    ),
    "asserts": click.option("--assert", "asserts", is_flag=True, help="Exit with 1 when the objective does not hold."),
    "out": click.option("-o", "--out", metavar="DIR", default="results", show_default=True, help="Where runs are kept."),
    "label": click.option("--label", metavar="TEXT", help="What to call this run in reports."),
    "prices": price_option("What a side costs, to have the price per IOPS, MB/s or composite"),
    "report_path": click.option(
        "--report", "report_path", metavar="FILE", help=f"Write the report there: .html, .csv, .parquet, .json, .md or .xml. {REPLACED}"
    ),
    "opens": click.option("--open", "opens", is_flag=True, help="Open the report in a browser at the end."),
    "live": click.option("--live", is_flag=True, help="Show the run in a browser while it goes on, at an address of this machine."),
    "otlp": click.option(
        "--otlp", metavar="URL", help="Send metrics of the run to an OpenTelemetry collector, e.g. http://127.0.0.1:4318."
    ),
    "dry_run": click.option(
        "--dry-run",
        is_flag=True,
        help="Only show what would be done: points in their order, what is written where, time and room. Nothing is touched.",
    ),
    "keep": click.option("--keep", is_flag=True, help="Keep the scratch file."),
    "destroy_data": click.option(
        "--destroy-data",
        metavar="[=SERIAL|PATH]",
        help="Allow writing to a device or to a file that Plimsoll did not make; its serial number or path "
        "must be typed as well when it carries data.",
    ),
    "fresh": click.option("--fresh", is_flag=True, help="Start a new run even if an unfinished one could be resumed."),
    "hosts": click.option(
        "--hosts",
        metavar="HOSTS",
        help="Measure on several hosts at the same time, started by the clock: db1,db2 over ssh, a lab's file, or local:3 on this machine.",
    ),
    "share": click.option(
        "--share",
        metavar="slices|full|REGION,...",
        help="How hosts share a target that several of them reach: slices (each its own), full (each all of it) or a region for each, "
        "e.g. 0..50%,50%..100%.",
    ),
    "quiet": click.option(
        "-q",
        "--quiet",
        is_flag=True,
        help="Show no progress, only points that fail and the results. Without a terminal: one line per point, "
        "at most one update every 10 s.",
    ),
    "as_json": click.option("--json", "as_json", is_flag=True, help="Print the results as one JSON document."),
}

#: Options of decision support that have a word of their own, with the setting that each stands for.
DECISION_SETTINGS = {
    "scale": "scale={}",
    "streams": "streams={}",
    "queries": "queries={}",
    "memory": "memory={}",
    "no_refresh": "refresh=false",
    "spec_rounding": "spec_rounding=true",
}
DECLARED |= {
    "scale": click.option("--scale", metavar="N", help="About how many GB of data the database holds."),
    "streams": click.option("--streams", metavar="N", help="Streams of queries at the same time. [default: the least for the scale]"),
    "queries": click.option("--queries", metavar="LIST", help="Which of the 22 queries, e.g. 1,6,14 or 1-11."),
    "memory": click.option("--memory", metavar="SIZE", help="What the engine may use: 25% of the data, 4GiB, or engine."),
    "no_refresh": click.option("--no-refresh", is_flag=True, help="No orders come and go meanwhile."),
    "spec_rounding": click.option("--spec-rounding", is_flag=True, help="Round times and figures as the specification does."),
}
DECISION = tuple(DECISION_SETTINGS)

#: What every experiment takes besides its levels, in the order of the help.
EXPERIMENT = (
    "targets",
    "on",
    "settings",
    "duration",
    "warmup",
    "size",
    "repeat",
    "interleave",
    "cache",
    "precision",
    "draws",
    "out",
    "label",
    "prices",
    "report_path",
    "opens",
    "live",
    "otlp",
    "dry_run",
    "keep",
    "destroy_data",
    "fresh",
    "hosts",
    "share",
    "quiet",
    "as_json",
)
#: Options that mean the same in every command; `plimsoll help options` explains them, and the help of a command only names them.
COMMON = EXPERIMENT
#: Kinds whose results decide what is repeated take no ``--repeat``.
ONCE = tuple(name for name in EXPERIMENT if name != "repeat")


def takes(*names: str) -> Decorator:
    """A decorator that adds the named options."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for name in reversed(names):
            function = DECLARED[name](function)
        return function

    return decorate


def with_settings(typed: dict[str, Any]) -> dict[str, Any]:
    """What was typed, with the options of decision support among the settings."""
    said = [form.format(typed[name]) for name, form in DECISION_SETTINGS.items() if typed.get(name)]
    rest = {name: value for name, value in typed.items() if name not in DECISION_SETTINGS}
    return {**rest, "settings": (*said, *rest["settings"])}


def _joined(names: Sequence[str], width: int) -> list[str]:
    """Lines of names that are not split."""
    lines = [""]
    for name in names:
        longer = f"{lines[-1]}  {name}" if lines[-1] else name
        lines = [*lines[:-1], longer] if len(longer) <= width else [*lines, name]
    return lines


class PermittingCommand(click.Command):
    """Takes the value of ``--destroy-data`` after ``=`` only, so that it never swallows the next argument."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        end = args.index("--") if "--" in args else len(args)
        head = ["--destroy-data=" if arg == "--destroy-data" else arg for arg in args[:end]]
        return super().parse_args(ctx, head + args[end:])


class LoadCommand(PermittingCommand):
    """Explains its own options, and only names those that many commands share."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Explain the command's own options, and name the others."""
        options = [option for option in self.get_params(ctx) if isinstance(option, click.Option)]
        shown = [(option, record) for option in options if (record := option.get_help_record(ctx)) is not None]
        own = [record for option, record in shown if option.name not in COMMON and option.name not in DECISION_SETTINGS]
        decision = [record for option, record in shown if option.name in DECISION_SETTINGS]
        common = [record[0] for option, record in shown if option.name in COMMON]
        with formatter.section("Options"):
            formatter.write_dl(own)
        if decision:
            with formatter.section("Options of decision support"):
                formatter.write_dl(decision)
        if common:
            with formatter.section("Common options, explained by 'plimsoll help options'"):
                formatter.write("".join(f"  {line}\n" for line in _joined(common, formatter.width - 4)))
