"""``plimsoll ramp``: the load is raised until the objective fails."""

from __future__ import annotations

from typing import Any

import click

from plimsoll.cli import completions
from plimsoll.cli.experiment import carried_out
from plimsoll.cli.options import ONCE, LoadCommand, takes
from plimsoll.errors import InputError


@click.command(cls=LoadCommand, short_help="Raise the load until the objective fails, and find the mark.")
@click.argument("workloads", metavar="WORKLOAD...", nargs=-1, required=True, shell_complete=completions.workloads)
@takes("over", "objective", "asserts")
@click.option("--resolution", metavar="SHARE|STEP", help="How close the mark is closed in on: 2% of the level, or 1. [default: 2%]")
@click.option("--settle", is_flag=True, help="Measure a level near the limit again until its 95 % interval settles it.")
@click.option(
    "--repeats-max", metavar="N", type=click.IntRange(1), help="With --settle: how often a level is measured at most. [default: 5]"
)
@click.option("--growth", metavar="FACTOR", help="How the load is raised: 2x, or +4. [default: 2x]")
@takes(*ONCE)
def command(workloads: tuple[str, ...], settle: bool, growth: str | None, repeats_max: int | None, **typed: Any) -> int:
    """Raise one option until the objective fails, then close in on the highest load that held: the mark.
    Without --over it is queue_depth=1..1024, or what raises the load of an application: threads, terminals, streams, users, workflows.

    \b
    plimsoll ramp oltp-db --over threads=1..256 --objective 'read mean <= 20ms and write mean <= 20ms'
    plimsoll ramp random-read-4k --objective 'p99 <= 5ms' --resolution 1 --json
    plimsoll ramp open.toml --over rate=500..50k --objective 'p99 <= 5ms and achieved >= 97%' --settle
    plimsoll ramp oltp-db --objective 'p99 <= 5ms' --assert -t /dev/sdb --destroy-data
    """
    if settle:
        if growth is not None:
            raise InputError("--growth: with --settle the load doubles; leave one of both out.")
        return carried_out("search", workloads, {**typed, "repeats_max": repeats_max})
    if repeats_max is not None:
        raise InputError("--repeats-max is how often --settle measures a level; add --settle, or leave it out.")
    return carried_out("ramp", workloads, {**typed, "growth": growth})
