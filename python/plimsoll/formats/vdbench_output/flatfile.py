"""Vdbench's flatfile: one header of one-word columns, one row per interval and average, padded with blanks.

Model: `COLUMNS` is the layout of 5.04.07, each column with how its value is read from a row; readers find columns by the header, so the
order is for people. Averages have ``avg_m-n`` in the column of the interval.

    flatfile(runs(points))
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from plimsoll.formats.mix import random_percent, shares
from plimsoll.formats.vdbench_output.rows import Row, Run

_ABSENT = "n/a"
_MB = 1 << 20
_HEAD = """\
* Flatfile in the layout of Vdbench 5.04.07, written by Plimsoll.
* Columns are found by their names in the header below, not by their positions.
* reqrate 999977 is the maximum; n/a is not known.
<pre>
"""


@dataclass(frozen=True)
class At:
    """A row with the run it belongs to."""

    run: Run
    row: Row


Cell = Callable[[At], Any]

COLUMNS: tuple[tuple[str, Cell], ...] = (
    ("tod", lambda at: f"{at.row.when:%H:%M:%S}.{at.row.when.microsecond // 1000:03d}"),
    ("timestamp", lambda at: f"{at.row.when:%m/%d/%Y-%H:%M:%S}-{at.row.when.tzname() or 'UTC'}"),
    ("Run", lambda at: at.run.name),
    ("Interval", lambda at: at.row.label),
    ("reqrate", lambda at: round(at.run.asked_rate)),
    ("rate", lambda at: at.row.rate),
    ("MB/sec", lambda at: at.row.bytes_per_s / _MB),
    ("bytes/io", lambda at: round(at.row.bytes_per_io)),
    ("read%", lambda at: at.row.read_percent),
    ("resp", lambda at: at.row.both.mean),
    ("read_resp", lambda at: at.row.reads.mean),
    ("write_resp", lambda at: at.row.writes.mean),
    ("resp_max", lambda at: at.row.both.max),
    ("read_max", lambda at: at.row.reads.max),
    ("write_max", lambda at: at.row.writes.max),
    ("resp_std", lambda at: at.row.both.std),
    ("read_std", lambda at: at.row.reads.std),
    ("write_std", lambda at: at.row.writes.std),
    ("xfersize", lambda at: _size(at.run)),
    ("threads", lambda at: _outstanding(at.run)),
    ("rdpct", lambda at: round(shares(at.run.course.streams[0])[0])),
    ("rhpct", lambda _: 0),
    ("whpct", lambda _: 0),
    ("seekpct", lambda at: round(random_percent(at.run.course.streams[0]))),
    ("lunsize", lambda at: (at.run.course.result.host.get("target") or {}).get("size_bytes")),
    ("version", lambda at: f"plimsoll-{at.run.course.result.versions.get('plimsoll', 'import')}"),
    ("compratio", lambda at: at.run.course.streams[0].get("compress_ratio", 1)),
    ("dedupratio", lambda at: at.run.course.streams[0].get("duplicate_ratio", 1)),
    ("queue_depth", lambda at: at.row.queue_depth),
    ("cpu_used", lambda at: _used(at.row)),
    ("cpu_user", lambda at: at.row.cpu.get("user_percent")),
    ("cpu_kernel", lambda at: at.row.cpu.get("system_percent")),
    ("cpu_wait", lambda at: at.row.cpu.get("iowait_percent")),
    ("cpu_idle", lambda at: at.row.cpu.get("idle_percent")),
)


def flatfile(runs: Sequence[Run]) -> str:
    """The whole file."""
    rows = [[name for name, _ in COLUMNS]]
    for run in runs:
        rows += [[_text(cell(At(run, row))) for _, cell in COLUMNS] for row in (*run.intervals, run.average)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(COLUMNS))]
    lines = (" ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows)
    return _HEAD + "".join(f"{line}\n" for line in lines)


def _text(value: Any) -> str:
    if value is None:
        return _ABSENT
    return f"{value:.4f}" if isinstance(value, float) else str(value).replace(" ", "_")


def _size(run: Run) -> int | None:
    size = run.course.streams[0].get("block_size")
    return size if isinstance(size, int) else None


def _outstanding(run: Run) -> int:
    """Threads of Vdbench's: each has one request outstanding."""
    return sum(int(stream.get("threads", 1)) * int(stream.get("queue_depth", 1)) for stream in run.course.streams)


def _used(row: Row) -> float | None:
    return row.cpu["user_percent"] + row.cpu["system_percent"] if {"user_percent", "system_percent"} <= row.cpu.keys() else None
