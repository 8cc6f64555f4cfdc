"""``plimsoll report``: make a report of stored runs.

Model: the exit code is that of making the report, 0 whatever the runs came to; it measures nothing. That data were wrong, or points failed,
was the exit code of the run that measured them, stands at the top of the report, and is said on stderr here.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from plimsoll.analysis.point.verification import wrong_data
from plimsoll.cli import completions
from plimsoll.cli.options import price_option, takes
from plimsoll.cli.report_progress import DrawnPoints
from plimsoll.cli.uncertainty import draw
from plimsoll.displayed import displayed, encoded, quoted
from plimsoll.errors import InputError
from plimsoll.near import listed
from plimsoll.records import dataclass
from plimsoll.store.durable import REPLACED, check_replaceable, replace_file
from plimsoll.store.reader import StoredRun, damage_named, open_runs
from plimsoll.tables.split import SPLITS, By

if TYPE_CHECKING:
    from plimsoll.analysis.price.per_unit import Prices
    from plimsoll.uncertainty.figures import Plan

FORMATS = (".html", ".csv", ".parquet", ".json", ".md", ".xml")
#: Those that ``--long`` is for.
_TABLES = (".csv", ".parquet")
#: Those that say what sides cost.
_PRICED = (".html", ".csv", ".parquet", ".json", ".md")
#: Those that are text with a beginning of their own, and what writes them.
_TEXTS = {".md": "plimsoll.reports.markdown", ".xml": "plimsoll.reports.junit"}


@click.command(short_help="Make a report of stored runs: HTML, a table, JSON, Markdown or JUnit.")
@click.argument("runs", metavar="RUN...", nargs=-1, required=True, shell_complete=completions.runs)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help=f"FILE.html, .csv, .parquet, .json, .md (a summary) or .xml (JUnit). {REPLACED} [default: RUN/report.html]",
)
@price_option("What a side costs, to show the price per IOPS, MB/s or composite")
@click.option("--long", "is_long", is_flag=True, help="CSV and Parquet: a row for every number instead of a row per point and operation.")
@click.option("--by", type=click.Choice(SPLITS), help="CSV and Parquet: a row per operation of each of these. [default: point]")
@click.option("--out", metavar="DIR", default="results", show_default=True, help="Where runs called by name are kept.")
@takes("uncertainty")
@click.option("--open", "opens", is_flag=True, help="Open the report in a browser.")
def command(runs: tuple[str, ...], out: str, **typed: Any) -> None:
    """Make one report of each RUN: a name or how it begins, a label, latest, latest~1, or a directory. Several are compared side by side.

    CSV and Parquet have a row per point and operation, with --by per stream or part of the target and operation;
    docs/reference/results-table.md names the columns.
    Exits with 0 when the report is written. What went wrong in the runs is said on stderr.
    """
    arguments = _Arguments(**typed)
    arguments.check()
    found = open_runs(runs, out)
    draw(found, arguments.uncertainty)
    path = write_report(found, arguments.output, arguments.prices, Form(arguments.is_long, arguments.by or "point"))
    click.echo(path)
    if arguments.opens:
        open_page(path)
    for run in found:
        if (doubt := _failed(run)) is not None:
            click.echo(f"plimsoll: {displayed(run.name)}: {doubt}", err=True)


@dataclass(frozen=True)
class _Arguments:
    """What the report is written to, in which form, and whether it is opened."""

    output: str | None
    prices: tuple[str, ...]
    is_long: bool
    by: By | None
    uncertainty: Plan | None
    opens: bool

    def check(self) -> None:
        """Raise `InputError` for options that a report with this ending cannot follow."""
        check_form(is_long=self.is_long, by=self.by)
        ending = None if self.output is None else os.path.splitext(self.output)[1].lower()
        for option in (*(["--long"] if self.is_long else []), *(["--by"] if self.by else [])):
            if ending not in _TABLES:
                raise InputError(f"{option} is for tables; add -o FILE.csv or -o FILE.parquet, or leave it out.")
        if self.prices and ending is not None and ending not in _PRICED:
            raise InputError(f"--price: {self.output} does not say what sides cost; write {listed(_PRICED)}, or leave --price out.")
        if self.prices and self.is_long:
            raise InputError("--price: the long form has no prices; leave out --long, or --price.")
        if self.opens and ending not in (None, ".html"):
            raise InputError(f"--open shows a page, and {self.output} is none; name a .html file, or leave --open out.")


def open_page(path: str) -> None:
    """Open a report in a browser; where there is none, say so: the report is there all the same."""
    import webbrowser

    if not os.path.exists(path):
        return
    try:
        opened = webbrowser.open(Path(path).absolute().as_uri())
    except (webbrowser.Error, OSError):
        opened = False
    if not opened:
        click.echo(f"plimsoll: no browser could be started here; open {displayed(path)} yourself.", err=True)


def _failed(run: StoredRun) -> str | None:
    """What keeps some points of a run from being used; None when all can be."""
    failed = [point.result for point in run.points if point.result.status == "failed"]
    wrong = sum(1 for result in failed if wrong_data(result))
    said = [
        *([f"wrong data was read in {_points(wrong, len(run.points))}"] if wrong else []),
        *([f"{_points(len(failed) - wrong, len(run.points))} failed"] if len(failed) > wrong else []),
    ]
    return f"{'; '.join(said)}." if said else None


def _points(some: int, every: int) -> str:
    return "the only point" if every == 1 else f"{some:,} of {every:,} points"


def checked_format(path: str) -> str:
    """The ending of a report's file, which says its format; refuses a file that cannot become a report, or is none."""
    ending = os.path.splitext(path)[1].lower()
    if ending not in FORMATS:
        raise InputError(f"{path}: reports end in {listed(FORMATS)}; give one of these.")
    folder = os.path.dirname(path) or "."
    if not os.path.isdir(folder):
        raise InputError(f"{path}: there is no directory {quoted(folder)}; make it first.")
    check_replaceable(path, _kinds(ending))
    return ending


