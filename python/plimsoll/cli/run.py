"""``plimsoll run``: measure targets under workloads, store every point, show the totals.

Model: the first request shall leave soon after the command was typed, so what draws and judges results is imported once there are some, and
what reads other tools' files, objectives and formats of reports when one was typed.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import click

from plimsoll import engine as engines
from plimsoll.cli.conduct.conducting import conduct, in_order
from plimsoll.cli.conduct.permission import check_permitted, permission
from plimsoll.cli.conduct.planning import PlannedPoint, Typed, planned
from plimsoll.cli.conduct.setup import Setup
from plimsoll.cli.conduct.verifying import check_journalled
from plimsoll.cli.conduct.without_effect import check_effect
from plimsoll.cli.experiment.foreign import is_command, is_foreign, with_tool_set_apart
from plimsoll.cli.experiment.options import LoadCommand, takes
from plimsoll.cli.progressing import progress
from plimsoll.errors import EXIT_OBJECTIVE_FAILED, InputError
from plimsoll.host.machine import host_facts, versions
from plimsoll.store.writer import RunInfo, RunWriter

if TYPE_CHECKING:
    from plimsoll.analysis.objective import Objective
    from plimsoll.cli.conduct.outcome import Outcome


class RunCommand(LoadCommand):
    """Leaves every word behind the name of another tool to that tool's command line."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, with_tool_set_apart(self.params, args))


@click.command(cls=RunCommand, short_help="Measure a target under one or more workloads.")
@click.argument("workloads", metavar="WORKLOAD...", nargs=-1, required=True)
@takes("targets", "settings", "duration", "warmup", "size", "repeat", "cache", "precision", "objective", "asserts")
@takes("out", "label", "report_path", "keep", "destroy_data", "quiet", "as_json")
def command(**typed: Any) -> int:
    """Measure TARGET under each WORKLOAD: a shipped name, a tag such as proliant, a .toml file, or a job file of another tool.
    Or the command line of fio, Vdbench, ORION or DiskSpd: options of plimsoll's stand before the tool's name, the tool's behind it.

    \b
    plimsoll run proliant
    plimsoll run oltp-db --target /dev/nvme0n1 --destroy-data --set queue_depth=32
    plimsoll run mine.toml --target file:/data/test --size 16GiB --json
    plimsoll run random-read-4k --precision 2% --objective 'p99 <= 5ms' --assert
    plimsoll run job.fio --target /mnt/disk/scratch
    plimsoll run --label old fio --name=x --rw=randread --bs=8k --filename=/mnt/disk/x --size=1g
    """
    if is_command(typed["workloads"]):
        return _run_command(typed["workloads"], typed)
    foreign = [name for name in typed["workloads"] if is_foreign(name)]
    if foreign:
        return _run_foreign(foreign[0], typed)
    engine = engines.native()
    options = tuple((key, typed[key]) for key in ("duration", "warmup", "size") if typed[key] is not None)
    request = Typed(typed["workloads"], typed["targets"], typed["settings"], options, typed["repeat"], typed["cache"], typed["precision"])
    points = planned(request, engine)
    check_effect(typed, (point.target for point in points), [point.workload for point in points])
    check_journalled([point.workload for point in points])
    objective = _checked(points, typed)
    check_permitted(((point.workload, point.target) for point in points), engine, typed["destroy_data"])
    host = host_facts()
    info = RunInfo(
        name=_run_name(request.workloads),
        command=["plimsoll", *sys.argv[1:]],
        points_planned=len(points),
        host=host,
        versions=versions(),
        label=typed["label"],
    )
    run = RunWriter.create(typed["out"], info)
    setup = Setup(engine, run, progress(quiet=typed["quiet"]), host, permission(typed["destroy_data"]), typed["keep"], total=len(points))
    return _shown(conduct(in_order(points), setup), run.path, typed, objective)


def _checked(points: list[PlannedPoint], typed: dict[str, Any]) -> Objective | None:
    """The objective, if one was typed; it, the precision and the name of the report are right afterwards."""
    objective = None
    if typed["precision"] is not None or typed["objective"] is not None or typed["asserts"]:
        from plimsoll.cli.conduct.judging import check_precision, checked_objective

        forms = [[point.workload] for point in points]
        check_precision(typed["precision"], forms)
        objective = checked_objective(typed["objective"], forms, asserts=typed["asserts"])
    if typed["report_path"] is not None:
        from plimsoll.cli.report import checked_format

        checked_format(typed["report_path"])
    return objective


def _shown(outcome: Outcome, path: str, typed: dict[str, Any], objective: Objective | None) -> int:
    """Show what became of the run at ``path``; the exit code."""
    from plimsoll.cli.conduct.judging import every_point_holds, not_known
    from plimsoll.cli.showing import Shown, show

    show(outcome, path, Shown(as_json=typed["as_json"], report_path=typed["report_path"], objective=objective))
    if typed["asserts"] and objective is not None and not outcome.exit_code and not every_point_holds(outcome.results, objective):
        if (sentence := not_known(outcome.results, objective)) is not None:
            click.echo(f"plimsoll: {sentence}", err=True)
        return EXIT_OBJECTIVE_FAILED
    return outcome.exit_code


def _run_foreign(name: str, typed: dict[str, Any]) -> int:
    """The job file of another tool is a file of experiments, and carried out like one."""
    if len(typed["workloads"]) > 1:
        raise InputError(f"{name} is a job file of another tool and runs alone; give the other workloads to a run of their own.")
    from plimsoll.cli.experiment.suiting import suite_of

    asked = _asked(name, typed)
    return suite_of(name, asked).carry_out(asked)


def _run_command(words: tuple[str, ...], typed: dict[str, Any]) -> int:
    """So is the command line of another tool."""
    from plimsoll.cli.experiment.suiting import command_suite

    asked = _asked(f"the {words[0]} command line", typed)
    return command_suite(words, asked).carry_out(asked)


def _asked(name: str, typed: dict[str, Any]) -> dict[str, Any]:
    if typed["objective"] is not None:
        raise InputError(f"--objective has no effect on {name}, which says itself what has to hold; leave it out.")
    return {**typed, "fresh": False, "interleave": False, "repeat": None if typed["repeat"] == 1 else typed["repeat"]}


def _run_name(workloads: tuple[str, ...]) -> str:
    first = os.path.basename(workloads[0]).removesuffix(".toml")
    return first if len(workloads) == 1 else f"{first}-and-more"
