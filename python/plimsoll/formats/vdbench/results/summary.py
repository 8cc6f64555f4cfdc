"""Vdbench's summary (every interval), totals (the averages alone) and status file, as people and scripts read them.

Model: of workloads on devices thirteen columns under two lines of heading, the first of which begins with the date; each run begins with a
line that names it. Of workloads on file systems requested operations, processor, reads and writes, and a pair of columns for every
operation that occurred; numbers lose decimals before they widen a column, as in Vdbench. The status file has tab-separated events in order,
with the instants at which ours began, left the warm-up and ended; other programs wait for a run by them.
Source: for file systems published output of Vdbench 5.04.

    for line in summary_lines(run_of(point, "oltp-db"), averages_only=False): …
    for line in file_summary_lines(file_run_of(point, "tree"), averages_only=False): …
    status_text([run_of(point, "oltp-db")])
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

from plimsoll.formats.vdbench.results.file_rows import FileRow, occurring
from plimsoll.formats.vdbench.results.rows import MAXIMUM_RATE, Row, Run, tod_of, used, when_of

_MB = 1 << 20
_FIRST = (
    ("interval", 13),
    ("i/o", 11),
    ("MB/sec", 10),
    ("bytes", 8),
    ("read", 7),
    ("resp", 9),
    ("read", 9),
    ("write", 9),
    ("resp", 9),
    ("resp", 9),
    ("queue", 7),
    ("cpu%", 6),
    ("cpu%", 6),
)
_SECOND = ("", "rate", "1024**2", "i/o", "pct", "time", "resp", "resp", "max", "stddev", "depth", "sys+u", "sys")


def summary_lines(run: Run[Row], *, averages_only: bool) -> Iterator[str]:
    """The lines of one run."""
    rate = "Uncontrolled MAX" if run.asked_rate == MAXIMUM_RATE else f"{run.asked_rate:.2f}"
    seconds = run.course.seconds
    yield f"{tod_of(run.started)} Starting RD={run.name}; I/O rate: {rate}; elapsed={seconds:.0f}; For loops: None"
    yield ""
    yield f"{run.started:%b %d, %Y}".ljust(12) + "".join(name.rjust(width) for name, width in _FIRST)
    yield " " * 12 + "".join(name.rjust(width) for name, (_, width) in zip(_SECOND, _FIRST, strict=True))
    for row in () if averages_only else run.intervals:
        yield _device_line(row)
    yield _device_line(run.average)


def _device_line(row: Row) -> str:
    cpu = row.cpu
    used = cpu.get("user_percent", 0.0) + cpu.get("system_percent", 0.0)
    cells = (
        row.label,
        f"{row.rate:.2f}",
        f"{row.bytes_per_s / _MB:.2f}",
        f"{row.bytes_per_io:.0f}",
        f"{row.read_percent:.2f}",
        _ms(row.both.mean),
        _ms(row.reads.mean),
        _ms(row.writes.mean),
        _ms(row.both.max),
        _ms(row.both.std),
        f"{row.queue_depth:.1f}",
        f"{used:.1f}",
        f"{cpu.get('system_percent', 0.0):.1f}",
    )
    return tod_of(row.when) + "".join(cell.rjust(width) for cell, (_, width) in zip(cells, _FIRST, strict=True))


def _ms(value: float | None) -> str:
    return "n/a" if value is None else f"{value:.3f}"


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
        yield _file_line(row, words, columns)
    yield _file_line(run.average, words, columns)


def _dotted(word: str) -> str:
    return word.center(12, ".")


def _file_line(row: FileRow, words: Sequence[str], columns: Sequence[tuple[int, int, str]]) -> str:
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


def status_text(runs: Sequence[Run[Any]]) -> str:
    """The whole file."""
    lines = ["* Vdbench status, written by Plimsoll: timestamp, event, run definition, loops."]
    end: datetime | None = None
    for run in runs:
        warm = run.started + timedelta(seconds=run.course.result.job.warmup_s)
        end = run.started + timedelta(seconds=run.course.total_seconds)
        lines += [_event(run.started, "Starting", run.name), _event(warm, "Warmup done", run.name), _event(end, "Workload done", run.name)]
        lines.append(_event(end, "Slaves done", run.name))
    if end is not None:
        lines += [_event(end, "Shutting down slaves", ""), _event(end, "Vdbench complete", "")]
    return "\n".join(lines) + "\n"


def _event(when: datetime, event: str, name: str) -> str:
    return "\t".join([when_of(when), event, *([f"rd={name}", "For loops: None"] if name else [])])
