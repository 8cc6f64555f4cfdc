"""``plimsoll report``: make a report of stored runs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import click

from plimsoll.errors import InputError
from plimsoll.store.overwriting import REPLACED, check_replaceable
from plimsoll.store.reader import StoredRun, damage_named, open_run

FORMATS = (".html", ".csv", ".json")


@click.command(short_help="Make a report of stored runs: HTML, CSV or JSON.")
@click.argument("runs", metavar="RUN...", nargs=-1, required=True)
@click.option("-o", "--output", metavar="FILE", help=f"FILE.html, FILE.csv or FILE.json. {REPLACED} [default: RUN/report.html]")
@click.option("--out", metavar="DIR", default="results", show_default=True, help="Where runs called by name are kept.")
def command(runs: tuple[str, ...], output: str | None, out: str) -> None:
    """Make one report of each RUN, a directory or the name of one; several are compared side by side."""
    click.echo(write_report([open_run(run, out) for run in runs], output))


def checked_format(path: str) -> str:
    """The ending of a report's file, which says its format; refuses a file that cannot become a report, or is none."""
    ending = os.path.splitext(path)[1].lower()
    if ending not in FORMATS:
        raise InputError(f"{path}: reports end in .html, .csv or .json; give one of these.")
    folder = os.path.dirname(path) or "."
    if not os.path.isdir(folder):
        raise InputError(f"{path}: there is no directory {folder!r}; make it first.")
    check_replaceable(path, _kinds(ending))
    return ending


def _kinds(ending: str) -> tuple[bytes, ...]:
    """How reports and comparisons with this ending begin."""
    if ending == ".html":
        from plimsoll.reports.html import BEGINNING

        return (BEGINNING.encode(),)
    if ending == ".csv":
        from plimsoll.reports.csv import COLUMNS, COMPARISON_COLUMNS

        return tuple(",".join(columns).encode() for columns in (COLUMNS, COMPARISON_COLUMNS))
    return (b'{\n "schema": "plimsoll.',)


def write_report(runs: Sequence[StoredRun], output: str | None) -> str:
    """Write the report of ``runs`` in the format that the file's ending says; gives the file's path."""
    path = output or os.path.join(runs[0].path, "report.html")
    ending = checked_format(path) if output else ".html"
    with damage_named(point for run in runs for point in run.points):
        _write(runs, path, ending)
    return path


def _write(runs: Sequence[StoredRun], path: str, ending: str) -> None:
    if ending == ".html":
        from plimsoll.reports import html

        html.write(runs, Path(path))
    elif ending == ".csv":
        from plimsoll.reports import csv

        csv.write(runs, path)
    else:
        from plimsoll.reports import json

        json.write(runs, path)
