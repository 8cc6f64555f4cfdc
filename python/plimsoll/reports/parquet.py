"""Every number of a report as a Parquet file, for data frames: the rows of `plimsoll.reports.csv` in typed columns.

Model: the columns of the CSV, with ``value`` split in two: ``value`` holds numbers, ``text`` what is no number. Needs pyarrow, which
Plimsoll does not require.

    write([open_run("results/r1")], "r1.parquet")
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from plimsoll.displayed import displayed
from plimsoll.errors import InputError
from plimsoll.reports import csv
from plimsoll.store.durable import replace_file
from plimsoll.store.reader import StoredRun


def write(runs: Sequence[StoredRun], path: str) -> None:
    """Write the table of ``runs`` to ``path``, at once. Raises `InputError` where pyarrow is not installed."""
    try:
        pyarrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError:
        raise InputError("Parquet needs the package pyarrow, which is not installed here; install it, or export csv.") from None
    columns = _columns(runs)
    made = pyarrow.table({name: pyarrow.array(values, _type(pyarrow, name)) for name, values in columns.items()})
    buffer = io.BytesIO()
    parquet.write_table(made, buffer)
    replace_file(path, buffer.getvalue())


def _type(pyarrow: Any, name: str) -> Any:
    return {"value": pyarrow.float64(), "repeat": pyarrow.int64()}.get(name, pyarrow.string())


def _columns(runs: Sequence[StoredRun]) -> dict[str, list[Any]]:
    """The rows of the CSV, column by column."""
    columns: dict[str, list[Any]] = {name: [] for name in (*csv.COLUMNS, "text")}
    for values in csv.rows(runs):
        row = {name: "" if value is None else displayed(str(value)) for name, value in zip(csv.COLUMNS, values, strict=True)}
        number = _number(row["value"])
        row["text"] = row["value"] if number is None else ""
        for name, column in columns.items():
            column.append(number if name == "value" else _whole(row[name]) if name == "repeat" else row[name])
    return columns


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _whole(text: str) -> int | None:
    return int(text) if text.isdecimal() else None
