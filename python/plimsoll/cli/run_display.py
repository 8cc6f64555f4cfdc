"""What ``plimsoll show`` shows of a stored run, or of what one host of it measured: the tables of its end, and what was doubted."""

from __future__ import annotations

import json

import click

from plimsoll.cli.run_summary import tables
from plimsoll.cli.screen import say, screen
from plimsoll.displayed import displayed
from plimsoll.reports.terminal.footnotes import footnotes
from plimsoll.store.host_runs import divided
from plimsoll.store.reader import StoredRun, damage_named


def show_run(run: StoredRun, asked: str, *, as_json: bool) -> None:
    """Print it; JSON is the list of its results."""
    with damage_named(run.points):
        results = [point.result for point in run.points]
    if as_json:
        click.echo(json.dumps([result.to_json() for result in results], ensure_ascii=False, indent=1))
        return
    here = screen()
    counted = f"{len(results):,} point{'' if len(results) == 1 else 's'}"
    # A copy of a host's run was made while that went on, so how it ended stands in its points alone.
    name, status = (asked, "") if divided(asked) else (run.name, f", {run.status}")
    head = f"{displayed(name)}: {counted}{status}"
    say("\n\n".join(text for text in (head, *tables(results, here), footnotes(results, here)) if text))
