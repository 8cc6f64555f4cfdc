"""``plimsoll import``: results that another tool measured, stored as a run that says so."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from plimsoll.cli.screen import screen
from plimsoll.errors import InputError
from plimsoll.passwords import withheld

#: The readers of `plimsoll.formats.import_forms`, which is imported when it is needed.
READERS = ("fio-json", "fio-logs", "vdbench", "iometer-csv", "orion", "diskspd-xml", "sysstat")


@click.command(short_help="Store results that another tool measured.")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option("--as", "form", metavar="FORM", type=click.Choice(READERS), help=f"One of {', '.join(READERS)}. [default: recognised]")
@click.option("-o", "--out", metavar="DIR", default="results", show_default=True, help="Where the run is kept.")
@click.option("--label", metavar="TEXT", help="What reports call the run.")
def command(files: tuple[str, ...], form: str | None, out: str, label: str | None) -> None:
    """Read results of fio (JSON, JSON+, logs), Vdbench (flatfile), Iometer (CSV), ORION (CSV), DiskSpd (XML), iostat -x or sadf, and
    store them as one run, marked with their origin; 'plimsoll report' and 'plimsoll compare' show it like any other.

    \b
    plimsoll import randread.json --label "old array"
    plimsoll import randread_*.log
    plimsoll import output/flatfile.html
    """
    from plimsoll.formats.import_forms import read_results, recognised
    from plimsoll.store.writer import Import, import_points

    texts = {path: _text(path) for path in dict.fromkeys(files)}
    points = read_results(texts, form)
    kind = form or recognised(files[0], texts[files[0]])
    path = import_points(out, Import(["plimsoll", *map(withheld, sys.argv[1:])], kind, list(texts), label), points)
    click.echo(path)
    click.echo(_summary(points), err=True)


def _text(path: str) -> str:
    try:
        with open(path, "rb") as file:
            content = file.read()
    except IsADirectoryError:
        raise InputError(f"{path}: a directory; give the files in it.") from None
    except OSError as problem:
        raise InputError(f"{path}: cannot be read ({str(problem.strerror).lower()}); give a result file.") from None
    encoding = "utf-16" if content.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    try:
        return content.decode(encoding)
    except UnicodeDecodeError:
        raise InputError(f"{path}: not text; give the result as the tool wrote it.") from None


def _summary(points: Sequence[object]) -> str:
    from plimsoll.formats.stored_point import Recorded
    from plimsoll.reports.terminal.footnotes import footnotes
    from plimsoll.reports.terminal.points import points as table

    results = [point.result for point in points if isinstance(point, Recorded)]
    here = screen()
    return f"{table(results, here)}\n\n{footnotes(results, here)}"
