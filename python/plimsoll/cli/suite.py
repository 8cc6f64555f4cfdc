"""``plimsoll suite``: carry out the experiments of a shipped suite or of a file."""

from __future__ import annotations

from typing import Any

import click

from plimsoll import catalog
from plimsoll.cli import completions
from plimsoll.cli.options import DECISION, EXPERIMENT, LoadCommand, takes, with_settings
from plimsoll.cli.screen import screen


@click.command(cls=LoadCommand, short_help="Run a published test procedure or your own experiment file.")
@click.argument("name", metavar="[NAME|FILE]", required=False, shell_complete=completions.suites)
@click.option("--quick", is_flag=True, help="The short form: smaller areas and times, under three minutes on a scratch file.")
@takes("asserts", *DECISION, *EXPERIMENT)
def command(name: str | None, quick: bool, **typed: Any) -> int | None:
    """Run the experiments of the suite NAME or of a FILE.toml. Without either, list the suites.

    Your options apply to every experiment and override the suite's own. Run the same command again to resume an interrupted run.

    \b
    plimsoll suite
    plimsoll suite proliant-generations --quick
    plimsoll suite vdbench-matrix --target /dev/sdb --target /dev/sdc --destroy-data --label "two arrays"
    plimsoll suite mine.toml --interleave --repeat 3
    plimsoll suite decision-support --target duckdb:/mnt/array/dss --scale 10
    plimsoll suite analytics --target /mnt/saswork --set rows=40M
    """
    if name is None:
        click.echo(_listed())
        return None
    from plimsoll.cli.experiment import carried_out

    return carried_out("suite", (name,), {**with_settings(typed), "quick": quick})


def _listed() -> str:
    """The shipped suites with the time that both forms take on one target."""
    from plimsoll.points.arguments import Arguments
    from plimsoll.points.execution import brief_of
    from plimsoll.points.suites import suite_of
    from plimsoll.reports.terminal.table import table

    rows = [("suite", "title", "takes", "--quick")]
    for known in catalog.suite_names():
        full, quick = (brief_of(suite_of(known, Arguments(), lambda _: None, quick=short)).longest() for short in (False, True))
        rows.append((known, str(catalog.suite_document(known).get("title", "")), full, quick))
    return table(rows, left=2, screen=screen())
