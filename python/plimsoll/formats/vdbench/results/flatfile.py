"""Vdbench's flatfile: one header of one-word columns, one row per interval and average, padded with blanks.

Model: of workloads on devices `COLUMNS` is the layout of 5.04.07, and at its end the bytes of reads and of writes; each column has how its
value is read from a row. Of workloads on file systems there are six columns for every operation; copies and moves have columns only where
they occur. Readers find columns by the header, so the order is for people. Averages have ``avg_m-n`` in the column of the interval.
Source: for file systems names and meanings as Vdbench prints them at the head of its own flatfiles, in published output.

    flatfile([run_of(point, "oltp-db")])
    file_flatfile([file_run_of(point, "tree")])
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from plimsoll.formats.mix import random_percent, shares
from plimsoll.formats.vdbench.results.file_rows import WORDS, Figures, FileRow
from plimsoll.formats.vdbench.results.rows import Row, Run, outstanding, table, tod_of, used, version_of, when_of

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


#: Operations with columns only where they occur.
_SELDOM = ("copy", "move")


@dataclass(frozen=True)
class FileAt:
    """A row with the run it belongs to."""

    run: Run[FileRow]
    row: FileRow


FileCell = Callable[[FileAt], Any]

_BEFORE: tuple[tuple[str, FileCell], ...] = (
    ("tod", lambda at: tod_of(at.row.when)),
    ("timestamp", lambda at: when_of(at.row.when)),
    ("Run", lambda at: at.run.name),
    ("Interval", lambda at: at.row.label),
    ("Xfersize", lambda at: round(at.row.transfer_bytes)),
    ("Threads", lambda at: outstanding(at.run.course)),
    ("Reqrate", lambda at: round(at.run.asked_rate)),
    ("Rate", lambda at: at.row.requested.rate),
    ("Rate_std", lambda at: at.row.requested.rate_std),
    ("Rate_max", lambda at: at.row.requested.rate_max),
    ("Resp", lambda at: at.row.requested.response.mean),
    ("Resp_std", lambda at: at.row.requested.response.std),
    ("Resp_max", lambda at: at.row.requested.response.max),
    ("MB/sec", lambda at: (at.row.figures["read"].bytes_per_s + at.row.figures["write"].bytes_per_s) / _MB),
    ("MB_read", lambda at: at.row.figures["read"].bytes_per_s / _MB),
    ("MB_write", lambda at: at.row.figures["write"].bytes_per_s / _MB),
)
_OF_OPERATIONS: tuple[tuple[str, Callable[[Figures], Any]], ...] = (
    ("rate", lambda figures: figures.rate),
    ("rate_std", lambda figures: figures.rate_std),
    ("rate_max", lambda figures: figures.rate_max),
    ("resp", lambda figures: figures.response.mean),
    ("resp_std", lambda figures: figures.response.std),
    ("resp_max", lambda figures: figures.response.max),
)
_AFTER: tuple[tuple[str, FileCell], ...] = (
    ("Compratio", lambda at: at.run.course.streams[0].get("compress_ratio", 1)),
    ("Dedupratio", lambda at: at.run.course.streams[0].get("duplicate_ratio", 1)),
    ("version", lambda at: version_of(at.run.course)),
    ("cpu_used", lambda at: used(at.row.cpu)),
    ("cpu_user", lambda at: at.row.cpu.get("user_percent")),
    ("cpu_kernel", lambda at: at.row.cpu.get("system_percent")),
    ("cpu_wait", lambda at: at.row.cpu.get("iowait_percent")),
    ("cpu_idle", lambda at: at.row.cpu.get("idle_percent")),
)


def file_flatfile(runs: Sequence[Run[FileRow]]) -> str:
    """Header and rows of all runs."""
    columns = list(_columns(runs))
    rows = [[cell(FileAt(run, row)) for _, cell in columns] for run in runs for row in (*run.intervals, run.average)]
    return table([name for name, _ in columns], rows)


def _columns(runs: Sequence[Run[FileRow]]) -> Iterator[tuple[str, FileCell]]:
    yield from _BEFORE
    for word in WORDS.values():
        if word not in _SELDOM or any(run.average.figures[word].rate for run in runs):
            for name, figure in _OF_OPERATIONS:
                yield f"{word.capitalize()}_{name}", _cell(word, figure)
    yield from _AFTER


def _cell(word: str, figure: Callable[[Figures], Any]) -> FileCell:
    return lambda at: figure(at.row.figures[word])
