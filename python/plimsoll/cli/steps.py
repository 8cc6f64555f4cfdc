"""``plimsoll steps``: levels of load, one after the other."""

from __future__ import annotations

from typing import Any

import click

from plimsoll.cli.experiment import short_experiment
from plimsoll.cli.options import EXPERIMENT, LoadCommand, takes


@click.command(cls=LoadCommand, short_help="Measure levels of load, one after the other.")
@click.argument("workloads", metavar="WORKLOAD...", nargs=-1, required=True)
@takes("over", "objective", "asserts")
@takes(*EXPERIMENT)
def command(**typed: Any) -> int:
    """Measure each WORKLOAD at a list of levels of one option. With an objective, the highest level that held is the mark.
    Without --over it is queue_depth=1..64, of file workloads threads=1..64.

    \b
    plimsoll steps random-read-4k
    plimsoll steps oltp-db --over threads=1,2,4,8 --objective 'read mean <= 20ms' --target /dev/sdb --destroy-data
    plimsoll steps mine.toml --over log.queue_depth=1..16 --repeat 3 --json
    """
    return short_experiment("steps", typed)
