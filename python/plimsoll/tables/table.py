"""A table: columns that say what they hold, and rows of values; out of it into CSV, Parquet and data frames.

Model: a value is text, a number, true or false, or None where there is none. Plimsoll does not require pyarrow, pandas and polars; each is
imported when it is asked for, and a sentence says how to install what is missing.
Limits: everything is in memory; a table has a row per point and operation, so a run of ten thousand points needs some 20 MB.

    table = points_table([open_run("results/r1")])
    table.to_pandas().pivot_table(index="threads", columns="side", values="iops")
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from plimsoll.displayed import displayed, displayed_in_line, encoded
from plimsoll.errors import InputError
from plimsoll.tables.column import NUMBER, TEXT, TRUTH, Column, Value

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

#: What a formula begins with (OWASP, "CSV Injection"); a tab or carriage return before it is escaped already.
_FORMULAS = ("=", "+", "-", "@")


@dataclass(frozen=True)
class Table:
    """``rows`` have a value for each of ``columns``, in their order."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Value, ...], ...]

    def __len__(self) -> int:
        """How many rows there are."""
        return len(self.rows)

    def __add__(self, other: Table) -> Table:
        """The rows of both; a column that one of them lacks is empty there."""
        names = {column.name for column in self.columns}
        columns = (*self.columns, *(column for column in other.columns if column.name not in names))
        return Table(columns, tuple(tuple(row.get(column.name) for column in columns) for row in (*self.to_dicts(), *other.to_dicts())))

    def to_dicts(self) -> list[dict[str, Value]]:
        """A dictionary per row, by the names of the columns."""
        names = [column.name for column in self.columns]
        return [dict(zip(names, row, strict=True)) for row in self.rows]

    def to_arrow(self) -> pyarrow.Table:
        """The table as Arrow has it, shape rows × columns: string, double, int64 and bool; the metadata of a field has unit and meaning.

        Raises `InputError` where pyarrow is not installed.
        """
        arrow = needed("pyarrow", "to_arrow()")
        types = {TEXT: arrow.string(), NUMBER: arrow.float64(), TRUTH: arrow.bool_()}
        fields = [
            arrow.field(one.name, types.get(one.holds, arrow.int64()), metadata={"unit": one.unit, "meaning": one.meaning})
            for one in self.columns
        ]
        arrays = [arrow.array(values, field.type) for values, field in zip(self._by_column(), fields, strict=True)]
        return arrow.Table.from_arrays(arrays, schema=arrow.schema(fields))

    def to_pandas(self) -> pandas.DataFrame:
        """The table as a data frame, shape rows × columns: str, Float64, Int64 and boolean, with <NA> where there is no value.

        Raises `InputError` where pandas is not installed.
        """
        pandas = needed("pandas", "to_pandas()")
        types = {TEXT: "string", NUMBER: "Float64", TRUTH: "boolean"}
        series = {
            column.name: pandas.array(values, dtype=types.get(column.holds, "Int64"))
            for column, values in zip(self.columns, self._by_column(), strict=True)
        }
        return pandas.DataFrame(series)

    def to_polars(self) -> polars.DataFrame:
        """The table as a polars data frame, shape rows × columns: String, Float64, Int64 and Boolean, with null where there is no value.

        Raises `InputError` where polars is not installed.
        """
        made = needed("polars", "to_polars()")
        types = {TEXT: made.String, NUMBER: made.Float64, TRUTH: made.Boolean}
        schema = {column.name: types.get(column.holds, made.Int64) for column in self.columns}
        frame: polars.DataFrame = made.DataFrame(dict(zip(schema, self._by_column(), strict=True)), schema=schema)
        return frame

    def csv(self) -> bytes:
        """CSV with a head; a value that is none is empty, truths are ``true`` and ``false``."""
        return csv_text([column.name for column in self.columns], self.rows)

    def parquet(self) -> bytes:
        """A file of Parquet. Raises `InputError` where pyarrow is not installed."""
        needed("pyarrow", "Parquet")
        writer = needed("pyarrow.parquet", "Parquet")
        buffer = io.BytesIO()
        writer.write_table(self.to_arrow(), buffer)
        return buffer.getvalue()

    def _by_column(self) -> list[list[Any]]:
        """The values of each column, as it holds them."""
        each = zip(*self.rows, strict=True) if self.rows else ((),) * len(self.columns)
        return [[_held(value, column) for value in values] for column, values in zip(self.columns, each, strict=True)]


def needed(package: str, what: str) -> Any:
    """The package; raises `InputError` that says how to install it where it is missing."""
    try:
        return import_module(package)
    except ImportError:
        name = package.partition(".")[0]
        raise InputError(f"{what} needs the package {name}, which is not installed here; install it ('pip install {name}').") from None


def csv_text(names: Sequence[str], rows: Iterable[Sequence[object]]) -> bytes:
    """CSV of any rows, with names that spreadsheets take for text."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(names)
    writer.writerows([csv_cell(value) for value in row] for row in rows)
    return encoded(buffer.getvalue())


def csv_cell(value: object) -> object:
    """A name that a spreadsheet would take for a formula gets the apostrophe that makes it text there; numbers are numbers."""
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str):
        return value
    text = displayed_in_line(value)
    return f"'{text}" if text.startswith(_FORMULAS) and not _is_number(text) else text


def _held(value: Value, column: Column) -> Value:
    if value is None:
        return None
    if column.holds == NUMBER:
        return float(value)
    return displayed(str(value)) if column.holds == TEXT else value


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
