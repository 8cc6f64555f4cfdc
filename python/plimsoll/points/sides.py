"""The sides of a comparison: every configuration of every run named, under labels that tell them apart.

Model: points of experiments belong to the configuration that their place names, other points to their target. A side is called like its run
where each run has one configuration, like the configuration where there is one run, and like both otherwise.

    sides([open_run("before"), open_run("after")])[0].label
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from plimsoll.analysis.comparison.of_run import sides_of
from plimsoll.analysis.comparison.sides import Side
from plimsoll.analysis.objective.judgement import Objective, parse_objective
from plimsoll.displayed import quoted
from plimsoll.errors import InputError
from plimsoll.store.reader import StoredRun


def sides(runs: Sequence[StoredRun], baseline: str | None = None) -> list[Side]:
    """The sides in the order of runs and configurations, ``baseline`` first; raises `InputError` when there are not two."""
    named = every_side(runs)
    if not named:
        raise InputError("nothing was measured in what is to be compared; measure something first.")
    if len(named) < 2:
        raise InputError(f"{named[0].label} is all there is to compare; name a second run, or one that has several configurations.")
    if baseline is None:
        return named
    first = [side for side in named if baseline in (side.label, *{result.side for result in side.results})][:1]
    if not first:
        raise InputError(f"--baseline {baseline}: no side is called that; there are {', '.join(quoted(side.label) for side in named)}.")
    return [*first, *(side for side in named if side is not first[0])]


def every_side(runs: Sequence[StoredRun]) -> list[Side]:
    """The sides in the order of runs and configurations, however many there are."""
    found = [side for run, label in zip(runs, _labels(runs), strict=True) for side in _sides_of(run, label)]
    single_run, single_each = len(runs) == 1, len(found) == len(runs)
    return [_named(side, single_run=single_run, single_each=single_each) for side in found]


def objectives(runs: Sequence[StoredRun], typed: str | None) -> Mapping[str, Objective]:
    """The objective of each experiment by name: the one typed for all, else its own."""
    definitions = [definition for run in runs for definition in run.meta.get("experiments") or []]
    if typed is not None:
        objective = parse_objective(typed)
        return {"": objective, **{definition["name"]: objective for definition in definitions}}
    found: dict[str, Objective] = {}
    for definition in definitions:
        if text := definition.get("objective"):
            found.setdefault(definition["name"], parse_objective(text))
    return found


def _sides_of(run: StoredRun, label: str) -> list[tuple[str, Side]]:
    """Each configuration of one run, with the run's label."""
    results = (point.result for point in run.points)
    return [(label, side) for side in sides_of(results, run.meta.get("experiments") or [], run.path)]


def _named(labelled: tuple[str, Side], *, single_run: bool, single_each: bool) -> Side:
    label, side = labelled
    name = side.label if single_run else label if single_each else f"{label}: {side.label}"
    return Side(name, side.results, run=side.run, settings=side.settings)


def _labels(runs: Sequence[StoredRun]) -> list[str]:
    """Each run's own label; its name as well where two are labelled alike."""
    labels = [run.label for run in runs]
    return [f"{run.label} ({run.name})" if labels.count(run.label) > 1 else run.label for run in runs]
