"""Whether an engine's answer is right: it is held against the answer on which two engines agreed, row by row.

Model: the expected answers are data of the package, at scales 1 and 0.01, with the qualification values of
`plimsoll.decision.queries.qualification`; ``dev/answers.py`` makes them. Rows have one order, so the first is held against the first. How
far a value may be off is a matter of its column's class:

    str             equal but for blanks at the end; a date is its ISO text
    int, num, cnt   equal numbers
    sum             within 100 units of currency at scale 1, and in proportion at smaller ones
    avg, rat        within 1 %

The classes are those of the specification's own check, but for sums of quantities and of counts, which are exact on every engine and have
to be so here; and averages are not rounded first, which would make small ones right or wrong by chance.
Limits: tables sort text by code point, as their DDL has to say where an engine would not. There are no answers at other scales or to other
values.

    differences(6, connection.execute(text(6, qualification()[6])).fetchall())     # []
    differences(6, [(123.0,)])      # ["query 6, row 1, column revenue: expected 123141078.2283, seen 123.0."]
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterable, Sequence
from decimal import Decimal, InvalidOperation
from functools import cache

from plimsoll.decision.queries import Class, Column, columns
from plimsoll.displayed import quoted
from plimsoll.errors import InputError

#: One row, as it is stored: numbers as text, so that none loses a digit.
Row = tuple[str | None, ...]

_FOLDER = os.path.join(os.path.dirname(__file__), "answers")
#: Scales at which there are expected answers.
SCALES = (0.01, 1.0)
#: How far a sum may be off at scale 1.
_SUM_OFF = Decimal(100)
#: Which part of itself an average or a ratio may be off.
_SHARE_OFF = Decimal("0.01")
#: So many differences are told; the others are counted.
_TOLD = 10


def answer_file(scale: float) -> str:
    """Where the expected answers at a scale are kept."""
    return os.path.join(_FOLDER, f"scale-{scale:g}.json.gz")


def expected(number: int, scale: float = 1.0) -> list[Row]:
    """The expected answer; raises `InputError` where there is none."""
    if scale not in SCALES:
        raise InputError(
            f"there are no expected answers at scale {scale:g}; validate at scale {' or '.join(f'{known:g}' for known in SCALES)}."
        )
    columns(number)
    return _answers(scale)[number]


def differences(number: int, rows: Iterable[Sequence[object]], scale: float = 1.0) -> list[str]:
    """What is wrong with an answer, a sentence each: query, row, column, expected, seen. Empty when it is right."""
    return differences_between(number, rows, expected(number, scale), scale)


def differences_between(number: int, rows: Iterable[Sequence[object]], right: Iterable[Sequence[object]], scale: float) -> list[str]:
    """The same, held against the answer ``right`` of another engine to the same question."""
    wanted = [tuple(map(written, row)) for row in right]
    found = list(_differences(number, [tuple(row) for row in rows], wanted, scale))
    told, more = found[:_TOLD], len(found) - _TOLD
    return [*told, f"query {number}: {more:,} more values differ."] if more > 0 else told


def _differences(number: int, rows: Sequence[Sequence[object]], right: Sequence[Row], scale: float) -> Iterable[str]:
    of_columns = columns(number)
    if len(rows) != len(right):
        yield f"query {number}: expected {_rows(len(right))}, seen {len(rows):,}."
    for position, (row, wanted) in enumerate(zip(rows, right, strict=False), 1):
        if len(row) != len(of_columns):
            yield f"query {number}, row {position:,}: expected {len(of_columns)} columns, seen {len(row)}."
            continue
        for column, seen, value in zip(of_columns, row, wanted, strict=True):
            if not _equal(column.kind, value, written(seen), scale):
                yield (
                    f"query {number}, row {position:,}, column {column.name}: "
                    f"expected {_shown(column, value)}, seen {_shown(column, written(seen))}."
                )


def written(value: object) -> str | None:
    """A value of whatever engine as text: numbers with all their digits, dates as ISO, text without blanks at its end."""
    if value is None:
        return None
    return (repr(value) if isinstance(value, float) else str(value)).rstrip()


def _equal(kind: Class, right: str | None, seen: str | None, scale: float) -> bool:
    if right is None or seen is None or kind == "str":
        return right == seen
    try:
        wanted, found = Decimal(right), Decimal(seen)
    except InvalidOperation:
        return False
    if not found.is_finite():
        return False
    off = abs(found - wanted)
    if kind == "sum":
        return off <= _SUM_OFF * min(Decimal(1), Decimal(repr(scale)))
    if kind in ("avg", "rat"):
        return off <= _SHARE_OFF * abs(wanted)
    return off == 0


def _shown(column: Column, value: str | None) -> str:
    return "nothing (NULL)" if value is None else quoted(value) if column.kind == "str" else value


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count:,} rows"


@cache
def _answers(scale: float) -> dict[int, list[Row]]:
    with gzip.open(answer_file(scale), "rt", encoding="utf-8") as file:
        stored = json.load(file)
    return {int(number): [tuple(row) for row in rows] for number, rows in stored["answers"].items()}
