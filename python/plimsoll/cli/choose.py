"""``plimsoll choose``: the cheapest modelled array that carries a demand, healthy, degraded and while rebuilding."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from plimsoll.cli import completions
from plimsoll.cli.options import takes
from plimsoll.cli.screen import screen
from plimsoll.displayed import as_document
from plimsoll.errors import InputError
from plimsoll.store.durable import REPLACED

if TYPE_CHECKING:
    from plimsoll.choice.selection import Chosen

#: Exit code of ``--assert`` when nothing carries the demand.
EXIT_NOT_CARRIED = 1


@click.command(short_help="Find the cheapest modelled array that carries a demand, also with a drive missing.")
@click.option(
    "--demand",
    "demands",
    metavar="FILE",
    multiple=True,
    help="What is asked: a capture of 'plimsoll watch', oltp-db@5k, trace or run.",
)
@click.option(
    "--objective",
    "objectives",
    metavar="[NAME=]TEXT",
    multiple=True,
    shell_complete=completions.objectives,
    help="What has to hold, e.g. 'p99 <= 5ms'; of one of several demands NAME='p99 <= 5ms'. [default: achieved >= 97%]",
)
@click.option("--capacity", metavar="SIZE", help="What it has to hold, e.g. 40TB.")
@click.option(
    "--among",
    metavar="ARRAYS",
    multiple=True,
    help="Families, patterns, files, with axes: 'msa2000 nvme-raid10?drives=4..24+2'.",
)
@click.option("--survive", metavar="N", type=click.IntRange(0, 3), default=1, show_default=True, help="Failures without losing data.")
@click.option("--budget", metavar="AMOUNT", help="The most that it may cost.")
@click.option("--prices", metavar="FILE", help="What parts cost, draw and take up, over what is shipped (docs/choosing.md).")
@click.option("--cap", "caps", metavar="NAME=RATE", multiple=True, help="Let no more than this of a demand reach the array.")
@click.option("--device", metavar="NAME", help="Which device of a capture, when it holds several.")
@click.option("--percentile", metavar="P", help="Rates that this part of a capture's intervals did not exceed. [default: 95]")
@click.option("--random-percent", metavar="P", help="Requests of a capture at random places, in percent. [default: 100]")
@click.option("--growth", metavar="P", help="Room for growth or peaks, e.g. 20%; multiplies rates.")
@click.option("--healthy-only", is_flag=True, help="Leave out the trials with a drive missing and while it is rebuilt.")
@click.option(
    "--finalists", metavar="N", type=click.IntRange(1, 100), default=2, show_default=True, help="How many that carry it are looked for."
)
@click.option("--seed", metavar="N", type=click.IntRange(0), default=1, show_default=True, help="Of all loads.")
@click.option("--jobs", metavar="N", type=click.IntRange(1, 1024), help="Processes. [default: one per processor]")
@click.option(
    "--uncertainty",
    metavar="DRAWS",
    help="How often those that carry it are drawn with other values for what nobody has looked up, e.g. 100, or 100@7 with another "
    "seed; off for never. [default: 60, as far as 20 million requests suffice]",
)
@click.option(
    "--report", "report_path", metavar="FILE", help=f"Write a page there, FILE.html: cost against load, and each candidate. {REPLACED}"
)
@click.option("--assert", "asserted", is_flag=True, help="Exit with 1 when no candidate is shown to carry the demand.")
@takes("opens", "out", "quiet", "as_json")
def command(**typed: Any) -> int:
    """Say which modelled array to buy for what is demanded, and why not the others.

    Candidates without the capacity or the redundancy fall out by arithmetic, others by bounds. The rest is simulated in virtual time,
    the cheapest first: the demand at its rate, healthy, with a drive missing, and while that is rebuilt. Nothing is stored.

    \b
    plimsoll choose --demand demand.json --objective 'p99 <= 5ms' --capacity 4TB --among 'msa2000 nvme-raid10?drives=4..24+2'
    plimsoll choose --demand oltp-db@2k --objective 'read p99 <= 20ms' --among './*.toml' --prices quotations.toml --budget 60000
    plimsoll choose --demand mail.json --demand db.json --objective 'db=p99 <= 5ms' --cap mail=2k --among 'nearline-raid6?drives=6..12'
    """
    from plimsoll.choice.question import Question, selection_of
    from plimsoll.choice.selection import select

    asserted, quiet, as_json = typed.pop("asserted"), typed.pop("quiet"), typed.pop("as_json")
    report_path, opens = typed.pop("report_path"), typed.pop("opens")
    _check_report(report_path, opens=opens)
    selection = selection_of(Question(**typed))
    chosen = select(selection, _quiet if quiet else _heard)
    _show(chosen, as_json=as_json)
    if report_path is not None:
        _report(chosen, report_path, opens=opens)
    return EXIT_NOT_CARRIED if asserted and chosen.best is None else 0


def _check_report(path: str | None, *, opens: bool) -> None:
    """Refuse before anything is simulated a page that could not be written."""
    if path is None:
        if opens:
            raise InputError("--open: there is no page without --report; add --report FILE.html.")
        return
    from plimsoll.cli.report import checked_format

    if checked_format(path) != ".html":
        raise InputError(f"--report {path}: the report of a choice is a page; name a .html file, or use --json for its figures.")


def _report(chosen: Chosen, path: str, *, opens: bool) -> None:
    from plimsoll.cli.report import open_page
    from plimsoll.reports.html import write_choice_page
    from plimsoll.reports.view.choice import choice_page

    write_choice_page(choice_page(chosen), Path(path))
    click.echo(f"report     {path}", err=True)
    if opens:
        open_page(path)


def _heard(sentence: str) -> None:
    click.echo(sentence, err=True)


def _quiet(_: str) -> None:
    pass


def _show(chosen: Chosen, *, as_json: bool) -> None:
    from plimsoll.choice.view import SCHEMA, view_of
    from plimsoll.reports.terminal.choice import answer, choice_lines

    if as_json:
        click.echo(as_document({"schema": SCHEMA, **view_of(chosen, answer(chosen))}))
        return
    click.echo("\n".join(choice_lines(chosen, screen())))
