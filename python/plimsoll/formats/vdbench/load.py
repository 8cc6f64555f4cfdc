"""The load of one round of a run: streams on a target; the loops that make the rounds, and the shares of WDs in threads and rate.

Model: a load of block devices has streams alone; one of file systems has the trees that its streams work on, too, and another driver.
For-loops are nested in the order in which they stand, the last one innermost, and the rates of iorate inside all of them. xfersize and
forxfersize, and others of such a pair, are one loop; of several the last one holds. A WD with a skew has that share in percent; those
without share the rest equally. Threads are whole, so they are dealt out by the largest remainder, at least one to each.

    load.workload                  # {'driver': 'files', 'tree': […], 'stream': […]}
    [dict(choice) for choice in rounds(loops_of(run, {"forthreads": "threads"})[0])]        # [{'threads': Word('8')}, …]
    skews([wd1, wd2])              # {wd1: 0.7, wd2: 0.3}
    dealt(16, [0.7, 0.3])          # [11, 5]
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import Protocol

from plimsoll.displayed import quoted
from plimsoll.formats.vdbench.model import Definition, Parameter, Word
from plimsoll.formats.vdbench.notes import Note, Notes, native
from plimsoll.formats.vdbench.resolve import WorkloadSettings
from plimsoll.formats.vdbench.values import is_number, number, series
from plimsoll.stored import Json

#: Least rate that a stream has, per second.
RATE_MIN = 0.001


@dataclass(frozen=True)
class Rate:
    """The rate of the whole run, and how requests arrive."""

    per_s: float
    arrival: str


@dataclass(frozen=True)
class Load:
    """What runs at the same time, where, on what parts of the file (``label``), job options that follow from these, and what is to be said
    of the parameters behind them."""

    target: str
    streams: list[Json]
    label: str
    empties_cache: bool
    trees: list[Json] = field(default_factory=list)
    settings: Json = field(default_factory=dict, compare=False)
    notes: Notes = field(default=(), compare=False)

    @property
    def workload(self) -> Json:
        """As the tables of a workload."""
        if not self.trees:
            return {"stream": self.streams}
        return {"driver": "files", "tree": self.trees, "stream": self.streams}


class Composing(Protocol):
    """What makes the loads of one run, which stands on the definitions ``used``."""

    @property
    def used(self) -> frozenset[Definition]:
        """Those of the WDs and SDs, or FWDs and FSDs, of the run."""

    def load(self, choice: Mapping[str, Word], rate: Rate | None) -> Load:
        """The load of one round; without a rate its streams are closed loops."""


ROUNDS_MAX = 1000


@dataclass(frozen=True)
class Loop:
    """One loop: the keyword that it varies, where it stands, and its values as they would be written."""

    name: str
    parameter: Parameter
    values: tuple[Word, ...]


def loops_of(run: Definition, varied: Mapping[str, str]) -> tuple[list[Loop], Notes]:
    """The loops of a run, outermost first; ``varied`` says by the keyword of a loop which keyword it varies."""
    last: dict[str, Loop] = {}
    notes: list[Note] = []
    for entry, parameter in run.parameters:
        if entry.name in varied:
            name = varied[entry.name]
            before = last.pop(name, None)
            if before is not None:
                notes.append(native(before.parameter, f"{parameter.text} varies the same thing further on, and the last one holds"))
            last[name] = Loop(name, parameter, _values(parameter))
    found = list(last.values())
    if prod(len(loop.values) for loop in found) > ROUNDS_MAX:
        raise run.head.wrong(f"its loops make more than {ROUNDS_MAX} rounds; write coarser ones.")
    return found, tuple(notes)


def rounds(loops: Sequence[Loop]) -> Iterator[Mapping[str, Word]]:
    """Every combination of values, the last loop's changing fastest."""
    for values in product(*(loop.values for loop in loops)):
        yield {loop.name: value for loop, value in zip(loops, values, strict=True)}


def _values(parameter: Parameter) -> tuple[Word, ...]:
    if not all(is_number(word) or word.text.lower() == "d" for word in parameter.values):
        return parameter.values
    return tuple(Word(f"{item.value}{'%' if item.percent else ''}") for item in series(parameter))


_EXACT = 1e-6


def skews(workloads: Sequence[WorkloadSettings], *, zero_is_none: bool = False) -> dict[WorkloadSettings, float]:
    """Each WD's or FWD's share of the whole; with ``zero_is_none`` a skew of 0 is as none."""
    given: dict[WorkloadSettings, float] = {}
    last = None
    for workload in workloads:
        parameter = workload.skew
        if parameter is not None and not (zero_is_none and number(parameter).value == 0):
            last, given[workload] = parameter, number(parameter).value
            if not 0 < given[workload] <= 100:
                raise parameter.wrong(f"{given[workload]:g} is no share; write a percentage above 0 and up to 100.")
    kind = workloads[0].definition.block.upper() if workloads else "WD"
    whole, without = sum(given.values()), [workload for workload in workloads if workload not in given]
    if last is not None and (whole > 100 + _EXACT or (not without and abs(whole - 100) > _EXACT)):
        raise last.wrong(f"the skews of the run's {kind}s make {whole:g} and not 100; correct one of them.")
    if last is not None and without and whole > 100 - _EXACT:
        raise last.wrong(
            f"the skews of the run's {kind}s make 100, and {kind} {quoted(without[0].name)} has none left; correct one of them."
        )
    rest = (100 - whole) / len(without) if without else 0
    return {workload: given.get(workload, rest) / 100 for workload in workloads}


def dealt(many: int, shares: Sequence[float]) -> list[int]:
    """``many`` threads by shares, at least one each."""
    whole = sum(shares)
    exact = [many * share / whole for share in shares]
    counts = [max(1, int(part)) for part in exact]
    by_remainder = sorted(range(len(shares)), key=lambda at: (int(exact[at]) - exact[at], at))
    for at in by_remainder[: max(0, many - sum(counts))]:
        counts[at] += 1
    while sum(counts) > many and max(counts) > 1:
        # Those who were given their one thread take it from the largest.
        counts[counts.index(max(counts))] -= 1
    return counts
