"""Which storage carries a demand: what was asked, checked and answered from stored load lines, from a run, or from data sheets.

Model: `sizing_of` reads what was typed: the demand, the disks to compute, and what is to be measured. Stored lines answer unless something
is to be measured, whose run `measured` reads; disks are computed as well.

    sizing = sizing_of(SizingArguments(iops="5k", read_percent="70", block_size="8KiB"))
    stored(sizing, remark).carried
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from plimsoll.analysis.objective.judgement import parse_objective
from plimsoll.analysis.sizing.raid import named_disk_iops, raid_level
from plimsoll.analysis.sizing.spindles import Disks, Spindles, per_iops, spindles
from plimsoll.analysis.sizing.stored_lines import Fit, size_lines
from plimsoll.displayed import quoted
from plimsoll.errors import InputError, PlimsollError, StoreError
from plimsoll.points.demand_source import demand_asked
from plimsoll.points.quantity import size_bytes
from plimsoll.points.sizing_arguments import SizingArguments, check_company, measured_targets

if TYPE_CHECKING:
    from plimsoll.analysis.sizing.demand import Demand
    from plimsoll.points.execution import Run
    from plimsoll.points.listener import Remark
    from plimsoll.result import Result

SCHEMA = "plimsoll.sizing/1"


@dataclass(frozen=True)
class Sizing:
    """A question that can be answered: a demand, disks to compute, or both; ``targets`` are to be measured."""

    arguments: SizingArguments
    demand: Demand | None
    disks: Disks | None
    targets: tuple[str, ...]


@dataclass(frozen=True)
class SizingAnswer:
    """What carries the demand; ``exit_code`` and ``path`` are of the run that was measured for it."""

    demand: Demand | None
    objective: str | None
    fits: list[Fit]
    spindles: Spindles | None
    price: float | None
    exit_code: int = 0
    path: str | None = None

    @property
    def carried(self) -> bool:
        """Whether some load line carries the demand."""
        return any(fit.carries for fit in self.fits)

    def to_json(self) -> dict[str, Any]:
        """Everything but what is said of a run."""
        demand = self.demand
        return {
            "schema": SCHEMA,
            "demand": None if demand is None else demand.to_json(),
            "objective": self.objective,
            "price": self.price,
            "carried": self.carried,
            "lines": [] if demand is None else [{**fit.to_json(demand), "price_per_iops": self._price_per_iops(fit)} for fit in self.fits],
            "raid": None if self.spindles is None else self.spindles.to_json(),
        }

    def _price_per_iops(self, fit: Fit) -> float | None:
        return None if self.price is None or fit.mark is None or fit.refused is not None else per_iops(self.price, fit.mark.iops)


def sizing_of(arguments: SizingArguments) -> Sizing:
    """The question, once nothing of it would be ignored; raises `InputError`."""
    check_company(arguments)
    demand, disks = demand_asked(arguments), _disks(arguments)
    if demand is None and disks is None:
        raise InputError("nothing is asked; give a demand with --iops, --from or --mailboxes, or have disks computed with --raid.")
    if arguments.asserted and demand is None:
        raise InputError("--assert: there is no demand to carry; give one with --iops, --from or --mailboxes.")
    return Sizing(arguments, demand, disks, measured_targets(arguments))


def stored(sizing: Sizing, remark: Remark) -> SizingAnswer:
    """What stored runs say: those that were named, or all."""
    arguments, demand = sizing.arguments, sizing.demand
    objective = None if arguments.objective is None else parse_objective(arguments.objective)
    fits = [] if demand is None else size_lines(_results(arguments.runs, arguments.out, remark), demand, objective)
    return SizingAnswer(demand, None if objective is None else objective.text, fits, _computed(sizing), _price(arguments))


def measured(sizing: Sizing, demand: Demand, run: Run) -> SizingAnswer:
    """What a run of `plimsoll.points.demand` says."""
    from plimsoll.points.demand import required

    objective = parse_objective(required(demand, sizing.arguments.objective))
    fits = size_lines({os.path.basename(run.path): run.results}, demand, objective)
    return SizingAnswer(demand, objective.text, fits, _computed(sizing), _price(sizing.arguments), run.exit_code, run.path)


def _computed(sizing: Sizing) -> Spindles | None:
    return None if sizing.disks is None else spindles(sizing.disks, sizing.demand)


def _disks(arguments: SizingArguments) -> Disks | None:
    if arguments.raid is None:
        return None
    return Disks(
        level=raid_level(arguments.raid),
        disk_iops=None if arguments.disk_iops is None else named_disk_iops(arguments.disk_iops),
        disk_bytes=None if arguments.disk_size is None else float(size_bytes("--disk-size", arguments.disk_size)),
        disks=arguments.disks,
        groups=arguments.groups,
        dedicated_spares=arguments.dedicated_spares or 0,
        global_spares=arguments.spares or 0,
        arrays=arguments.arrays or 1,
        mirrored=bool(arguments.mirror_arrays),
        volumes=arguments.volumes,
        price=_price(arguments),
    )


def _price(arguments: SizingArguments) -> float | None:
    if arguments.price is None:
        return None
    try:
        value = float(arguments.price.replace(",", ""))
    except ValueError:
        value = 0.0
    if not 0 < value < math.inf:
        raise InputError(f"--price: {quoted(arguments.price)} is not an amount; write a number above 0, for example 42000.")
    return value


def _results(names: tuple[str, ...], out: str, remark: Remark) -> dict[str, list[Result]]:
    """The results of the runs named, or of all; what cannot be read is remarked and left out, unless it was named."""
    from plimsoll.store.reader import DamagedRun, StoredRun, list_runs, open_runs

    results: dict[str, list[Result]] = {}
    runs: list[StoredRun | DamagedRun] = [*open_runs(names, out)] if names else list_runs(out)
    for run in runs:
        if isinstance(run, DamagedRun):
            remark(f"left out: {run.problem}")
            continue
        found = results.setdefault(run.name if run.name not in results else run.path, [])
        try:
            points = run.points
        except StoreError as problem:
            remark(f"left out: {problem}")
            continue
        for point in points:
            try:
                found.append(point.result)
            except PlimsollError as problem:
                remark(f"left out: {problem}")
    return results
