"""Parquet files of the decision-support load, read by those who read Parquet: pyarrow, DuckDB and Polars see the rows of the COPY text."""

from __future__ import annotations

import io
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from pathlib import Path

import duckdb
import polars
import pyarrow.parquet
import pytest

from plimsoll.decision import data
from plimsoll.errors import InputError, TargetError


@pytest.fixture(scope="module", autouse=True)
def _source() -> Iterator[None]:
    with data.kept():
        yield


def _file(table: str, scale: float = 0.01) -> bytes:
    return b"".join(data.parquet(table, scale))


def _values(table: str, scale: float = 0.01, **part: int) -> list[tuple[object, ...]]:
    """The rows of the COPY text, as Python's values."""
    reads = {"bigint": int, "integer": int, "decimal(15,2)": Decimal, "date": date.fromisoformat}
    columns = [reads.get(column.type, str) for column in data.TABLES[table].columns]
    lines = b"".join(data.copy_text(table, scale, **part)).decode().splitlines()
    return [tuple(read(value) for read, value in zip(columns, line.split("\t"), strict=True)) for line in lines]


@pytest.mark.parametrize("table", data.TABLES)
def test_every_reader_sees_the_rows_of_the_copy_text(table: str, tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    path.write_bytes(_file(table))
    rows = _values(table)
    assert duckdb.sql(f"SELECT * FROM '{path}'").fetchall() == rows
    assert polars.read_parquet(path).rows() == rows
    read = pyarrow.parquet.read_table(path)
    assert list(zip(*(column.to_pylist() for column in read.columns), strict=True)) == rows


def test_a_file_of_several_groups_keeps_rows_and_order() -> None:
    file = pyarrow.parquet.ParquetFile(io.BytesIO(_file("orders", 0.1)))
    assert [file.metadata.row_group(index).num_rows for index in range(file.num_row_groups)] == [120_000, 30_000]
    read = polars.from_arrow(file.read())
    assert isinstance(read, polars.DataFrame)
    assert read.rows() == _values("orders", 0.1)


def test_columns_have_the_types_of_the_table_and_are_never_null() -> None:
    types = {"bigint": "int64", "integer": "int32", "decimal(15,2)": "decimal128(15, 2)", "date": "date32[day]"}
    for name, table in data.TABLES.items():
        schema = pyarrow.parquet.read_schema(io.BytesIO(_file(name)))
        found = [(field.name, str(field.type), field.nullable) for field in schema]
        assert found == [(column.name, types.get(column.type, "string"), False) for column in table.columns]


def test_the_file_says_the_least_and_the_most_of_every_column_of_numbers_and_days() -> None:
    file = pyarrow.parquet.ParquetFile(io.BytesIO(_file("lineitem")))
    rows = _values("lineitem")
    for index, column in enumerate(data.TABLES["lineitem"].columns):
        said = file.metadata.row_group(0).column(index).statistics
        values = [row[index] for row in rows]
        assert said.null_count == 0
        if "char" not in column.type:
            assert (said.min, said.max) == (min(values), max(values)), column.name


def test_a_part_is_a_file_of_its_own_and_all_parts_are_the_table(tmp_path: Path) -> None:
    paths = [data.write_parquet("orders", 0.05, str(tmp_path), part=part, parts=3) for part in (1, 2, 3)]
    assert paths == [str(tmp_path / "orders" / f"orders.{part}.parquet") for part in (1, 2, 3)]
    assert [row for path in paths for row in polars.read_parquet(path).rows()] == _values("orders", 0.05)
    assert sorted(path.name for path in (tmp_path / "orders").iterdir()) == ["orders.1.parquet", "orders.2.parquet", "orders.3.parquet"]


def test_a_part_without_rows_is_a_file_without_rows(tmp_path: Path) -> None:
    path = data.write_parquet("region", 0.01, str(tmp_path), part=1, parts=4)
    assert duckdb.sql(f"SELECT count(*), count(r_name) FROM '{path}'").fetchall() == [(0, 0)]


def test_a_file_that_cannot_be_written_leaves_nothing_and_says_why(tmp_path: Path) -> None:
    (tmp_path / "region.parquet").mkdir()
    with pytest.raises(TargetError, match=r"region\.parquet: cannot be written \(is a directory\)"):
        data.write_parquet("region", 0.01, str(tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["region.parquet"]


def test_nothing_is_written_of_a_table_that_there_is_not(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="table 'regions' is not known"):
        data.write_parquet("regions", 0.01, str(tmp_path))
    assert not list(tmp_path.iterdir())
