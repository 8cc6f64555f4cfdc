"""The sides of one run: its configurations, each with its results and what it set.

Model: a side is what points were measured on (`plimsoll.result.Result.side`), called as `plimsoll.analysis.comparison.names` says. What
the experiments set for a configuration may differ between sides, because that is what they compare.

    sides_of(results, run.meta["experiments"], run="results/r1")
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from plimsoll.analysis.comparison.comparison import Comparison
from plimsoll.analysis.comparison.names import names_of
from plimsoll.analysis.comparison.pairs import compare_pairs
from plimsoll.analysis.comparison.sides import Side
from plimsoll.analysis.objective.judgement import Objective, parse_objective
from plimsoll.errors import InputError
from plimsoll.result import Result
from plimsoll.stored import Experiment


def sides_of(results: Iterable[Result], experiments: Sequence[Experiment], run: str) -> list[Side]:
    """One for each configuration, in the order measured."""
    settings = {item["name"]: item.get("set") or {} for definition in experiments for item in definition.get("configurations") or []}
    groups: dict[str, list[Result]] = {}
    for result in results:
        groups.setdefault(result.side, []).append(result)
    names = names_of(result for own in groups.values() for result in own)
    return [Side(names[side], own, run=run, settings=settings.get(side, {})) for side, own in groups.items()]


def objectives_of(experiments: Iterable[Experiment]) -> dict[str, Objective]:
    """The objective of each experiment by its name; what this version cannot read is left out."""
    found: dict[str, Objective] = {}
    for definition in experiments:
        try:
            if text := definition.get("objective"):
                found.setdefault(definition["name"], parse_objective(text))
        except InputError:
            continue
    return found


def comparison_of(results: Sequence[Result], experiments: Sequence[Experiment], *, adaptive: Collection[str]) -> Comparison | None:
    """The configurations of one run, each with the first; None where there is only one, or nothing that may be compared."""
    sides = sides_of(results, experiments, run="this run")
    if len(sides) < 2 or not any(result.place for result in results):
        return None
    return compare_pairs(sides, objectives=objectives_of(experiments), adaptive=adaptive).comparison
