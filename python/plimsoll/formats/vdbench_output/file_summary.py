"""Vdbench's summary of a run on file systems: requested operations, processor, reads and writes, and a pair of columns for every operation.

Model: numbers lose decimals before they widen a column, as in Vdbench. Operations that did not occur have no columns.
Source: published output of Vdbench 5.04; the project's notes on block tools describe the summary for devices only.

    for line in file_summary_lines(file_run_of(point, "tree"), averages_only=False): …
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from plimsoll.formats.vdbench_output.file_rows import FileRow, occurring
from plimsoll.formats.vdbench_output.rows import MAXIMUM_RATE, Run
from plimsoll.formats.vdbench_output.table import tod_of, used

_MB = 1 << 20
#: Groups of the first heading with their dots, and the width, decimals and heading of every column below.
_GROUPS = (
    (".ReqstdOps...", ((6, 1, "rate"), (6, 3, "resp"))),
    ("...cpu%...", ((5, 1, "total"), (4, 2, "sys"))),
    (" read", ((5, 1, "pct"),)),
    ("....read.....", ((6, 1, "rate"), (6, 3, "resp"))),
    ("....write....", ((6, 1, "rate"), (6, 3, "resp"))),
    ("..mb/sec...", ((5, 2, "read"), (5, 2, "write"))),
    ("mb/sec", ((6, 2, "total"),)),
    (".xfer..", ((7, 0, "size"),)),
)
_OF_OPERATION = ((5, 1, "rate"), (6, 3, "resp"))
_TIME, _INTERVAL = 12, 11


def file_summary_lines(run: Run[FileRow], *, averages_only: bool) -> Iterator[str]:
    """The lines of one run."""
    words = occurring(run)
    rate = "max" if run.asked_rate == MAXIMUM_RATE else f"{run.asked_rate:g}"
    yield f"{tod_of(run.started)} Starting RD={run.name}; elapsed={run.course.seconds:.0f}; fwdrate={rate}. For loops: None"
    yield ""
    groups = [*_GROUPS, *((_dotted(word), _OF_OPERATION) for word in words)]
    columns = [column for _, group in groups for column in group]
    yield " ".join([f"{run.started:%b %d, %Y}".ljust(_TIME), ".Interval.", *(name for name, _ in groups)])
    yield " " * (_TIME + _INTERVAL) + "".join(f" {name:>{width}}" for width, _, name in columns)
    for row in () if averages_only else run.intervals:
        yield _line(row, words, columns)
    yield _line(run.average, words, columns)


def _dotted(word: str) -> str:
    return word.center(12, ".")


def _line(row: FileRow, words: Sequence[str], columns: Sequence[tuple[int, int, str]]) -> str:
    read, write, requested = row.figures["read"], row.figures["write"], row.requested
    values = [
        *(requested.rate, requested.response.mean or 0.0),
        *(used(row.cpu) or 0.0, row.cpu.get("system_percent", 0.0), row.read_percent),
        *(read.rate, read.response.mean or 0.0, write.rate, write.response.mean or 0.0),
        *(read.bytes_per_s / _MB, write.bytes_per_s / _MB, (read.bytes_per_s + write.bytes_per_s) / _MB, row.transfer_bytes),
        *(figure for word in words for figure in (row.figures[word].rate, row.figures[word].response.mean or 0.0)),
    ]
    cells = "".join(f" {_fitted(value, width, decimals)}" for value, (width, decimals, _) in zip(values, columns, strict=True))
    return f"{tod_of(row.when)}{row.label:>{_INTERVAL}}{cells}"


def _fitted(value: float, width: int, decimals: int) -> str:
    """A number with as many of its decimals as the column has room for."""
    for places in range(decimals, 0, -1):
        text = f"{value:{width}.{places}f}"
        if len(text) <= width:
            return text
    return f"{value:{width}.0f}"
