"""What ``plimsoll show`` says of a suite: where it comes from, its experiments with the number of points, the published figures.

show_suite("four-corners", (), as_json=False)
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

import click

from plimsoll import catalog
from plimsoll.cli.screen import terminal_width
from plimsoll.displayed import as_document
from plimsoll.errors import InputError
from plimsoll.experiments.document import read_experiments
from plimsoll.experiments.experiment import Experiment, Suite
from plimsoll.experiments.schedule import planned_points
from plimsoll.reports.terminal.screen import folded


def show_suite(name: str, settings: Sequence[str], *, as_json: bool) -> None:
    """Print the suite ``name``, shipped or a file, in its full and quick forms."""
    if settings:
        raise InputError(f"{name} is a suite: --set changes what is measured; give it to 'plimsoll suite {name}'.")
    document = catalog.read(name) if catalog.is_file(name) else catalog.suite_document(name)
    source = name if catalog.is_file(name) else f"{name}.toml"
    full, quick = read_experiments(document, source), read_experiments(document, source, quick=True)
    if as_json:
        experiments = [experiment.to_json() for experiment in full.experiments]
        shown = {key: getattr(full, key) for key in ("title", "purpose", "source", "rationale", "published")}
        quick_experiments = [experiment.to_json() for experiment in quick.experiments]
        click.echo(as_document({**shown, "experiments": experiments, "quick": quick_experiments}, indent=1))
    else:
        click.echo("\n".join(_lines(name, full, quick)))


def _lines(name: str, full: Suite, quick: Suite) -> Iterator[str]:
    from plimsoll.reports.terminal.table import table

    yield from folded(f"{os.path.basename(name).removesuffix('.toml')}: {full.title or name}", terminal_width(), rest="  ")
    for key in ("purpose", "source", "rationale"):
        text = getattr(full, key)
        if text:
            yield ""
            yield from folded(f"{key}: {text}", terminal_width(), rest="  ")
    yield ""
    head = ("experiment", "kind", "workloads", "varies", "points", "quick")
    rows = [(*_row(one), _points(one), _points(short)) for one, short in zip(full.experiments, quick.experiments, strict=True)]
    yield table([head, *rows], left=4, width=terminal_width())
    for figures in full.published:
        yield ""
        yield from folded(f"published: {catalog.published(figures).get('title', figures)}", terminal_width(), rest="  ")


def _row(experiment: Experiment) -> tuple[str, ...]:
    varies = " × ".join(f"{option} ({len(levels)})" for option, levels in experiment.over.items())
    configurations = f"{len(experiment.configurations)} configurations" if len(experiment.configurations) > 1 else ""
    return experiment.name, experiment.kind, " ".join(experiment.workloads), ", ".join(filter(None, (varies, configurations))) or "–"


def _points(experiment: Experiment) -> str:
    """Points per target; unknown where results decide. A tag counts as its workloads."""
    points = planned_points(experiment)
    return "by results" if points is None else str(points // len(experiment.workloads) * _workloads(experiment))


def _workloads(experiment: Experiment) -> int:
    return sum(1 if catalog.is_file(workload) else len(catalog.sources(workload)) for workload in experiment.workloads)
