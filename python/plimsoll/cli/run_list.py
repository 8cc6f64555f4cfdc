"""``plimsoll list --runs``: the stored runs, whatever became of them.

list_stored("results", as_json=False)
"""

from __future__ import annotations

import shlex
from typing import Any

import click

from plimsoll.cli.screen import screen
from plimsoll.displayed import as_document, displayed_in_line, quoted
from plimsoll.errors import StoreError
from plimsoll.store.listed import Listed
from plimsoll.store.reader import DamagedRun, StoredPoint, StoredRun, begun, entry_names, read_run

#: From this width on commands have a column of their own; names of targets in them are long, and not split.
_BESIDE = 140
#: The status of a run or point that is damaged.
UNREADABLE = "unreadable"
#: Of runs that end with these nothing changes any more.
_ENDED = ("complete", "interrupted", "failed")


def list_stored(out: str, *, as_json: bool) -> None:
    """Print the runs in ``out``, also those that are going on or were cut short."""
    entries = _entries(out)
    if as_json:
        click.echo(as_document(entries))
        return
    if not entries:
        click.echo(f"there is no run in {quoted(out)} yet; make one with 'plimsoll run'", err=True)
        return
    from plimsoll.reports.terminal.table import table

    here = screen()
    beside = here.width is None or here.width >= _BESIDE
    rows: list[tuple[str, ...]] = [("run", "status", "points", "label", *(("command",) if beside else ()))]
    for entry in entries:
        # Nobody knows how many points a search will take.
        points = str(entry["complete"]) if entry["planned"] is None else f"{entry['complete']}/{entry['planned']}"
        command = shlex.join(entry["command"])
        rows.append((entry["name"], entry["status"], points, entry["label"] or "", *((command,) if beside else ())))
        if not beside and command:
            rows.append((f"  {command}",))
    click.echo(table(rows, left=len(rows[0]), screen=here))
    problems = [problem for entry in entries for problem in entry["problems"]]
    for problem in problems:
        click.echo(f"! {displayed_in_line(problem)}", err=True)
    if problems:
        click.echo("  What is damaged is left out of no other run. Move its directory away, and the rest can be used.", err=True)


def _entries(out: str) -> list[dict[str, Any]]:
    """The lines in the order in which their runs began; of a run that was read before and is as it was then, what was found."""
    listed = Listed(out)
    found = []
    for name in entry_names(out):
        state = listed.state(name)
        line = listed.line(name, state)
        if line is None:
            run = read_run(out, name)
            if run is None:
                continue
            line = {"begun": list(begun(run)), "entry": _entry(run)}
            if line["entry"]["status"] in _ENDED and not line["entry"]["problems"]:
                listed.keep(name, state, line)
        found.append(line)
    listed.save()
    return [line["entry"] for line in sorted(found, key=lambda line: line["begun"])]


def _entry(run: StoredRun | DamagedRun) -> dict[str, Any]:
    """One line of the list; what is damaged in the run stands under ``problems``."""
    try:
        return _read(run) if isinstance(run, StoredRun) else _unreadable(run.name, run.problem)
    except StoreError as problem:
        return _unreadable(run.name, problem)


def _read(run: StoredRun) -> dict[str, Any]:
    problems: list[str] = []
    statuses = [_status(point, problems) for point in run.points]
    return {
        "name": run.name,
        "status": run.status,
        "complete": statuses.count("complete"),
        "planned": run.meta.get("points_planned", len(statuses)),
        "points": statuses,
        "label": run.meta.get("label"),
        "command": run.meta.get("command", []),
        "created": run.meta.get("created"),
        "problems": problems,
    }


def _unreadable(name: str, problem: StoreError) -> dict[str, Any]:
    return {
        "name": name,
        "status": UNREADABLE,
        "complete": 0,
        "planned": 0,
        "points": [],
        "label": None,
        "command": [],
        "created": None,
        "problems": [str(problem)],
    }


def _status(point: StoredPoint, problems: list[str]) -> str:
    try:
        return str(point.read().status)
    except StoreError as problem:
        problems.append(str(problem))
        return UNREADABLE
