"""``plimsoll compare``: which configuration carries more, point by point and mark by mark."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from plimsoll.cli.report import checked_format
from plimsoll.displayed import as_document
from plimsoll.errors import InputError
from plimsoll.store.durable import REPLACED
from plimsoll.store.reader import StoredRun, damage_named, open_runs

if TYPE_CHECKING:
    from plimsoll.analysis.comparison.comparison import Comparison


@click.command(short_help="Compare stored runs, or the configurations of one, point by point.")
@click.argument("runs", metavar="RUN...", nargs=-1, required=True)
@click.option(
    "--varying",
    metavar="WHAT",
    multiple=True,
    help="What may differ: an option, workload, level, cache, machine, version, modelled or size.",
)
@click.option("--baseline", metavar="LABEL", help="What the others are compared with. [default: the first]")
@click.option("--objective", metavar="OBJECTIVE", help="Compare the marks at this objective instead of the experiments' own.")
@click.option("--metric", "metrics", metavar="METRIC", multiple=True, help="Compare this, e.g. 'read p99'. [default: by arrival]")
@click.option("-o", "--output", metavar="FILE", help=f"Write the comparison there as well: .html, .csv or .json. {REPLACED}")
@click.option("--out", metavar="DIR", default="results", show_default=True, help="Where runs called by name are kept.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(runs: tuple[str, ...], as_json: bool, output: str | None, out: str, **typed: Any) -> None:
    """Compare every configuration of every RUN (a name, a label, latest~1 …) with the first: ratio with its 95 % interval, and
    faster, slower or no difference shown. Runs that are not comparable are refused with the reasons, unless --varying names them.

    \b
    plimsoll compare before after
    plimsoll compare 2026-11-21T03-36-29_steps-oltp-db --baseline "depth 1" -o comparison.html
    plimsoll compare ext4 xfs --varying machine --objective 'p99 <= 5ms' --json
    """
    if output is not None:
        checked_format(output)
    stored = open_runs(runs, out)
    with damage_named(point for run in stored for point in run.points):
        _show(stored, typed, output, as_json=as_json)


def _show(stored: list[StoredRun], typed: dict[str, Any], output: str | None, *, as_json: bool) -> None:
    comparison = _compared(stored, typed)
    if as_json:
        from plimsoll.reports.json import comparison_document

        click.echo(as_document(comparison_document(comparison.to_json())))
    else:
        from plimsoll.reports.terminal.findings import comparison_text

        click.echo(comparison_text(comparison))
    if output is not None:
        _write(comparison, stored, output)
        click.echo(f"\nreport   {output}", err=as_json)


def _compared(stored: list[StoredRun], typed: dict[str, Any]) -> Comparison:
    from plimsoll.analysis.comparison.comparison import compare
    from plimsoll.analysis.comparison.refusals import VARYING, refusals, unknown
    from plimsoll.analysis.objective.clause import parse_metric
    from plimsoll.cli.siding import objectives, sides

    asked = objectives(stored, typed["objective"])
    figures = [parse_metric(metric) for metric in typed["metrics"]] or None
    compared = sides(stored, typed["baseline"])
    for word in unknown(compared, typed["varying"]):
        raise InputError(f"--varying {word}: these runs have no such option; write {', '.join(VARYING)}, or an option such as queue_depth.")
    reasons = refusals(compared, typed["varying"])
    if len(reasons) == 1:
        raise InputError(f"this cannot be compared: {reasons[0]}")
    if reasons:
        raise InputError("\n  ".join([f"this cannot be compared, for {len(reasons)} reasons:", *reasons]))
    return compare(compared, typed["varying"], figures, asked)


def _write(comparison: Comparison, stored: list[StoredRun], path: str) -> None:
    ending = os.path.splitext(path)[1].lower()
    if ending == ".html":
        from plimsoll.reports import html

        html.write(stored, Path(path), comparison=comparison.to_json())
    elif ending == ".csv":
        from plimsoll.reports import numbers

        numbers.write_comparison(comparison.to_json(), path)
    else:
        from plimsoll.reports import json as document

        document.write_comparison(comparison.to_json(), path)
