"""Measured rows as a CSV file: a header, then a line per row, with what was asked for, and the requests per second or responses reached.

Model: the first line names the columns, ``iops`` or one of latencies (``p99_us``) among them. Lines that begin with # and empty lines are
left out. What columns mean is said in docs/arrays.md; here a line is only taken apart, and every line has as many cells as the header.
Limits: UTF-8 and commas.

    for number, cells in read("access,size_mb,block_kb,iops\\nrandom,2048,8,5975\\n", "rows.csv"):
        number, cells["iops"]          # 2, '5975'
"""

from __future__ import annotations

import csv
from collections.abc import Iterator

from plimsoll.analysis.array_fit.figure import RATE, latency_figure
from plimsoll.errors import InputError

_EXAMPLE = "size_mb,block_kb,threads,iops"


def read(text: str, source: str) -> list[tuple[int, dict[str, str]]]:
    """The rows with the numbers of their lines; `InputError` says which line is wrong."""
    lines = _lines(text, source)
    first = next(lines, None)
    if first is None:
        raise InputError(f"{source}:1: the file is empty; write a line of columns, for example {_EXAMPLE}, and rows below it.")
    number, header = first
    names = [name.strip().lower() for name in header]
    _check_header(names, f"{source}:{number}")
    rows = []
    for number, cells in lines:
        if len(cells) != len(names):
            raise InputError(
                f"{source}:{number}: the line has {len(cells)} cells and the first one {len(names)} columns; write one for each."
            )
        rows.append((number, {name: cell.strip() for name, cell in zip(names, cells, strict=True)}))
    if not rows:
        raise InputError(f"{source}:{number}: there is no row below the columns; write one per measured point.")
    return rows


def _lines(text: str, source: str) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(text.splitlines(), strict=True)
    while True:
        try:
            cells = next(reader, None)
        except csv.Error as problem:
            raise InputError(f"{source}:{reader.line_num}: not CSV ({problem}); separate cells by commas, with quotes closed.") from None
        if cells is None:
            return
        if any(cell.strip() for cell in cells) and not cells[0].lstrip().startswith("#"):
            yield reader.line_num, cells


def _check_header(names: list[str], place: str) -> None:
    if len(names) == 1 and any(mark in names[0] for mark in ";\t"):
        raise InputError(f"{place}: the columns are not separated by commas; write for example {_EXAMPLE}.")
    if RATE not in names and not any(map(latency_figure, names)):
        raise InputError(f"{place}: there is no column {RATE} with requests per second; write for example {_EXAMPLE}.")
    for name in names:
        if not name:
            raise InputError(f"{place}: a column has no name; write for example {_EXAMPLE}.")
        if names.count(name) > 1:
            raise InputError(f"{place}: the column {name} is there twice; leave one out.")
