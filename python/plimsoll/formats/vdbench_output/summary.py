"""Vdbench's summary (every interval) and totals (the averages alone) of workloads on devices, as people and scripts read them.

Model: thirteen columns under two lines of heading; the first heading begins with the date. Each run begins with a line that names it.

    for line in summary_lines(run_of(point, "oltp-db"), averages_only=False): …
"""

from __future__ import annotations

from collections.abc import Iterator

from plimsoll.formats.vdbench_output.rows import MAXIMUM_RATE, Row, Run
from plimsoll.formats.vdbench_output.table import tod_of

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
        yield _line(row)
    yield _line(run.average)


def _line(row: Row) -> str:
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
