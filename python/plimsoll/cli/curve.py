"""``plimsoll curve``: the load line at percentages of the maximum."""

from __future__ import annotations

from typing import Any

import click

from plimsoll.cli import completions
from plimsoll.cli.experiment import carried_out
from plimsoll.cli.options import EXPERIMENT, LoadCommand, takes


@click.command(cls=LoadCommand, short_help="Measure the load line at percentages of the maximum.")
@click.argument("workloads", metavar="WORKLOAD...", nargs=-1, required=True, shell_complete=completions.workloads)
@takes("objective", "asserts")
@click.option("--percent", metavar="LEVELS", help="Percentages of the maximum. [default: 10,50,70,80,90,100]")
@click.option("--rounding", metavar="RULE", help="none, or vdbench: rates up to the next 10, above 1000 to the next 100. [default: none]")
@click.option("--arrival", metavar="KIND", help="poisson or constant. [default: poisson]")
@click.option(
    "--outstanding", metavar="RULE", help="raised, or kept: never more requests outstanding than at the maximum. [default: raised]"
)
@click.option("--maximum", metavar="RATE", help="The rate that counts as 100 %, e.g. 20k, instead of looking for it.")
@takes(*EXPERIMENT)
def command(workloads: tuple[str, ...], **typed: Any) -> int:
    """Find the maximum of each WORKLOAD unchanged (closed loop), then measure open loop at percentages of it: the load line.

    \b
    plimsoll curve random-read-4k --set queue_depth=32
    plimsoll curve oltp-db --percent 10,50,80,90,95,100 --rounding vdbench --objective 'p99 <= 5ms'
    plimsoll curve oltp-db --maximum 20k --arrival constant
    """
    return carried_out("curve", workloads, typed)
