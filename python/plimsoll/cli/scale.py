"""``plimsoll scale``: speed-up with concurrency."""

from __future__ import annotations

from typing import Any

import click

from plimsoll.cli import completions
from plimsoll.cli.experiment import carried_out
from plimsoll.cli.options import EXPERIMENT, LoadCommand, takes


@click.command(cls=LoadCommand, short_help="Measure speed-up with concurrency.")
@click.argument("workloads", metavar="WORKLOAD...", nargs=-1, required=True, shell_complete=completions.workloads)
@takes("over", "objective", "asserts")
@click.option("--iterations", metavar="N", type=click.IntRange(1, 1000), help="Another word for --repeat.")
@takes(*EXPERIMENT)
def command(workloads: tuple[str, ...], **typed: Any) -> int:
    """Measure each WORKLOAD with more and more workers: speed-up, efficiency, and a fit of the Universal Scalability Law.
    Without --over it is threads=1..64.

    \b
    plimsoll scale sequential-read-128k
    plimsoll scale sas-analytics --over workflows=1..16 --target /mnt/saswork
    plimsoll scale oltp-db --over threads=1..64 --iterations 3 --target /dev/nvme0n1 --destroy-data
    """
    return carried_out("scale", workloads, typed)