def _kinds(ending: str) -> tuple[bytes, ...]:
    """How reports and comparisons with this ending begin."""
    if ending == ".html":
        from plimsoll.reports.html import BEGINNING

        return (BEGINNING.encode(),)
    if ending in _TABLES:
        return table_beginnings(ending.removeprefix("."))
    if ending in _TEXTS:
        return (import_module(_TEXTS[ending]).BEGINNING.encode(),)
    return (b'{\n "schema": "plimsoll.',)


def table_beginnings(form: str) -> tuple[bytes, ...]:
    """How tables in this form begin, those of comparisons included."""
    if form == "parquet":
        return (b"PAR1",)
    from plimsoll.reports.numbers import COLUMNS, COMPARISON_BEGINNING
    from plimsoll.tables.points import BEGINNING

    return (BEGINNING, ",".join(COLUMNS).encode(), COMPARISON_BEGINNING)


@dataclass(frozen=True)
class Form:
    """What a table has a row for: the operations of each point, stream or part, or in its long form every number."""

    is_long: bool = False
    by: By = "point"


def check_form(*, is_long: bool, by: str | None) -> None:
    """Refuse two forms at once."""
    if is_long and by:
        raise InputError("--by: the long form has rows for streams and parts as well; leave out --long, or --by.")


def write_report(runs: Sequence[StoredRun], output: str | None, prices: Sequence[str] = (), rows: Form | None = None) -> str:
    """Write the report of ``runs`` in the format that the file's ending says, with what sides cost; gives the file's path."""
    path = output or os.path.join(runs[0].path, "report.html")
    ending = checked_format(path) if output else ".html"
    with damage_named(point for run in runs for point in run.points):
        if ending in _TABLES:
            write_table(runs, path, ending.removeprefix("."), rows or Form(), prices)
        else:
            from plimsoll.points.prices import prices_of_runs

            _write(runs, path, ending, prices_of_runs(runs, prices))
    return path


def write_table(runs: Sequence[StoredRun], path: str, form: str, rows: Form, prices: Sequence[str] = ()) -> None:
    """Write the points as ``csv`` or ``parquet``, at once, with what their sides cost."""
    if rows.is_long:
        from plimsoll.reports import numbers

        {"csv": numbers.write_csv, "parquet": numbers.write_parquet}[form](runs, path)
        return
    from plimsoll.points.prices import priced_points
    from plimsoll.tables.points import points_table

    table = points_table(runs, priced_points(runs, prices), rows.by)
    replace_file(path, table.csv() if form == "csv" else table.parquet())


def _write(runs: Sequence[StoredRun], path: str, ending: str, prices: Prices | None) -> None:
    if ending == ".html":
        from plimsoll.reports import html

        with DrawnPoints() as heard:
            html.write(runs, Path(path), prices=prices, heard=heard)
    elif ending == ".md":
        from plimsoll.reports.markdown import run_markdown

        replace_file(path, encoded(run_markdown(runs, prices)))
    elif ending == ".xml":
        from plimsoll.reports.junit import run_xml

        replace_file(path, encoded(run_xml(runs)))
    else:
        from plimsoll.reports import json

        json.write(runs, path, prices)
