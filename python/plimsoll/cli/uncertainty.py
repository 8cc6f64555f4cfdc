"""Draws for commands that show stored runs: made where modelled figures have none yet, with what was left said on stderr.

draw(open_runs(["latest"]), Plan(budget_s=30))
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from plimsoll.engine import block as block_engine
from plimsoll.errors import StoreError

if TYPE_CHECKING:
    from plimsoll.store.reader import StoredRun
    from plimsoll.uncertainty.figures import Plan


def draw(runs: Sequence[StoredRun], plan: Plan | None) -> None:
    """Give figures of modelled arrays their intervals."""
    if plan is None or not plan.draws or not any(point.result.modelled for run in runs for point in run.points):
        return
    from plimsoll.points.uncertainty import drawn_for

    try:
        left = drawn_for(runs, plan, block_engine.native())
    except StoreError as problem:
        # What cannot be kept is not worth drawing; the runs can be shown all the same.
        left = [f"Intervals were not drawn: {problem}"]
    for sentence in left:
        click.echo(f"plimsoll: {sentence}", err=True)
