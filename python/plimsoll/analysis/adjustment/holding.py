"""Which rows a fit may see, and which it is judged by.

Model: every condition with a value holds out the rows that have it, once. A column without a value holds out each of its values in turn. In
each fold the rest is what is trained on; nothing of a held-out row, not even how long it would have to run, has a part in that.

    [fold.text for fold in folds(rows, [condition("size", "--hold-out")])]    # ['region_length=2G', 'region_length=4G', …]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from plimsoll.analysis.adjustment.row import Condition, Row, known_value, written
from plimsoll.errors import InputError


@dataclass(frozen=True)
class Fold:
    """One division of the rows, by their places in the list."""

    text: str
    training: tuple[int, ...]
    held_out: tuple[int, ...]


def folds(rows: Sequence[Row], conditions: Sequence[Condition]) -> list[Fold]:
    """One fold per value that is held out; `InputError` where nothing would be left on one side."""
    if not conditions:
        raise InputError("--hold-out: say what is held out, for example --hold-out size=8G, or --hold-out size for each value in turn.")
    return [_fold(rows, each) for wanted in conditions for each in _each(rows, wanted)]


def _each(rows: Sequence[Row], wanted: Condition) -> list[Condition]:
    known_value(rows, wanted, "--hold-out")
    if wanted.value is not None:
        return [wanted]
    values = dict.fromkeys(row.values[wanted.column] for row in rows if wanted.column in row.values)
    return [replace(wanted, text=f"{wanted.text}={written(value)}", value=value) for value in values]


def _fold(rows: Sequence[Row], wanted: Condition) -> Fold:
    held_out = tuple(number for number, row in enumerate(rows) if wanted.holds(row))
    training = tuple(number for number, row in enumerate(rows) if not wanted.holds(row))
    if not training:
        raise InputError(f"--hold-out {wanted.text}: all rows have this value, so nothing is left to fit; hold out another one.")
    return Fold(wanted.text, training, held_out)
