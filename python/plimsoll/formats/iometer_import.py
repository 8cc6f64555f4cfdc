"""Iometer's result files as points of ours: each test, whose row is called ALL, is a point.

Model: rates and amounts are those of the row; the measured time is that in which they were counted, requests over requests per second. Of
latencies the file holds means and maxima. The bins of 1.1.0 are too coarse for percentiles and stay unread.

    points = read_iometer(text, "results.csv")
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from plimsoll.formats.imported import Imported, Known
from plimsoll.formats.iometer.results_reader import ResultRow, read_results_csv
from plimsoll.formats.recorded import Json, Recorded

_MIB = 1 << 20
_MB = 1_000_000
_COLUMNS = {"read": ("Read IOps", "Bytes Read", "Read I/Os", "Read"), "write": ("Write IOps", "Bytes Written", "Write I/Os", "Write")}
_CPU = {"user_percent": "% User Time", "system_percent": "% Privileged Time", "used_percent": "% CPU Utilization"}


def read_iometer(text: str, source: str) -> list[Recorded]:
    """A point for each test. Raises `InputError` that names the line."""
    rows = read_results_csv(text, source)
    starts = [position for position, row in enumerate(rows) if row.kind == "ALL"]
    return [_point(rows[start:end], source) for start, end in pairwise([*starts, len(rows)])]


def _point(rows: Sequence[ResultRow], source: str) -> Recorded:
    whole = rows[0]
    seconds = _seconds(whole)
    disks = list(dict.fromkeys(row.name for row in rows if row.kind == "DISK"))
    point = Imported(
        workload=whole.spec or "iometer",
        origin=f"Iometer {whole.version}".strip(),
        source=source,
        seconds=seconds,
        streams=[_stream(rows)],
        target=", ".join(disks),
        started=_started(whole.started),
        monitor=_monitor(whole, seconds),
    )
    for op, (rate, moved, count, word) in _COLUMNS.items():
        figures = whole.figures
        partial = {
            name: figures[column] * 1e6
            for name, column in (("mean", f"Average {word} Response Time"), ("max", f"Maximum {word} Response Time"))
            if figures.get(column)
        }
        iops = figures.get(rate, 0.0)
        known = Known(
            count=round(figures.get(count, iops * seconds)),
            bytes=round(figures.get(moved, _bytes_per_s(whole, word) * seconds)),
            iops=iops,
            bytes_per_s=_bytes_per_s(whole, word),
            errors=round(figures.get(f"{word} Errors", 0.0)),
            partial=partial,
        )
        point.add("stream-1", op, known)
    return point.recorded()


def _seconds(whole: ResultRow) -> float:
    """The time in which the requests were counted; one second where there are no counts."""
    for rate, _, count, _ in _COLUMNS.values():
        if whole.figures.get(rate) and whole.figures.get(count):
            return whole.figures[count] / whole.figures[rate]
    return 1.0


def _bytes_per_s(whole: ResultRow, word: str) -> float:
    figures = whole.figures
    for column, unit in ((f"{word} MiBps (Binary)", _MIB), (f"{word} MBps (Decimal)", _MB), (f"{word} MBps", _MIB)):
        if column in figures:
            return unit * figures[column]
    return 0.0


def _stream(rows: Sequence[ResultRow]) -> Json:
    workers = [row for row in rows if row.kind == "WORKER"]
    depths = {round(row.figures["Queue Depth"]) for row in workers if row.figures.get("Queue Depth")}
    known: Json = {"threads": len(workers)} if workers else {}
    return {**known, "queue_depth": depths.pop()} if len(depths) == 1 else known


def _monitor(whole: ResultRow, seconds: float) -> Json:
    cpu = {ours: whole.figures[column] for ours, column in _CPU.items() if column in whole.figures}
    return {"seconds": seconds, "cpu": cpu} if any(cpu.values()) else {}


def _started(text: str) -> str:
    """Iometer's ``2006-01-31 12:00:00:123`` as ISO 8601, which has no zone because the file has none."""
    date, _, clock = text.partition(" ")
    return f"{date}T{clock[:8]}" if len(date) == 10 and len(clock) >= 8 else ""
