"""The fit of an array to measured rows: searched fold by fold, judged by what was held out, beside the null model.

Model: in each fold the search sees the errors of the training rows alone; what it found then predicts the held-out rows, and so does a
power law of the same training rows. With one fold, what it found is the answer. With several, the answer is one more fit to all rows,
whose own error says nothing about rows it has not seen: the folds' does. An error is the mean of |modelled / measured - 1|.

    outcome = adjusted(rows, folds, unknowns, search, modelled)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from plimsoll.analysis.adjustment.holding import Fold
from plimsoll.analysis.adjustment.power_law import power_law
from plimsoll.analysis.adjustment.row import Row
from plimsoll.analysis.adjustment.search import Place, Search, carried_out
from plimsoll.analysis.adjustment.unknown import Unknown, values

#: Requests per second by (place, number of the row): what the array gives with these values.
Modelled = Callable[[Sequence[tuple[Place, int]]], list[float]]


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
    place: Place
    rows: tuple[Predicted, ...]
    folds: tuple[FoldOutcome, ...]


def adjusted(
    rows: Sequence[Row], folds: Sequence[Fold], unknowns: Sequence[Unknown], search: Callable[[], Search], modelled: Modelled
) -> Outcome:
    """Everything that is known after all folds."""
    outcomes = []
    places = []
    for fold in folds:
        place = _searched(rows, fold.training, search(), modelled)
        places.append(place)
        outcomes.append(FoldOutcome(fold.text, values(unknowns, place), _predicted(rows, fold, place, modelled)))
    if len(folds) == 1:
        return Outcome(outcomes[0].values, places[0], outcomes[0].rows, tuple(outcomes))
    everything = Fold("", tuple(range(len(rows))), ())
    place = _searched(rows, everything.training, search(), modelled)
    return Outcome(values(unknowns, place), place, _predicted(rows, everything, place, modelled), tuple(outcomes))


def mean_error(rows: Sequence[Row], predicted: Sequence[Predicted], *, held_out: bool, null: bool = False) -> float | None:
    """The mean of the absolute relative errors of the held-out rows, or of the others; None without any."""
    found = [(row.null if null else row.modelled, rows[row.number].iops) for row in predicted if row.held_out == held_out]
    errors = [abs(said / measured - 1) for said, measured in found if said is not None]
    return sum(errors) / len(errors) if errors and len(errors) == len(found) else None


def _searched(rows: Sequence[Row], training: Sequence[int], search: Search, modelled: Modelled) -> Place:
    def errors_of(places: list[Place]) -> list[float]:
        asked = [(place, number) for place in places for number in training]
        rates = iter(modelled(asked))
        return [sum(abs(next(rates) / rows[number].iops - 1) for number in training) / len(training) for _ in places]

    return carried_out(search, errors_of)


def _predicted(rows: Sequence[Row], fold: Fold, place: Place, modelled: Modelled) -> tuple[Predicted, ...]:
    law = power_law([rows[number] for number in fold.training])
    rates = modelled([(place, number) for number in range(len(rows))])
    held_out = set(fold.held_out)
    return tuple(Predicted(number, rate, law.iops(rows[number]), number in held_out) for number, rate in enumerate(rates))


def to_json(outcome: Outcome, rows: Sequence[Row]) -> dict[str, Any]:
    """The fit as data: rates per second, errors as shares."""
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
            "measured": rows[row.number].iops,
            "modelled": row.modelled,
            "null": row.null,
            "held_out": row.held_out,
        }
        for row in predicted
    ]
