"""Comparisons pair by pair: each side with the first, unless something speaks against that pair.

Model: what `plimsoll.analysis.comparison.refusals` refuses concerns one pair; the others are compared all the same, and a note names the
side that is left out with the reasons.

    compared = compare_pairs(sides)
    compared.comparison          # None when no side could be compared; ``refused`` then holds every reason
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from plimsoll.analysis.comparison.comparison import Comparison, Figure, compare
from plimsoll.analysis.comparison.refusals import refusals, size_notes
from plimsoll.analysis.comparison.sides import Side
from plimsoll.analysis.objective.judgement import Objective
from plimsoll.records import dataclass


@dataclass(frozen=True)
class Pairs:
    """What could be compared, and the sentences against the rest."""

    comparison: Comparison | None
    refused: tuple[str, ...] = ()


def compare_pairs(
    sides: Sequence[Side],
    varying: Collection[str] = (),
    figures: Sequence[Figure] | None = None,
    objectives: Mapping[str, Objective] | None = None,
    *,
    adaptive: Collection[str],
) -> Pairs:
    """Each side that may be compared with the first; see `plimsoll.analysis.comparison.comparison.compare`.

    Levels of ``adaptive`` kinds of experiments follow from what was measured and may differ.
    """
    reasons = {side.label: refusals([sides[0], side], varying, adaptive=adaptive) for side in sides[1:]}
    refused = tuple(reason for found in reasons.values() for reason in found)
    taken = [sides[0], *(side for side in sides[1:] if not reasons[side.label])]
    if len(taken) < 2:
        return Pairs(None, refused)
    found = compare(taken, varying, figures, objectives)
    notes = (*(f"Not compared: {reason}" for reason in refused), *size_notes(taken, varying), *found.notes)
    return Pairs(replace(found, notes=notes), refused)
