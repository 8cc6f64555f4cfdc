"""Reports and comparisons of stored runs as pages, as the commands write them into files.

page(report_page([open_run("latest")]))
"""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.points.prices import prices_of_runs
from plimsoll.reports.html import model
from plimsoll.reports.view.report import Report
from plimsoll.store.reader import StoredRun, damage_named
from plimsoll.verbs.comparison import Comparison, ComparisonArguments


def report_page(runs: Sequence[StoredRun]) -> Report:
    """The view model of ``plimsoll report RUN...``."""
    with damage_named(point for run in runs for point in run.points):
        return model(runs, prices=prices_of_runs(runs, ()))


def compared_page(runs: Sequence[StoredRun], varying: Sequence[str]) -> Report:
    """The view model of ``plimsoll compare RUN... --varying WHAT``; raises `InputError` for what cannot be compared."""
    with damage_named(point for run in runs for point in run.points):
        found = Comparison(runs, ComparisonArguments(varying), ())
        return model(runs, comparison=found.compared, prices=found.prices)
