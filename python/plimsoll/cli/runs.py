"""``plimsoll runs``: the stored runs, whatever became of them."""

from __future__ import annotations

import json
import shlex
from typing import Any

import click

from plimsoll.errors import PlimsollError
from plimsoll.store.reader import StoredRun, list_runs


@click.command(short_help="List the stored runs.")
@click.option("-o", "--out", metavar="DIR", default="results", show_default=True, help="Where runs are kept.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(out: str, as_json: bool) -> None:
    """List the runs in DIR, also those that are going on or were cut short."""
    entries = [_entry(run) for run in list_runs(out)]
    if as_json:
        click.echo(json.dumps(entries, ensure_ascii=False))
        return
    if not entries:
        click.echo(f"there is no run in {out!r} yet; make one with 'plimsoll run'", err=True)
        return
    from plimsoll.reports.terminal import table

    rows = [("run", "status", "points", "label", "command")]
    for entry in entries:
        # Nobody knows how many points a search will take.
        points = str(entry["complete"]) if entry["planned"] is None else f"{entry['complete']}/{entry['planned']}"
        rows.append((entry["name"], entry["status"], points, entry["label"] or "", shlex.join(entry["command"])))
    click.echo(table(rows, left=5))


def _entry(run: StoredRun | PlimsollError) -> dict[str, Any]:
    if isinstance(run, PlimsollError):
        return {"name": str(run), "status": "unreadable", "complete": 0, "planned": 0, "label": None, "command": []}
    statuses = [_status(point) for point in run.points]
    return {
        "name": run.name,
        "status": run.status,
        "complete": statuses.count("complete"),
        "planned": run.meta.get("points_planned", len(statuses)),
        "points": statuses,
        "label": run.meta.get("label"),
        "command": run.meta.get("command", []),
        "created": run.meta.get("created"),
    }


def _status(point: Any) -> str:
    try:
        return str(point.result.status)
    except PlimsollError:
        return "unreadable"
