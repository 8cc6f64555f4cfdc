"""Vdbench's flatfile of workloads on devices: one header of one-word columns, one row per interval and average, padded with blanks.

Model: `COLUMNS` is the layout of 5.04.07, and at its end the bytes of reads and of writes; each column has how its value is read from a
row. Readers find columns by the header, so the order is for people. Averages have ``avg_m-n`` in the column of the interval.

    flatfile([run_of(point, "oltp-db")])
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from plimsoll.formats.mix import random_percent, shares
from plimsoll.formats.vdbench_output.rows import Row, Run
from plimsoll.formats.vdbench_output.table import outstanding, table, tod_of, used, version_of, when_of

_MB = 1 << 20


@dataclass(frozen=True)
class At:
    """A row with the run it belongs to."""

    run: Run[Row]
    row: Row


Cell = Callable[[At], Any]

COLUMNS: tuple[tuple[str, Cell], ...] = (
    ("tod", lambda at: tod_of(at.row.when)),
    ("timestamp", lambda at: when_of(at.row.when)),
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
    ("threads", lambda at: outstanding(at.run.course)),
    ("rdpct", lambda at: round(shares(at.run.course.streams[0])[0])),
    ("rhpct", lambda _: 0),
    ("whpct", lambda _: 0),
    ("seekpct", lambda at: round(random_percent(at.run.course.streams[0]))),
    ("lunsize", lambda at: (at.run.course.result.host.get("target") or {}).get("size_bytes")),
    ("version", lambda at: version_of(at.run.course)),
    ("compratio", lambda at: at.run.course.streams[0].get("compress_ratio", 1)),
    ("dedupratio", lambda at: at.run.course.streams[0].get("duplicate_ratio", 1)),
    ("queue_depth", lambda at: at.row.queue_depth),
    ("cpu_used", lambda at: used(at.row.cpu)),
    ("cpu_user", lambda at: at.row.cpu.get("user_percent")),
    ("cpu_kernel", lambda at: at.row.cpu.get("system_percent")),
    ("cpu_wait", lambda at: at.row.cpu.get("iowait_percent")),
    ("cpu_idle", lambda at: at.row.cpu.get("idle_percent")),
    # Vdbench has these for file systems only; without them the bytes of a mix of sizes cannot be told apart.
    ("MB_read", lambda at: at.row.read_bytes_per_s / _MB),
    ("MB_write", lambda at: at.row.write_bytes_per_s / _MB),
)


def flatfile(runs: Sequence[Run[Row]]) -> str:
    """Header and rows of all runs."""
    rows = [[cell(At(run, row)) for _, cell in COLUMNS] for run in runs for row in (*run.intervals, run.average)]
    return table([name for name, _ in COLUMNS], rows)


def _size(run: Run[Row]) -> int | None:
    size = run.course.streams[0].get("block_size")
    return size if isinstance(size, int) else None
