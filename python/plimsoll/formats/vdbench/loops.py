"""For-loops of a run: nested in the order in which they stand, the last one innermost, and the rates of iorate inside all of them.

Model: xfersize and forxfersize, and others of such a pair, are one loop; of several the last one holds.

    loops = loops_of(run, {"forthreads": "threads"}, verdicts)
    [dict(choice) for choice in rounds(loops)]        # [{'threads': Word('8')}, …]
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

from plimsoll.formats.vdbench.definition import Definition
from plimsoll.formats.vdbench.numbers import is_number, series
from plimsoll.formats.vdbench.parameter import Parameter, Word
from plimsoll.formats.vdbench.verdicts import Verdicts

ROUNDS_MAX = 1000


@dataclass(frozen=True)
class Loop:
    """One loop: the keyword that it varies, where it stands, and its values as they would be written."""

    name: str
    parameter: Parameter
    values: tuple[Word, ...]


def loops_of(run: Definition, varied: Mapping[str, str], verdicts: Verdicts) -> list[Loop]:
    """The loops of a run, outermost first; ``varied`` says by the keyword of a loop which keyword it varies."""
    last: dict[str, Loop] = {}
    for entry, parameter in run.parameters():
        if entry.name in varied:
            name = varied[entry.name]
            before = last.pop(name, None)
            if before is not None:
                verdicts.native(before.parameter, f"{parameter.text} varies the same thing further on, and the last one holds")
            last[name] = Loop(name, parameter, _values(parameter))
    found = list(last.values())
    if prod(len(loop.values) for loop in found) > ROUNDS_MAX:
        raise run.head.wrong(f"its loops make more than {ROUNDS_MAX} rounds; write coarser ones.")
    return found


def rounds(loops: Sequence[Loop]) -> Iterator[Mapping[str, Word]]:
    """Every combination of values, the last loop's changing fastest."""
    for values in product(*(loop.values for loop in loops)):
        yield {loop.name: value for loop, value in zip(loops, values, strict=True)}


def _values(parameter: Parameter) -> tuple[Word, ...]:
    if not all(is_number(word) or word.text.lower() == "d" for word in parameter.values):
        return parameter.values
    return tuple(Word(f"{item.value}{'%' if item.percent else ''}") for item in series(parameter))
