"""A run on file systems in Vdbench's flatfile, as a point of ours: every operation with its own rate and response time.

file_point("rd1", run_of_rows(rows), "flatfile.html")
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from plimsoll.formats.imported import Imported, Known, cell, interval
from plimsoll.formats.recorded import Recorded
from plimsoll.formats.vdbench_output.entries import Entry, RunRows, asked
from plimsoll.formats.vdbench_output.file_rows import WORDS

Json = dict[str, Any]

_MB = 1 << 20


def file_point(name: str, run: RunRows, source: str) -> Recorded:
    """The point of one run."""
    threads = int(run.sample.known("Threads"))
    stream: Json = ({"threads": threads} if threads else {}) | asked(run.sample.known("Reqrate"))
    point = Imported(name, run.origin, source, seconds=run.seconds, streams=[stream], target=run.target, remark=run.remark)
    for op, word in WORDS.items():
        point.add("stream-1", op, _known(word, run.counted, run.seconds))
    for index, (row, (start, end)) in enumerate(zip(run.measured, run.spans_s, strict=True)):
        point.intervals.append(interval(index, (round(start * 1e9), round(end * 1e9)), _cells(row, end - start)))
    return point.recorded()


def _known(word: str, rows: Sequence[Entry], seconds: float) -> Known:
    column = word.capitalize()
    rates = [row.known(f"{column}_rate") for row in rows]
    rate = sum(rates) / max(1, len(rows))
    spent = sum(count * row.known(f"{column}_resp") for count, row in zip(rates, rows, strict=True))
    slowest = max((row.known(f"{column}_resp_max") for row in rows), default=0.0)
    partial = {"mean": spent / sum(rates) * 1e6 if sum(rates) else 0.0, "max": slowest * 1e6}
    bytes_per_s = sum(_moved(word, row) for row in rows) / max(1, len(rows))
    return Known(
        count=round(rate * seconds),
        bytes=round(bytes_per_s * seconds),
        iops=rate,
        bytes_per_s=bytes_per_s,
        partial={name: value for name, value in partial.items() if value},
    )


def _moved(word: str, row: Entry) -> float:
    """Bytes per second that an operation moved."""
    return row.known(f"MB_{word}") * _MB if word in ("read", "write") else 0.0


def _cells(row: Entry, length_s: float) -> list[Json]:
    return [
        cell("stream-1", op, round(rate * length_s), round(_moved(word, row) * length_s))
        for op, word in WORDS.items()
        if (rate := row.known(f"{word.capitalize()}_rate"))
    ]
