"""An answer is held against the one on which two engines agreed: what may differ does, and what may not is told with its place."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from decimal import Decimal

import pytest

from plimsoll.decision.queries import QUERIES, columns
from plimsoll.decision.validation import SCALES, Row, differences, expected
from plimsoll.errors import InputError

#: Rows of the answers at scale 1, as the TPC publishes them.
ROWS = {1: 4, 2: 100, 3: 10, 4: 5, 5: 5, 6: 1, 7: 4, 8: 2, 9: 175, 10: 20, 11: 1048} | {
    12: 2,
    13: 42,
    14: 1,
    15: 1,
    16: 18314,
    17: 1,
    18: 57,
}
ROWS |= {19: 1, 20: 186, 21: 100, 22: 7}


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("number", QUERIES)
def test_an_expected_answer_has_the_columns_of_its_query_and_is_right(number: int, scale: float) -> None:
    rows = expected(number, scale)
    assert rows
    assert {len(row) for row in rows} == {len(columns(number))}
    assert differences(number, rows, scale) == []


def test_the_answers_at_scale_1_have_as_many_rows_as_those_published() -> None:
    assert {number: len(expected(number)) for number in QUERIES} == ROWS


@pytest.mark.parametrize(
    ("number", "first"),
    [
        # First rows of the TPC's answer set, whose figures have two decimals.
        (1, ("A", "F", "37734107.00", "56586554400.73", "53758257134.87", "55909065222.83", "25.52", "38273.13", "0.05", "1478493")),
        (6, ("123141078.23",)),
        (11, ("129760", "17538456.86")),
        (14, ("16.38",)),
        (15, ("8449", "Supplier#000008449", "Wp34zim9qYFbVctdW", "20-469-856-8873", "1772627.21")),
        (18, ("Customer#000128120", "128120", "4722021", "1994-04-07", "544089.09", "323.00")),
        (22, ("13", "888", "6737713.99")),
    ],
)
def test_the_first_row_is_the_one_that_is_published(number: int, first: Row) -> None:
    assert differences(number, [first, *expected(number)[1:]]) == []


def test_values_are_taken_as_engines_give_them() -> None:
    rows = [
        ("Customer#000128120     ", 128120, 4722021, date(1994, 4, 7), Decimal("544089.090"), 323.0),
        *expected(18)[1:],
    ]
    assert differences(18, rows) == []


def _changed(number: int, row: int, column: str, change: Callable[[str], object], scale: float = 1.0) -> list[str]:
    names = [each.name for each in columns(number)]
    rows: list[list[object]] = [list(each) for each in expected(number, scale)]
    rows[row][names.index(column)] = change(str(rows[row][names.index(column)]))
    return differences(number, rows, scale)


@pytest.mark.parametrize(
    ("number", "row", "column", "change", "sentence"),
    [
        (6, 0, "revenue", lambda v: float(v) + 101, "query 6, row 1, column revenue: expected 123141078.2283, seen 123141179.2283."),
        (11, 0, "ps_partkey", lambda v: v[:4], "query 11, row 1, column ps_partkey: expected 129760, seen 1297."),
        (13, 1, "customers", lambda v: int(v) + 1, "query 13, row 2, column customers: expected 6641, seen 6642."),
        (1, 0, "quantity", lambda v: int(v) + 1, "query 1, row 1, column quantity: expected 37734107, seen 37734108."),
        (14, 0, "promotion_percent", lambda v: 16.6, "query 14, row 1, column promotion_percent: expected 16.38077863, seen 16.6."),
        (20, 5, "s_name", lambda v: v.lower(), "query 20, row 6, column s_name: expected 'Supplier#000000354', seen 'supplier#000000354'."),
        (15, 0, "revenue", lambda v: None, "query 15, row 1, column revenue: expected 1772627.2087, seen nothing (NULL)."),
        (15, 0, "revenue", lambda v: float("nan"), "query 15, row 1, column revenue: expected 1772627.2087, seen nan."),
        (4, 0, "late_orders", lambda v: "many", "query 4, row 1, column late_orders: expected 10594, seen many."),
    ],
)
def test_a_wrong_value_is_told_with_query_row_column_expected_and_seen(number, row, column, change, sentence) -> None:
    assert _changed(number, row, column, change) == [sentence]


@pytest.mark.parametrize(
    ("number", "column", "change"),
    [
        (6, "revenue", lambda v: float(v) + 99.9),
        (14, "promotion_percent", lambda v: float(v) * 1.0099),
        (17, "yearly_revenue", lambda v: float(v) * 0.9901),
    ],
)
def test_sums_and_divisions_may_be_off_by_what_the_specification_allows(number, column, change) -> None:
    assert _changed(number, 0, column, change) == []


def test_at_a_small_scale_a_sum_may_be_off_by_a_small_part_only() -> None:
    assert _changed(6, 0, "revenue", lambda v: float(v) + 0.9, 0.01) == []
    assert len(_changed(6, 0, "revenue", lambda v: float(v) + 1.1, 0.01)) == 1


def test_every_query_sees_a_wrong_value_in_every_column() -> None:
    for number in QUERIES:
        for column in columns(number):
            assert _changed(number, -1, column.name, lambda v: f"{v}x" if column.kind == "str" else float(v) * 1.02 + 101), (number, column)  # noqa: B023


def test_a_row_too_few_or_too_many_is_seen() -> None:
    rows = expected(22)
    assert differences(22, rows[:-1]) == ["query 22: expected 7 rows, seen 6."]
    assert differences(22, [*rows, rows[0]]) == ["query 22: expected 7 rows, seen 8."]
    assert differences(6, []) == ["query 6: expected 1 row, seen 0."]


def test_rows_in_another_order_are_wrong() -> None:
    rows = expected(21)
    assert len(differences(21, [rows[1], rows[0], *rows[2:]])) == 4


def test_a_column_that_is_missing_is_seen() -> None:
    assert differences(6, [(1, 2)]) == ["query 6, row 1: expected 1 columns, seen 2."]


def test_an_answer_that_is_wrong_throughout_is_told_in_ten_sentences_and_a_count() -> None:
    said = differences(16, [("", "", 0, 0)] * 18314)
    assert len(said) == 11
    assert said[-1] == f"query 16: {4 * 18314 - 10:,} more values differ."


def test_a_scale_without_answers_is_refused() -> None:
    with pytest.raises(InputError, match=r"no expected answers at scale 10; validate at scale 0\.01 or 1"):
        expected(6, 10)
