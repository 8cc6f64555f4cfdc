"""``plimsoll suite``: carry out the experiments of a shipped suite or of a file."""

from __future__ import annotations

from typing import Any

import click

from plimsoll import catalog
from plimsoll.cli.options import EXPERIMENT, LoadCommand, takes


@click.command(cls=LoadCommand, short_help="Carry out the experiments of a published procedure or of a file.")
@click.argument("name", metavar="[NAME|FILE]", required=False)
@click.option("--quick", is_flag=True, help="The short form: smaller areas and times, under three minutes on a scratch file.")
@takes("asserts", *EXPERIMENT)
def command(name: str | None, quick: bool, **typed: Any) -> int | None:
    """Carry out the experiments of the suite NAME, or of a FILE.toml; without either, list the suites.

    What is typed holds for every experiment, over what the suite says. The same command again after it was stopped goes on where it was.

    \b
    plimsoll suite
    plimsoll suite proliant-generations --quick
    plimsoll suite vdbench-matrix --target /dev/sdb --target /dev/sdc --destroy-data --label "two arrays"
    plimsoll suite mine.toml --interleave --repeat 3
    """
    if name is None:
        from plimsoll.reports.terminal.points import table

        rows = [("suite", "title"), *((known, str(catalog.suite_document(known).get("title", ""))) for known in catalog.suite_names())]
        click.echo(table(rows, left=2))
        return None
    from plimsoll.cli.experiment import carried_out
    from plimsoll.points.suites import suite_of

    return carried_out(lambda listener: suite_of(name, typed, listener.remark, quick=quick), typed)
