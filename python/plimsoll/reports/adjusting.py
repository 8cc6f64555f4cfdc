"""What ``plimsoll fit array:NAME`` shows: every row as measured and as modelled, and the errors of what was held out beside the null model.

region_length  block_size  measured  modelled  error  null model  error
8G             8K             4,276     4,422   +3.4       4,390   +2.7  held out
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from plimsoll.analysis.array_fit.outcome import FoldOutcome, Outcome, Predicted, mean_error
from plimsoll.analysis.array_fit.row import Row, written
from plimsoll.analysis.array_fit.unknown import Unknown
from plimsoll.reports.terminal import table
from plimsoll.units import count

_HEAD = ("measured", "modelled", "error %", "null model", "error %", "")
#: Columns of other measurements, which say nothing about what was asked for.
_SHOWN = ("label", "target", "workload", "access", "region_length", "block_size", "read_percent", "level")

#: A value nearer to an end of its range than this part of it stands there.
_END = 0.01
#: A model that misses by so many times what a power law misses by explains nothing.
_FAR_ABOVE = 2


def rows_table(rows: Sequence[Row], predicted: Sequence[Predicted]) -> str:
    """A line per row; columns that are the same in all are left out."""
    columns = [name for name in _SHOWN if len({row.values.get(name) for row in rows}) > 1]
    lines = [(*(columns or ["row"]), *_HEAD)]
    for found in predicted:
        row = rows[found.number]
        named = [_cell(row, name) for name in columns] if columns else [row.place]
        null = ("–", "–") if found.null is None else (count(found.null), _error(found.null, row))
        mark = "held out" if found.held_out else ""
        lines.append((*named, count(row.iops), count(found.modelled), _error(found.modelled, row), *null, mark))
    return table(lines, left=len(columns) or 1)


def folds_table(rows: Sequence[Row], folds: Sequence[FoldOutcome]) -> str:
    """A line per fold: the held-out error first, since it alone says how far to trust a prediction."""
    keys = list(folds[0].values)
    lines = [("held out", "rows", "held-out error %", "null model", "fitted rows' error %", "null model", *keys)]
    for fold in folds:
        errors = [mean_error(rows, fold.rows, held_out=held_out, null=null) for held_out in (True, False) for null in (False, True)]
        held_out = sum(row.held_out for row in fold.rows)
        lines.append(
            (
                fold.text,
                str(held_out),
                *map(_percent, errors),
                *(f"{fold.values[key]:g}" if isinstance(fold.values[key], float) else f"{fold.values[key]:,}" for key in keys),
            )
        )
    return table(lines, left=1)


def outcome_lines(rows: Sequence[Row], outcome: Outcome) -> Iterator[str]:
    """How to read it."""
    means = []
    for null, name in ((False, "held-out error"), (True, "null model's")):
        mean, total = _held_out_error(rows, outcome, null=null)
        means.append(mean)
        yield f"{name:15} {_percent(mean)} % on average over {total} held-out rows"
    if len(outcome.folds) > 1:
        yield f"{'all rows':15} the values below are fitted to all of them; their own error says nothing about others"
    yield "An error is the mean of |modelled / measured - 1|; the null model is a power law fitted to the same rows."
    error, null_error = means
    if error is not None and null_error is not None and error > null_error * _FAR_ABOVE:
        missed = f"held out it misses by {_percent(error)} %, a power law by {_percent(null_error)} %"
        yield f"The model does not give these rows: {missed}; look for a cause that it lacks, or free other values."


def _held_out_error(rows: Sequence[Row], outcome: Outcome, *, null: bool) -> tuple[float | None, int]:
    """The mean over the held-out rows of all folds for which it is known, and their number."""
    weights = [(sum(row.held_out for row in fold.rows), fold) for fold in outcome.folds]
    errors = [(number, mean_error(rows, fold.rows, held_out=True, null=null)) for number, fold in weights]
    known = [(number, error) for number, error in errors if error is not None]
    total = sum(number for number, _ in known)
    return (sum(number * error for number, error in known) / total if total else None), total


def range_lines(unknowns: Sequence[Unknown], places: Sequence[float]) -> Iterator[str]:
    """Values at an end of their range: what fits best may be beyond it, or nowhere."""
    for unknown, place in zip(unknowns, places, strict=True):
        if not _END < place < 1 - _END:
            end = "high" if place > 0.5 else "low"
            yield f"{unknown.key} stands at the {end} end of its range: look beyond it, or for another cause."


def _cell(row: Row, name: str) -> str:
    return written(row.values[name]) if name in row.values else ""


def _error(said: float, row: Row) -> str:
    return f"{100 * (said / row.iops - 1):+.1f}"


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f}"
