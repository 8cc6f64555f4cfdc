"""The fit of an array to measured rows: folds, the null model, and the outcome.

Folds: the rows that a fit may see, and those it is judged by.

Model: every condition with a value holds out the rows that have it, once. A column without a value holds out each of its values in turn. In
each fold the rest is what is trained on; nothing of a held-out row, not even how long it would have to run, has a part in that.

    [fold.text for fold in folds(rows, [condition("size", "--hold-out")])]    # ['region_length=2G', 'region_length=4G', …]

The null model: a power law of what a row asks for, which knows nothing of storage.

Model: a figure = a · size^b · block^c · level^d · rate^e by least squares of the logarithms, one law for every kind of row (figure,
workload and access). A factor that does not vary among the rows it is fitted to is left out; so is one for which rows are too few. What a
modelled array predicts is worth something only where it is nearer than this. Of responses as they are distributed, the null model is that
they are distributed as in the rows that it is fitted to.

    law = power_law(rows)
    law.said(row)

The outcome: searched fold by fold, judged by what was held out, beside the null model.

Model: in each fold the search sees the errors of the training rows alone; what it found then predicts the held-out rows, and so does a
power law of the same training rows. With one fold, what it found is the answer. With several, the answer is one more fit to all rows,
whose own error says nothing about rows it has not seen: the folds' does. An error is the mean of |modelled / measured - 1|, and of
demerits where those are what is held against each other.

    outcome = fit_unknowns(rows, folds, unknowns, search, modelled)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from plimsoll.analysis.array_fit.row import Condition, Row, known_value, written
from plimsoll.analysis.array_fit.unknown import Position, Search, Unknown, run_search, values
from plimsoll.errors import InputError


@dataclass(frozen=True)
class Fold:
    """One division of the rows, by their positions in the list."""

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


#: What a power law is of, the first first if rows are few.
FACTORS = ("block_size", "region_length", "level", "read_percent", "rate", "read_rate", "write_rate", "write_block_size")


@dataclass(frozen=True)
class PowerLaw:
    """One law per kind of row: the logarithm of a, and exponents by factor."""

    laws: dict[str, tuple[float, dict[str, float]]]

    def said(self, row: Row) -> float | None:
        """What the law says of a row; None for a kind that it was not fitted to."""
        law = self.laws.get(row.kind)
        if law is None:
            return None
        constant, exponents = law
        logarithm = constant
        for factor, exponent in exponents.items():
            value = row.number(factor)
            if not value:
                return None
            logarithm += exponent * math.log(value)
        return math.exp(logarithm)


def power_law(rows: Sequence[Row]) -> PowerLaw:
    """The law that fits these rows."""
    rows = [row for row in rows if not row.responses]
    kinds = dict.fromkeys(row.kind for row in rows)
    return PowerLaw({kind: _law([row for row in rows if row.kind == kind]) for kind in kinds})


def _law(rows: Sequence[Row]) -> tuple[float, dict[str, float]]:
    factors = [factor for factor in FACTORS if _varies(rows, factor)][: max(0, len(rows) - 1)]
    while True:
        table = [[1.0, *(math.log(row.number(factor) or 1.0) for factor in factors)] for row in rows]
        solved = _least_squares(table, [math.log(row.measured) for row in rows])
        if solved is not None:
            return solved[0], dict(zip(factors, solved[1:], strict=True))
        # Two factors went up and down together: the later one explains nothing.
        factors.pop()


def _varies(rows: Sequence[Row], factor: str) -> bool:
    values = [row.number(factor) for row in rows]
    return all(values) and len(set(values)) > 1


def _least_squares(table: list[list[float]], answers: list[float]) -> list[float] | None:
    """The normal equations, by elimination with pivots; None where they have no single solution."""
    size = len(table[0])
    left = [[sum(line[row] * line[column] for line in table) for column in range(size)] for row in range(size)]
    right = [sum(line[row] * answer for line, answer in zip(table, answers, strict=True)) for row in range(size)]
    scale = [left[position][position] for position in range(size)]
    for position in range(size):
        pivot = max(range(position, size), key=lambda row: abs(left[row][position]))
        if abs(left[pivot][position]) < 1e-9 * scale[position]:
            return None
        left[position], left[pivot] = left[pivot], left[position]
        right[position], right[pivot] = right[pivot], right[position]
        for row in range(position + 1, size):
            factor = left[row][position] / left[position][position]
            left[row] = [value - factor * above for value, above in zip(left[row], left[position], strict=True)]
            right[row] -= factor * right[position]
    solution = [0.0] * size
    for position in reversed(range(size)):
        known = sum(left[position][column] * solution[column] for column in range(position + 1, size))
        solution[position] = (right[position] - known) / left[position][position]
    return solution


#: Figures by (position, number of the row): what the array gives with these values.
Modelled = Callable[[Sequence[tuple[Position, int]]], list[float]]


@dataclass(frozen=True)
class Predicted:
    """One row with what was said of it."""

    number: int
    modelled: float
    null: float | None
    held_out: bool


@dataclass(frozen=True)
class FoldOutcome:
    """What a fold found, and its rows."""

    text: str
    values: Mapping[str, float | int]
    rows: tuple[Predicted, ...]


@dataclass(frozen=True)
class Outcome:
    """The answer, its rows, and the folds that say how far to trust it."""

    values: Mapping[str, float | int]
    position: Position
    rows: tuple[Predicted, ...]
    folds: tuple[FoldOutcome, ...]


def fit_unknowns(
    rows: Sequence[Row], folds: Sequence[Fold], unknowns: Sequence[Unknown], search: Callable[[], Search], modelled: Modelled
) -> Outcome:
    """Everything that is known after all folds."""
    outcomes = []
    positions = []
    for fold in folds:
        position = _searched(rows, fold.training, search(), modelled)
        positions.append(position)
        outcomes.append(FoldOutcome(fold.text, values(unknowns, position), _predicted(rows, fold, position, modelled)))
    if len(folds) == 1:
        return Outcome(outcomes[0].values, positions[0], outcomes[0].rows, tuple(outcomes))
    everything = Fold("", tuple(range(len(rows))), ())
    position = _searched(rows, everything.training, search(), modelled)
    return Outcome(values(unknowns, position), position, _predicted(rows, everything, position, modelled), tuple(outcomes))


def mean_error(rows: Sequence[Row], predicted: Sequence[Predicted], *, held_out: bool, null: bool = False) -> float | None:
    """The mean of the absolute relative errors of the held-out rows, or of the others; None without any."""
    found = [(row.null if null else row.modelled, rows[row.number]) for row in predicted if row.held_out == held_out]
    errors = [row.error(said) for said, row in found if said is not None]
    return sum(errors) / len(errors) if errors and len(errors) == len(found) else None


def _searched(rows: Sequence[Row], training: Sequence[int], search: Search, modelled: Modelled) -> Position:
    def errors_of(positions: list[Position]) -> list[float]:
        asked = [(position, number) for position in positions for number in training]
        figures = iter(modelled(asked))
        return [sum(rows[number].error(next(figures)) for number in training) / len(training) for _ in positions]

    return run_search(search, errors_of)


def _predicted(rows: Sequence[Row], fold: Fold, position: Position, modelled: Modelled) -> tuple[Predicted, ...]:
    training = [rows[number] for number in fold.training]
    law = power_law(training)
    figures = modelled([(position, number) for number in range(len(rows))])
    held_out = set(fold.held_out)

    def null(row: Row) -> float | None:
        return row.null(training) if row.responses else law.said(row)

    return tuple(Predicted(number, figure, null(rows[number]), number in held_out) for number, figure in enumerate(figures))


def to_json(outcome: Outcome, rows: Sequence[Row]) -> dict[str, Any]:
    """The fit as data: rates per second, latencies in nanoseconds, errors as shares."""
    return {
        "values": dict(outcome.values),
        "rows": _rows_json(outcome.rows, rows),
        "folds": [
            {
                "held_out": fold.text,
                "values": dict(fold.values),
                "error": {"held_out": mean_error(rows, fold.rows, held_out=True), "training": mean_error(rows, fold.rows, held_out=False)},
                "null_error": {
                    "held_out": mean_error(rows, fold.rows, held_out=True, null=True),
                    "training": mean_error(rows, fold.rows, held_out=False, null=True),
                },
                "rows": _rows_json(fold.rows, rows),
            }
            for fold in outcome.folds
        ],
    }


def _rows_json(predicted: Sequence[Predicted], rows: Sequence[Row]) -> list[dict[str, Any]]:
    return [
        {
            "place": rows[row.number].place,
            "values": dict(rows[row.number].values),
            "figure": rows[row.number].figure,
            "measured": rows[row.number].measured,
            "modelled": row.modelled,
            "null": row.null,
            "held_out": row.held_out,
        }
        for row in predicted
    ]
