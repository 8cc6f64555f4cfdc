"""``plimsoll ramp``: the load is raised until the objective fails."""

from __future__ import annotations

from typing import Any

import click

from plimsoll.cli.experiment import short_experiment
from plimsoll.cli.options import ONCE, LoadCommand, takes


@click.command(cls=LoadCommand, short_help="Raise the load until the objective fails, and find the mark.")
@click.argument("workloads", metavar="WORKLOAD...", nargs=-1, required=True)
@takes("over", "objective", "asserts")
@click.option("--resolution", metavar="SHARE|STEP", help="How close the mark is closed in on: 2% of the level, or 1. [default: 2%]")
@click.option("--growth", metavar="FACTOR", help="How the load is raised: 2x, or +4. [default: 2x]")
@takes(*ONCE)
def command(**typed: Any) -> int:
    """Raise one option until the objective fails, then close in on the highest load that held: the mark.
    Without --over it is queue_depth=1..1024, of file workloads threads=1..64.

    \b
    plimsoll ramp oltp-db --over threads=1..256 --objective 'read mean <= 20ms and write mean <= 20ms'
    plimsoll ramp random-read-4k --objective 'p99 <= 5ms' --resolution 1 --json
    plimsoll ramp oltp-db --objective 'p99 <= 5ms' --assert -t /dev/sdb --destroy-data
    """
    return short_experiment("ramp", typed)
