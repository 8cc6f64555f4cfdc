"""Which storage carries a demand: what was asked, checked and answered from stored load lines, from a run, or from data sheets.

Model: `sizing_of` reads what was typed: the demand, the disks to compute, and what is to be measured. Stored lines answer unless something
is to be measured, whose run `measured` reads; disks are computed as well.

    sizing = sizing_of(SizingAsked(iops="5k", read_percent="70", block_size="8KiB"))
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
from plimsoll.points.sizing_asked import SizingAsked, check_company, measured_targets

if TYPE_CHECKING:
    from plimsoll.analysis.sizing.demand import Demand
    from plimsoll.points.execution import Run
    from plimsoll.points.listener import Remark
    from plimsoll.result import Result

SCHEMA = "plimsoll.sizing/1"


@dataclass(frozen=True)
class Sizing:
    """A question that can be answered: a demand, disks to compute, or both; ``targets`` are to be measured."""

    asked: SizingAsked
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


def sizing_of(asked: SizingAsked) -> Sizing:
    """The question, once nothing of it would be ignored; raises `InputError`."""
    check_company(asked)
    demand, disks = demand_asked(asked), _disks(asked)
    if demand is None and disks is None:
        raise InputError("nothing is asked; give a demand with --iops, --from or --mailboxes, or have disks computed with --raid.")
    if asked.asserted and demand is None:
        raise InputError("--assert: there is no demand to carry; give one with --iops, --from or --mailboxes.")
    return Sizing(asked, demand, disks, measured_targets(asked))


def stored(sizing: Sizing, remark: Remark) -> SizingAnswer:
    """What stored runs say: those that were named, or all."""
    asked, demand = sizing.asked, sizing.demand
    objective = None if asked.objective is None else parse_objective(asked.objective)
    fits = [] if demand is None else size_lines(_results(asked.runs, asked.out, remark), demand, objective)
    return SizingAnswer(demand, None if objective is None else objective.text, fits, _computed(sizing), _price(asked))


def measured(sizing: Sizing, demand: Demand, run: Run) -> SizingAnswer:
    """What a run of `plimsoll.points.demand` says."""
    from plimsoll.points.demand import required

    objective = parse_objective(required(demand, sizing.asked.objective))
    fits = size_lines({os.path.basename(run.path): run.results}, demand, objective)
    return SizingAnswer(demand, objective.text, fits, _computed(sizing), _price(sizing.asked), run.exit_code, run.path)


def _computed(sizing: Sizing) -> Spindles | None:
    return None if sizing.disks is None else spindles(sizing.disks, sizing.demand)


def _disks(asked: SizingAsked) -> Disks | None:
    if asked.raid is None:
        return None
    return Disks(
        level=raid_level(asked.raid),
        disk_iops=None if asked.disk_iops is None else named_disk_iops(asked.disk_iops),
        disk_bytes=None if asked.disk_size is None else float(size_bytes("--disk-size", asked.disk_size)),
        disks=asked.disks,
        groups=asked.groups,
        dedicated_spares=asked.dedicated_spares or 0,
        global_spares=asked.spares or 0,
        arrays=asked.arrays or 1,
        mirrored=bool(asked.mirror_arrays),
        volumes=asked.volumes,
        price=_price(asked),
    )


def _price(asked: SizingAsked) -> float | None:
    if asked.price is None:
        return None
    try:
        value = float(asked.price.replace(",", ""))
    except ValueError:
        value = 0.0
    if not 0 < value < math.inf:
        raise InputError(f"--price: {quoted(asked.price)} is not an amount; write a number above 0, for example 42000.")
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
