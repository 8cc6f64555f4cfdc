"""``plimsoll search``: the mark, as surely as the noise allows."""

from __future__ import annotations

from typing import Any

import click

from plimsoll.cli.experiment import short_experiment
from plimsoll.cli.options import ONCE, LoadCommand, takes


@click.command(cls=LoadCommand, short_help="Find the mark as surely as the noise allows.")
@click.argument("workloads", metavar="WORKLOAD...", nargs=-1, required=True)
@takes("over", "objective", "asserts")
@click.option("--resolution", metavar="SHARE|STEP", help="How close the mark is closed in on: 2% of the level, or 1. [default: 2%]")
@click.option("--repeats-max", metavar="N", type=click.IntRange(1), help="How often a level is measured before it is called undecided.")
@takes(*ONCE)
def command(**typed: Any) -> int:
    """Find the highest level of one option at which the objective holds; a level near the limit is measured again until it is settled.
    Without --over it is queue_depth=1..1024, of file workloads threads=1..64.

    \b
    plimsoll search random-read-4k --objective 'p99 <= 5ms'
    plimsoll search open.toml --over rate=500..50k --objective 'p99 <= 5ms and achieved >= 97%' --resolution 1%
    """
    return short_experiment("search", typed)
