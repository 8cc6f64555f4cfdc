"""``plimsoll steady``: rounds until the storage is in its steady state."""

from __future__ import annotations

from typing import Any

import click

from plimsoll.cli import completions
from plimsoll.cli.experiment import carried_out
from plimsoll.cli.options import ONCE, LoadCommand, takes


@click.command(cls=LoadCommand, short_help="Measure in rounds until the storage reaches steady state.")
@click.argument("workloads", metavar="WORKLOAD...", nargs=-1, required=True, shell_complete=completions.workloads)
@takes("objective", "asserts")
@click.option(
    "--metric", metavar="METRIC", shell_complete=completions.metrics, help="What has to be steady, e.g. 'write iops'. [default: iops]"
)
@click.option("--window", metavar="N", type=click.IntRange(2), help="How many rounds must be steady. [default: 5]")
@click.option("--rounds-max", metavar="N", type=click.IntRange(2), help="Give up after this many rounds. [default: 25]")
@click.option("--precondition", is_flag=True, help="Write twice the capacity sequentially first.")
@takes(*ONCE)
def command(workloads: tuple[str, ...], **typed: Any) -> int:
    """Measure each WORKLOAD round by round until the last rounds are steady (SNIA: within 20 % of their mean, slope within 10 %).

    \b
    plimsoll steady random-write-4k --duration 60s --target /dev/nvme0n1 --destroy-data --precondition
    plimsoll steady random-write-4k --metric 'write p99' --rounds-max 10 --size 8GiB
    """
    return carried_out("steady", workloads, typed)
