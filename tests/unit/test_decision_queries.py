"""The 22 queries of decision support: their texts are whole in every dialect, and no value becomes anything but a literal."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest
import sqlglot
from sqlglot import exp

from plimsoll.decision.page import queries_page
from plimsoll.decision.queries import QUERIES, Parameters, asks, columns, qualification, query, text
from plimsoll.errors import InputError

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "queries.md"
#: The columns of the tables that queries name, as their specification has them.
TABLES = {
    "region": "r_regionkey BIGINT, r_name VARCHAR, r_comment VARCHAR",
    "nation": "n_nationkey BIGINT, n_name VARCHAR, n_regionkey BIGINT, n_comment VARCHAR",
    "supplier": "s_suppkey BIGINT, s_name VARCHAR, s_address VARCHAR, s_nationkey BIGINT, s_phone VARCHAR, s_acctbal DECIMAL(15,2), s_comment VARCHAR",
    "customer": "c_custkey BIGINT, c_name VARCHAR, c_address VARCHAR, c_nationkey BIGINT, c_phone VARCHAR, c_acctbal DECIMAL(15,2), "
    "c_mktsegment VARCHAR, c_comment VARCHAR",
    "part": "p_partkey BIGINT, p_name VARCHAR, p_mfgr VARCHAR, p_brand VARCHAR, p_type VARCHAR, p_size INTEGER, p_container VARCHAR, "
    "p_retailprice DECIMAL(15,2), p_comment VARCHAR",
    "partsupp": "ps_partkey BIGINT, ps_suppkey BIGINT, ps_availqty INTEGER, ps_supplycost DECIMAL(15,2), ps_comment VARCHAR",
    "orders": "o_orderkey BIGINT, o_custkey BIGINT, o_orderstatus VARCHAR, o_totalprice DECIMAL(15,2), o_orderdate DATE, o_orderpriority VARCHAR, "
    "o_clerk VARCHAR, o_shippriority INTEGER, o_comment VARCHAR",
    "lineitem": "l_orderkey BIGINT, l_partkey BIGINT, l_suppkey BIGINT, l_linenumber INTEGER, l_quantity DECIMAL(15,2), "
    "l_extendedprice DECIMAL(15,2), l_discount DECIMAL(15,2), l_tax DECIMAL(15,2), l_returnflag VARCHAR, l_linestatus VARCHAR, l_shipdate DATE, "
    "l_commitdate DATE, l_receiptdate DATE, l_shipinstruct VARCHAR, l_shipmode VARCHAR, l_comment VARCHAR",
}
#: Rows that an answer has at most (application-level reference, 1.8).
LIMITS = {2: 100, 3: 10, 10: 20, 18: 100, 21: 100}


@pytest.fixture(scope="module")
def empty() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    for table, declared in TABLES.items():
        connection.execute(f"CREATE TABLE {table} ({declared})")
    return connection


@pytest.mark.parametrize("number", QUERIES)
def test_an_engine_understands_every_text_and_answers_with_the_columns_declared(number: int, empty: duckdb.DuckDBPyConnection) -> None:
    asked = empty.execute(text(number, qualification()[number]))
    assert [name for name, *_ in asked.description or []] == [column.name for column in columns(number)]


@pytest.mark.parametrize("dialect", ["postgres", "spark"])
@pytest.mark.parametrize("number", QUERIES)
def test_a_translation_is_one_statement_of_its_dialect_on_the_same_tables(number: int, dialect: str) -> None:
    values = qualification()[number]
    [statement] = sqlglot.parse(text(number, values, dialect), read=dialect)
    [original] = sqlglot.parse(text(number, values), read="duckdb")
    assert isinstance(statement, exp.Query)
    assert _tables(statement) == _tables(original)
    assert _literals(statement) >= {str(value) for value in _flat(values) if not str(value).isdigit()}


def _flat(values: Parameters) -> list[object]:
    return [each for value in values.values() for each in (value if isinstance(value, list) else [value])]


def _tables(statement: exp.Expression | None) -> set[str]:
    assert statement is not None
    return {table.name for table in statement.find_all(exp.Table)}


def _literals(statement: exp.Expression) -> set[str]:
    return {literal.name for literal in statement.find_all(exp.Literal)}


@pytest.mark.parametrize("number", QUERIES)
def test_no_place_of_a_value_is_left_open(number: int) -> None:
    assert "$" not in text(number, qualification()[number])
    assert {f"${name}" for name in query(number).parameters} == set(re.findall(r"\$\w+", query(number).text))


@pytest.mark.parametrize("number", QUERIES)
def test_an_answer_has_at_most_the_rows_of_its_limit(number: int) -> None:
    limit = sqlglot.parse_one(text(number, qualification()[number]), read="duckdb").args.get("limit")
    assert (int(limit.expression.name) if limit else None) == LIMITS.get(number)


@pytest.mark.parametrize("number", QUERIES)
def test_every_query_says_what_it_asks_in_one_question(number: int) -> None:
    said = asks(number)
    assert said.endswith("?")
    assert said.count("?") == 1
    assert said[0].isupper()


@pytest.mark.parametrize(
    ("number", "values", "sentence"),
    [
        (
            6,
            {"discount": "0.06; DROP TABLE orders"},
            "query 6: discount is '0.06; DROP TABLE orders', where a decimal such as 0.06 should stand.",
        ),
        (9, {"colour": "gr%en"}, "query 9: colour is 'gr%en', where a word such as green should stand."),
        (4, {"date": "1993-13-01"}, "query 4: date is '1993-13-01', where a date such as 1994-01-01 should stand."),
        (1, {"delta": -90}, "query 1: delta is '-90', where an integer such as 24 should stand."),
        (16, {"sizes": [49, "14)"]}, "query 16: sizes is '14)', where integers such as 49 should stand."),
        (3, {"day": "1995-03-15"}, "query 3: values are given for segment, date and day, but it takes segment and date."),
    ],
)
def test_a_value_that_is_not_of_its_kind_is_refused_in_a_sentence(number: int, values: Parameters, sentence: str) -> None:
    with pytest.raises(InputError) as refused:
        text(number, {**qualification()[number], **values})
    assert str(refused.value) == sentence


def test_there_are_22_queries() -> None:
    with pytest.raises(InputError, match="query 23 is unknown; queries are numbered from 1 to 22"):
        text(23, {})


@pytest.mark.parametrize("dialect", ["duckdb", "postgres", "spark"])
@pytest.mark.parametrize("value", ["O'Neil' OR 1=1 --", "back\\slash'", "$region", "{type}"])
def test_text_of_a_value_stays_a_literal_in_every_dialect(dialect: str, value: str) -> None:
    [statement] = sqlglot.parse(text(5, {"region": value, "date": "1994-01-01"}, dialect), read=dialect)
    assert statement is not None
    assert value in _literals(statement)
    assert _tables(statement) == {"region", "nation", "customer", "orders", "lineitem", "supplier"}


def test_an_unknown_dialect_is_refused_with_the_nearest() -> None:
    with pytest.raises(InputError, match="dialect 'postgresql' is unknown; did you mean 'postgres'"):
        text(6, qualification()[6], "postgresql")


def test_the_fraction_of_query_11_shrinks_as_the_data_grow() -> None:
    assert [qualification(scale)[11]["fraction"] for scale in (0.01, 1.0, 300.0)] == ["0.0100000000", "0.0001000000", "0.0000003333"]


def test_texts_of_duckdb_need_no_translator_and_others_name_it_when_it_is_missing() -> None:
    code = (
        "import sys; sys.modules['sqlglot'] = None\n"
        "from plimsoll.decision.queries import qualification, text\n"
        "text(1, qualification()[1])\n"
        "try: text(1, qualification()[1], 'postgres')\n"
        "except Exception as error: print(type(error).__name__, error)\n"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said == (
        "InputError queries for postgres need the package sqlglot, which is not installed here; install it (pip install 'plimsoll[postgresql]').\n"
    )


def test_the_reference_page_is_up_to_date() -> None:
    if os.environ.get("PLIMSOLL_RENEW"):
        PAGE.write_text(queries_page(), encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == queries_page()
