"""``plimsoll forget``: stored runs are removed, after a question."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from plimsoll.cli import completions
from plimsoll.displayed import displayed
from plimsoll.errors import InputError

if TYPE_CHECKING:
    from plimsoll.store.removal import Removal


@click.command(short_help="Remove stored runs.")
@click.argument("runs", metavar="RUN...", nargs=-1, required=True, shell_complete=completions.runs)
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@click.option("-o", "--out", metavar="DIR", default="results", show_default=True, help="Where the runs are kept.")
def command(runs: tuple[str, ...], yes: bool, out: str) -> None:
    """Remove each RUN with its points and its report: a name, the beginning of one, a label, latest or latest~1.

    Only runs in DIR are removed, and none that is being measured or holds something that Plimsoll did not write.

    \b
    plimsoll forget latest
    plimsoll forget 2026-11-21T03 "cache off" --yes
    """
    from plimsoll.store.reader import open_run
    from plimsoll.store.removal import Removal, finish_removals

    finish_removals(out)
    found = [Removal.of(open_run(run, out), out) for run in runs]
    removals = list({removal.run.name: removal for removal in found}.values())
    for removal in removals:
        click.echo(_line(removal), err=True)
    if not yes and not _agreed(removals):
        click.echo("nothing was removed", err=True)
        return
    for removal in removals:
        removal.carry_out()
    click.echo(f"removed {_runs(removals)}", err=True)


def _line(removal: Removal) -> str:
    from plimsoll.units import binary

    run = removal.run
    label = f" ({displayed(str(run.meta['label']))})" if run.meta.get("label") else ""
    points = "1 point" if len(run.points) == 1 else f"{len(run.points)} points"
    return f"  {displayed(run.name)}{label}: {run.status}, {points}, {binary(removal.size_bytes)}"


def _agreed(removals: Sequence[Removal]) -> bool:
    if not sys.stdin.isatty():
        raise InputError("nobody can be asked here, so nothing was removed; add --yes to remove without a question.")
    return click.confirm(f"Remove {_runs(removals)}? What is removed cannot be brought back.", err=True)


def _runs(removals: Sequence[Removal]) -> str:
    return "1 run" if len(removals) == 1 else f"{len(removals)} runs"
