"""``plimsoll run``: measure targets under workloads as they stand, store every point, show the totals.

Model: an experiment of kind single, typed; a job file or command line of another tool is a file of experiments. The first request shall
leave soon after the command was typed, so what draws and judges results is imported once there are some, and what reads other tools'
files, objectives and formats of reports when one was typed.
"""

from __future__ import annotations

from typing import Any

import click

from plimsoll.cli import completions
from plimsoll.cli.experiment import carried_out
from plimsoll.cli.options import DECISION, EXPERIMENT, LoadCommand, takes, with_settings
from plimsoll.cli.tool_words import with_tool_set_apart


class RunCommand(LoadCommand):
    """Leaves every word behind the name of another tool to that tool's command line."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, with_tool_set_apart(self.params, args))


@click.command(cls=RunCommand, short_help="Measure a target under workloads, at one load or at several levels.")
@click.argument("workloads", metavar="WORKLOAD...", nargs=-1, required=True, shell_complete=completions.workloads)
@takes("over", "objective", "asserts")
@click.option("--steps", is_flag=True, hidden=True, help="Without --over: at the usual levels, queue_depth=1..64.")
@takes(*DECISION)
@takes(*EXPERIMENT)
def command(workloads: tuple[str, ...], **typed: Any) -> int:
    """Measure TARGET under each WORKLOAD: a shipped name, a tag such as proliant, a .toml file, or a job file of another tool.
    Or the command line of fio, Vdbench, ORION or DiskSpd: options of plimsoll's stand before the tool's name, the tool's behind it.

    With --over each WORKLOAD is measured at several levels: the load line, and with an objective its mark. Several --over, or levels that
    are no numbers, give every combination.

    Run the same command again to resume an interrupted run.

    \b
    plimsoll run proliant
    plimsoll run oltp-db --over queue_depth=1..64 --objective 'p99 <= 5ms'
    plimsoll run oltp-db --target /dev/nvme0n1 --destroy-data --set queue_depth=32
    plimsoll run mine.toml --target file:/data/test --size 16GiB --json
    plimsoll run random-read-4k --precision 2% --objective 'p99 <= 5ms' --assert
    plimsoll run job.fio --target /mnt/disk/scratch
    plimsoll run --label old fio --name=x --rw=randread --bs=8k --filename=/mnt/disk/x --size=1g
    """
    return carried_out("run", workloads, with_settings(typed))
