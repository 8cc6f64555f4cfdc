"""Every combination of options, or one of ORION's grids."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import prod

from plimsoll.experiments import forms
from plimsoll.experiments.experiment import Experiment
from plimsoll.experiments.forms import whole, words
from plimsoll.experiments.kind import Kind, Settings, Source
from plimsoll.experiments.option import OBJECTIVE, OVER, PRECISION, REPEAT, Option, meanings
from plimsoll.experiments.plan import Plan, Subject
from plimsoll.stored import Json

_GRIDS = {
    "basic": "small requests alone, then large ones alone (7 × disks points)",
    "detailed": "every combination of 0 to 5 small and 0 to 2 large requests per disk",
    "point": "`num_small` with `num_large`",
    "row": "every number of small requests with `num_large`",
    "column": "every number of large requests with `num_small`",
    "oltp": "small requests alone, up to 20 per disk",
}
_OPTIONS_OF_GRID = (
    Option("disks", whole(1, 10_000), "How many disks the grid is for.", 4, default=1),
    Option("num_small", whole(0, 1_000_000), "Small requests outstanding in a `point` or `column`.", 8, absent="none"),
    Option("num_large", whole(0, 1_000_000), "Large requests outstanding in a `point` or `row`.", 2, absent="none"),
    Option("small", forms.TEXT, "The stream of small requests of a grid.", "index", default="small"),
    Option("large", forms.TEXT, "The stream of large requests of a grid.", "scan", default="large"),
)


def _build(experiment: Experiment, _: Subject) -> Plan:
    parameters = experiment.parameters
    if parameters["grid"] is not None:
        from plimsoll.experiments.orion import orion

        return orion(_grid(experiment), parameters["small"], parameters["large"], experiment.repeat)
    from plimsoll.experiments.sweep import matrix

    return matrix(experiment.over, experiment.repeat, parameters["shuffle"])


def _grid(experiment: Experiment) -> list[tuple[int, int]]:
    from plimsoll.experiments.orion import grid

    parameters = experiment.parameters
    return grid(parameters["grid"], parameters["disks"], parameters["num_small"], parameters["num_large"])


def _cells(experiment: Experiment) -> Iterator[Settings]:
    parameters = experiment.parameters
    if parameters["grid"] is not None:
        small, large = f"{parameters['small']}.queue_depth", f"{parameters['large']}.queue_depth"
        yield from ({small: few, large: many} for few, many in _grid(experiment) if few or many)
    else:
        yield from (dict(zip(experiment.over, levels, strict=True)) for levels in product(*experiment.over.values()))


def _points(experiment: Experiment) -> int:
    if experiment.parameters["grid"] is not None:
        return sum(1 for cell in _grid(experiment) if any(cell)) * experiment.repeat
    return prod(len(levels) for levels in experiment.over.values()) * experiment.repeat


def _check(entry: Json, _: Json, source: Source) -> None:
    if ("over" in entry) == ("grid" in entry):
        over, grid = source.name("over"), source.name("grid")
        problem = f"both {over} and {grid} say what is varied" if "grid" in entry else "nothing says what is varied"
        example = source.example("over", MATRIX.example_of("over"))
        raise source.wrong(f"{problem}; write one of {over} and {grid}, for example {example}.")
    for key in ("shuffle",) if "grid" in entry else [option.name for option in _OPTIONS_OF_GRID]:
        if key in entry:
            how = "with" if "grid" in entry else "without"
            raise source.wrong(f"{source.key(key)} has no effect {how} {source.name('grid')}; leave it out.")


MATRIX = Kind(
    "matrix",
    "matrix",
    "Measure every combination of options.",
    "The product of all axes, nested as written: the last one changes fastest. `shuffle` draws the order anew for every repeat. "
    "Instead of `over`, `grid` names one of ORION's grids of small and large outstanding requests; the workload then has a stream for "
    "each (`small`, `large`), and the point where both are 0 is left out.",
    "several",
    'name = "sizes and areas"\nkind = "matrix"\nworkloads = ["random-read-4k"]\n'
    'over = { region_length = ["1GiB", "4GiB"], block_size = "4k,8k,64k", read_percent = "0..100+50" }\nshuffle = 7',
    _build,
    (
        OVER,
        OBJECTIVE,
        REPEAT,
        PRECISION,
        Option("shuffle", whole(0), "Seed of a random order of the points.", 7, absent="in the order written"),
        Option("grid", words(_GRIDS), f"One of ORION's grids, in place of `over`. {meanings(_GRIDS)}", "basic", absent="`over`"),
        *_OPTIONS_OF_GRID,
    ),
    points=_points,
    settings=_cells,
    check=_check,
    schema={"oneOf": [{"required": ["over"]}, {"required": ["grid"]}]},
    drawings=("cells",),
)
