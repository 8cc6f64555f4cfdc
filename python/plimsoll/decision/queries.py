"""The 22 queries: what each asks, its text with parameters filled in, and the columns of its answer.

Model: ``queries.toml`` holds one text per query, in DuckDB's dialect, with $NAME where a parameter goes. A value is checked against the
kind of its parameter and written as a literal, then the whole text is translated, so that no value can become anything but a literal. Query
15 is one statement like the others: a named subquery in place of a view. So streams do not share a name, a query needs no right to create
anything, and a killed run leaves nothing behind.
Limits: the translator, sqlglot, is imported with the first text that is not DuckDB's. A text is translated once for each set of values.

    asks(6)                                             # "How much more revenue would …"
    text(6, {"date": "1994-01-01", "discount": "0.06", "quantity": 24}, "postgres")     # "SELECT SUM(l_extendedprice * l_discount) AS …"
    qualification(300.0)[11]                            # {"nation": "GERMANY", "fraction": "0.0000003333"}
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from types import ModuleType
from typing import Literal, get_args

from plimsoll.displayed import quoted
from plimsoll.errors import InputError
from plimsoll.near import listed, meant
from plimsoll.records import dataclass

#: Their numbers.
QUERIES = range(1, 23)
#: What a text can be written in.
Dialect = Literal["duckdb", "postgres", "spark"]
#: The values of a query by name.
Parameters = Mapping[str, object]
#: How engines may differ in a column of an answer (`plimsoll.decision.validation`).
Class = Literal["str", "int", "num", "cnt", "sum", "avg", "rat"]

_FILE = os.path.join(os.path.dirname(__file__), "queries.toml")
_PLACE = re.compile(r"\$([a-z]+[0-9]*)")
#: What a value of each kind looks like, an example, and how it is written.
_KINDS: dict[str, tuple[str, str, str]] = {
    "integer": (r"[0-9]{1,9}", "24", "{}"),
    "decimal": (r"[0-9]{0,9}\.?[0-9]{1,12}", "0.06", "{}"),
    "date": (r"[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])", "1994-01-01", "DATE '{}'"),
    # These become part of a pattern.
    "word": (r"[A-Za-z]+", "green", "'{}'"),
    "words": (r"[A-Za-z]+( [A-Za-z]+)*", "MEDIUM POLISHED", "'{}'"),
    "text": (r"[^\x00-\x1f]+", "Brand#12", "'{}'"),
    # Of these a parameter has several values.
    "integers": (r"[0-9]{1,9}", "49", "{}"),
    "digits": (r"[0-9]+", "13", "'{}'"),
}
#: What stands for several values in a text.
_SEVERAL = ("integers", "digits")
#: The parameter of query 11 that shrinks as the data grow.
_FRACTION, _SHRINKING = 11, "fraction"
_TRANSLATED_MAX = 4096


@dataclass(frozen=True)
class Column:
    """A column of an answer, and how far it may be from what is expected."""

    name: str
    kind: Class


@dataclass(frozen=True)
class Query:
    """A query as it is declared; ``parameters`` are names with their kinds."""

    number: int
    asks: str
    parameters: Mapping[str, str]
    qualification: Parameters
    columns: tuple[Column, ...]
    text: str


def query(number: int) -> Query:
    """The declaration of one query; raises `InputError` where there is none of that number."""
    found = _queries().get(number)
    if found is None:
        raise InputError(f"query {number} is unknown; queries are numbered from {QUERIES[0]} to {QUERIES[-1]}.")
    return found


def asks(number: int) -> str:
    """What a query asks, in one sentence."""
    return query(number).asks


def columns(number: int) -> tuple[Column, ...]:
    """The columns of its answer."""
    return query(number).columns


def qualification(scale: float = 1.0) -> dict[int, Parameters]:
    """For each query the values with which its answer is checked; of query 11, one depends on the scale of the data."""
    found = {number: query(number).qualification for number in QUERIES}
    fraction = float(str(found[_FRACTION][_SHRINKING])) / scale
    return {**found, _FRACTION: {**found[_FRACTION], _SHRINKING: f"{fraction:.10f}"}}


def text(number: int, values: Parameters, dialect: str = "duckdb") -> str:
    """One statement, without a semicolon: the query with ``values`` by the names of its parameters.

    Raises `InputError` for values that are not what the query takes, an unknown dialect, or a dialect without sqlglot.
    """
    if dialect not in get_args(Dialect):
        raise InputError(f"dialect {quoted(dialect)} is unknown; {meant(dialect, get_args(Dialect))}")
    filled = _filled(query(number), values)
    return filled if dialect == "duckdb" else _translated(filled, dialect)


def _filled(asked: Query, values: Parameters) -> str:
    if values.keys() != asked.parameters.keys():
        raise InputError(f"query {asked.number}: values are given for {_named(values)}, but it takes {_named(asked.parameters)}.")
    literals = {name: _literals(asked, name, values[name]) for name in asked.parameters}
    return _PLACE.sub(lambda place: literals[place[1]], asked.text)


def _named(values: Iterable[str]) -> str:
    return listed(list(values), "and") or "none"


def _literals(asked: Query, name: str, value: object) -> str:
    """One value as a literal, several as a list of them."""
    several = value if isinstance(value, list | tuple) and asked.parameters[name] in _SEVERAL else [value]
    return ", ".join(_literal(asked, name, each) for each in several)


def _literal(asked: Query, name: str, value: object) -> str:
    kind = asked.parameters[name]
    form, example, written = _KINDS[kind]
    plain = str(value)
    if not re.fullmatch(form, plain):
        raise InputError(f"query {asked.number}: {name} is {quoted(plain)}, where {_article(kind)} such as {example} should stand.")
    return written.format(plain.replace("'", "''"))


def _article(kind: str) -> str:
    if kind in ("words", "text", *_SEVERAL):
        return kind
    return f"{'an' if kind == 'integer' else 'a'} {kind}"


def translator(dialect: str) -> ModuleType:
    """The package sqlglot, imported where a dialect needs it. Raises `InputError` with what to install."""
    try:
        import sqlglot
    except ImportError:
        extra = "postgresql" if dialect == "postgres" else dialect
        raise InputError(
            f"queries for {dialect} need the package sqlglot, which is not installed here; install it (pip install 'plimsoll[{extra}]')."
        ) from None
    return sqlglot


@lru_cache(maxsize=_TRANSLATED_MAX)
def _translated(filled: str, dialect: str) -> str:
    sqlglot = translator(dialect)
    (statement,) = sqlglot.transpile(filled, read="duckdb", write=dialect, pretty=True)
    return str(statement)


@cache
def _queries() -> Mapping[int, Query]:
    with open(_FILE, "rb") as file:
        found = tomllib.load(file)["query"]
    return {
        each["number"]: Query(
            each["number"],
            each["asks"],
            each["parameters"],
            each["qualification"],
            tuple(Column(*declared.split()) for declared in each["columns"]),
            each["text"].strip(),
        )
        for each in found
    }
