"""``plimsoll compare``: which configuration carries more, point by point and mark by mark."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from plimsoll.cli import completions
from plimsoll.cli.options import price_option, takes
from plimsoll.cli.report import checked_format
from plimsoll.cli.report_progress import DrawnPoints
from plimsoll.cli.uncertainty import draw
from plimsoll.displayed import as_document, encoded
from plimsoll.errors import EXIT_OBJECTIVE_FAILED
from plimsoll.records import dataclass
from plimsoll.store.durable import REPLACED, replace_file
from plimsoll.store.reader import StoredRun, damage_named, open_runs

if TYPE_CHECKING:
    from plimsoll.analysis.comparison.assertion import AssertedView, Assertion
    from plimsoll.uncertainty.figures import Plan
    from plimsoll.verbs.comparison import Comparison as Compared


@click.command(short_help="Compare stored runs, or the configurations of one, point by point.")
@click.argument("runs", metavar="RUN...", nargs=-1, required=True, shell_complete=completions.runs)
@click.option(
    "--varying",
    metavar="WHAT",
    multiple=True,
    help="What may differ: an option, workload, level, cache, machine, version, modelled or size.",
)
@click.option("--baseline", metavar="LABEL", help="What the others are compared with. [default: the first]")
@click.option(
    "--objective",
    metavar="OBJECTIVE",
    shell_complete=completions.objectives,
    help="Compare the marks at this objective instead of the experiments' own.",
)
@price_option("What a side costs, to compare the price per IOPS, MB/s or composite")
@click.option(
    "--metric",
    "metrics",
    metavar="METRIC",
    multiple=True,
    shell_complete=completions.metrics,
    help="Compare this, e.g. 'read p99'. [default: by arrival]",
)
@click.option(
    "-o", "--output", metavar="FILE", help=f"Write the comparison there as well: .html, .csv, .parquet, .json, .md or .xml. {REPLACED}"
)
@click.option(
    "--assert",
    "asserts",
    metavar="CONDITION",
    multiple=True,
    help="Exit with 1 unless every side keeps this, e.g. 'throughput >= 0.95x' or 'read p99 <= 1.1x'; may be repeated.",
)
@click.option("--out", metavar="DIR", default="results", show_default=True, help="Where runs called by name are kept.")
@takes("uncertainty")
@click.option("--details", is_flag=True, help="Show every row with its interval, and every finding.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(runs: tuple[str, ...], out: str, **typed: Any) -> int:
    """Compare every configuration of every RUN (a name, a label, latest~1 …) with the first: ratio with its 95 % interval, and
    faster, slower or no difference shown. Runs that are not comparable are refused with the reasons, unless --varying names them.

    \b
    plimsoll compare before after
    plimsoll compare 2026-11-21T03-36-29_steps-oltp-db --baseline "depth 1" -o comparison.html
    plimsoll compare ext4 xfs --varying machine --objective 'p99 <= 5ms' --json
    plimsoll compare array-a array-b --price array-a=288751 --price array-b=prices.toml
    plimsoll compare main branch --assert 'throughput >= 0.95x and p99 <= 1.1x' -o junit.xml

    --assert takes [OPERATION] METRIC RELATION RATIO, several joined by 'and'. METRIC is throughput, bandwidth, mark, or a latency: mean,
    p50, p90, p95, p99, p99.9. RATIO is of each side over the baseline, at every point: 0.95x or 95%. The whole 95 % interval has to
    keep it. Where the interval reaches across the limit, the condition is undecided, which fails, too.
    """
    arguments = _Arguments(**typed)
    if arguments.output is not None:
        checked_format(arguments.output)
    assertions = _assertions(arguments.asserts)
    stored = open_runs(runs, out)
    with damage_named(point for run in stored for point in run.points):
        draw(stored, arguments.uncertainty)
        return _show(stored, arguments, assertions)


@dataclass(frozen=True)
class _Arguments:
    """What is compared how, what has to hold, and what becomes of the comparison."""

    varying: tuple[str, ...]
    baseline: str | None
    objective: str | None
    prices: tuple[str, ...]
    metrics: tuple[str, ...]
    output: str | None
    asserts: tuple[str, ...]
    uncertainty: Plan | None
    details: bool
    as_json: bool


def _assertions(texts: Sequence[str]) -> Sequence[Assertion]:
    if not texts:
        return ()
    from plimsoll.analysis.comparison.assertion import parse_assertions

    return parse_assertions(texts)


def _show(stored: list[StoredRun], arguments: _Arguments, assertions: Sequence[Assertion]) -> int:
    from plimsoll.verbs.comparison import Comparison as Compared
    from plimsoll.verbs.comparison import ComparisonArguments

    of_sides = ComparisonArguments(arguments.varying, arguments.baseline, arguments.objective, arguments.prices)
    found = Compared(stored, of_sides, arguments.metrics)
    comparison, judged = found.compared, found.asserted(assertions)
    conditions = [one.to_json() for one in judged]
    if arguments.as_json:
        click.echo(as_document({**found.to_json(), **({"assertions": conditions} if conditions else {})}))
    else:
        from plimsoll.cli.screen import say, screen
        from plimsoll.points.sides import sides
        from plimsoll.reports.layouts import layouts_text
        from plimsoll.reports.terminal.comparison import comparison_text
        from plimsoll.reports.terminal.findings import asserted_text

        here = screen()
        say(comparison_text(comparison, here, details=arguments.details))
        if laid := layouts_text(((side.label, side.results) for side in sides(stored, arguments.baseline)), here):
            say(f"\n{laid}")
        if found.prices is not None:
            from plimsoll.reports.terminal.price import prices_text

            say(f"\n{prices_text(found.prices, here, details=arguments.details)}")
        if judged:
            say(f"\n{asserted_text(judged, here)}")
    if arguments.output is not None:
        _write(found, conditions, stored, arguments.output)
        click.echo(f"\nreport   {arguments.output}", err=arguments.as_json)
    missed = [one for one in judged if not one.holds]
    if missed:
        click.echo(
            f"plimsoll: {len(missed)} of {len(judged)} asserted conditions do not hold; the first: {missed[0].sentences()[0]}.", err=True
        )
    return EXIT_OBJECTIVE_FAILED if missed else 0


def _write(found: Compared, assertions: Sequence[AssertedView], stored: list[StoredRun], path: str) -> None:
    ending, comparison = os.path.splitext(path)[1].lower(), found.view()
    if ending == ".html":
        from plimsoll.reports import html

        with DrawnPoints() as heard:
            html.write(stored, Path(path), comparison=found.compared, prices=found.prices, heard=heard)
    elif ending in (".csv", ".parquet"):
        from plimsoll.reports.numbers import comparison_table

        table = comparison_table(comparison, found.prices)
        replace_file(path, table.csv() if ending == ".csv" else table.parquet())
    elif ending == ".json":
        from plimsoll.reports import json as document

        document.write_comparison({**comparison, **({"assertions": assertions} if assertions else {})}, path)
    elif ending == ".md":
        from plimsoll.reports.markdown import comparison_markdown

        replace_file(path, encoded(comparison_markdown(comparison, assertions)))
    else:
        from plimsoll.reports.junit import comparison_xml

        replace_file(path, encoded(comparison_xml(comparison, assertions)))
