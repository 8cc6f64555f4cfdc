"""``plimsoll matrix``: every combination of options."""

from __future__ import annotations

from typing import Any

import click

from plimsoll.cli import completions
from plimsoll.cli.experiment import carried_out
from plimsoll.cli.options import EXPERIMENT, LoadCommand, takes


@click.command(cls=LoadCommand, short_help="Measure every combination of options.")
@click.argument("workloads", metavar="WORKLOAD...", nargs=-1, required=True, shell_complete=completions.workloads)
@takes("over", "objective", "asserts")
@click.option("--shuffle", metavar="SEED", type=click.IntRange(0), help="Take the points in a random order drawn from this seed.")
@click.option(
    "--grid",
    metavar="NAME",
    help="Instead of --over, one of ORION's grids over the streams small and large: basic, detailed, point, row, column, oltp.",
)
@click.option("--disks", metavar="N", type=click.IntRange(1), help="How many disks the grid is for. [default: 1]")
@click.option("--num-small", metavar="N", type=click.IntRange(0), help="Small requests outstanding in a point or column.")
@click.option("--num-large", metavar="N", type=click.IntRange(0), help="Large requests outstanding in a point or row.")
@click.option("--small", metavar="STREAM", help="The stream of the grid's small requests. [default: small]")
@click.option("--large", metavar="STREAM", help="The stream of the grid's large requests. [default: large]")
@takes(*EXPERIMENT)
def command(workloads: tuple[str, ...], **typed: Any) -> int:
    """Measure each WORKLOAD at every combination of the levels of several options; the last one changes fastest.

    \b
    plimsoll matrix random-read-4k --over block_size=4k,8k,64k --over read_percent=0,50,100
    plimsoll matrix random-read-4k --over target=/dev/sdb --over target=/dev/sdc --over queue_depth=1..32 --shuffle 7
    plimsoll matrix mixed.toml --grid detailed --disks 4
    """
    return carried_out("matrix", workloads, typed)
