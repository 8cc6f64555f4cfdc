"""Vdbench's flatfile of workloads on file systems: six columns for every operation.

Model: the columns are those of 5.04.07; copies and moves have columns only where they occur. Readers find columns by the header.
Source: names and meanings as Vdbench prints them at the head of its own flatfiles, in published output; the project's notes on block tools
describe the layout for devices only.

    file_flatfile([file_run_of(point, "tree")])
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from plimsoll.formats.vdbench_output.file_rows import WORDS, Figures, FileRow
from plimsoll.formats.vdbench_output.rows import Run
from plimsoll.formats.vdbench_output.table import outstanding, table, tod_of, used, version_of, when_of

_MB = 1 << 20
#: Operations with columns only where they occur.
_SELDOM = ("copy", "move")


@dataclass(frozen=True)
class At:
    """A row with the run it belongs to."""

    run: Run[FileRow]
    row: FileRow


Cell = Callable[[At], Any]

_BEFORE: tuple[tuple[str, Cell], ...] = (
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
_AFTER: tuple[tuple[str, Cell], ...] = (
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
    rows = [[cell(At(run, row)) for _, cell in columns] for run in runs for row in (*run.intervals, run.average)]
    return table([name for name, _ in columns], rows)


def _columns(runs: Sequence[Run[FileRow]]) -> Iterator[tuple[str, Cell]]:
    yield from _BEFORE
    for word in WORDS.values():
        if word not in _SELDOM or any(run.average.figures[word].rate for run in runs):
            for name, figure in _OF_OPERATIONS:
                yield f"{word.capitalize()}_{name}", _cell(word, figure)
    yield from _AFTER


def _cell(word: str, figure: Callable[[Figures], Any]) -> Cell:
    return lambda at: figure(at.row.figures[word])
