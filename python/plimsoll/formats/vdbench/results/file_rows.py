"""The rows of Vdbench's files for a point on file systems: every operation with its rate and response time, and those that were asked for.

Model: *requested* operations are those that the streams draw; opening and closing for reads and writes are in their own columns and not
among them. Standard deviations and maxima of rates are over the intervals, so an interval has 0 and its own rate.
Limits: flush and rename, which Vdbench does not have, are left out.

    run = file_run_of(Recorded(result, intervals, monitor), "tree")
    run.average.figures["getattr"].rate
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from statistics import pstdev

from plimsoll.formats.stored_point import Amount, Course, Recorded, Window
from plimsoll.formats.vdbench.results.rows import (
    Frame,
    Response,
    Run,
    cpu_of,
    frame_of,
    known_shares,
    mixture,
    response_of,
    stated,
    together,
)
from plimsoll.result import OpTotals
from plimsoll.stored import Json

#: Vdbench's word for each of our operations, in its order.
WORDS = {
    "read": "read",
    "write": "write",
    "mkdir": "mkdir",
    "rmdir": "rmdir",
    "create": "create",
    "open": "open",
    "close": "close",
    "delete": "delete",
    "stat": "getattr",
    "setattr": "setattr",
    "access": "access",
    "copy": "copy",
    "move": "move",
}
_OF_DEVICES = ("read", "write", "trim", "flush")
_IMPLIED = ("open", "close", "flush")


_NOTHING = Response(0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Figures:
    """One operation, or all that were requested: per second, milliseconds, bytes per second."""

    rate: float = 0.0
    response: Response = _NOTHING
    bytes_per_s: float = 0.0
    rate_std: float = 0.0
    rate_max: float = 0.0


@dataclass(frozen=True)
class FileRow:
    """One interval, or the average of all; ``figures`` are by Vdbench's words."""

    when: datetime
    label: str
    requested: Figures
    figures: Mapping[str, Figures]
    cpu: Mapping[str, float]

    @property
    def read_percent(self) -> float:
        """Share of reads in what is read and written."""
        rates = self.figures["read"].rate, self.figures["write"].rate
        return 100 * rates[0] / sum(rates) if sum(rates) else 0.0

    @property
    def transfer_bytes(self) -> float:
        """The mean size of reads and writes."""
        rate = self.figures["read"].rate + self.figures["write"].rate
        return (self.figures["read"].bytes_per_s + self.figures["write"].bytes_per_s) / rate if rate else 0.0


def is_of_files(point: Recorded) -> bool:
    """Whether a point is of file systems: by its driver, or by operations that devices do not have."""
    if point.result.job.definition.get("driver") == "files":
        return True
    return any(op not in _OF_DEVICES for op in point.result.totals)


def file_run_of(point: Recorded, name: str) -> Run[FileRow]:
    """A point on file systems."""
    course = Course(point)
    frame = frame_of(point, course)
    rows = list(_intervals(point, course, frame))
    last = rows[-1].when if rows else frame.origin + timedelta(seconds=course.seconds)
    return Run(name, frame.begin, rows, _average(course, rows, last), course)


def occurring(run: Run[FileRow]) -> list[str]:
    """Vdbench's words for what occurred besides reads and writes, in its order."""
    return [word for word in list(WORDS.values())[2:] if run.average.figures[word].rate]


def requested_of(stream: Json) -> set[str]:
    """The operations that a stream draws; all but what they imply where its definition does not say."""
    operation = stream.get("operation")
    if isinstance(operation, str):
        return {operation}
    return set(operation) if isinstance(operation, dict) else set(WORDS) - set(_IMPLIED)


def _intervals(point: Recorded, course: Course, frame: Frame) -> Iterator[FileRow]:
    streams = course.streams
    of_streams = [list(course.windows(stream["name"], frame.length_ms, distributions=True)) for stream in streams]
    for number, window in enumerate(course.windows(None, frame.length_ms, distributions=True), start=1):
        drawn = [
            amount
            for stream, windows in zip(streams, of_streams, strict=True)
            for op, amount in windows[number - 1].amounts.items()
            if op in requested_of(stream)
        ]
        yield FileRow(
            when=frame.origin + timedelta(milliseconds=window.end_ms),
            label=str(number),
            requested=_of_window(together(drawn), window),
            figures={word: _of_window(window.amounts.get(op), window) for op, word in WORDS.items()},
            cpu=cpu_of(point, frame, window),
        )


def _of_window(amount: Amount | None, window: Window) -> Figures:
    if amount is None:
        return Figures()
    seconds = window.seconds or 1.0
    rate = amount.count / seconds
    return Figures(rate, response_of(amount), amount.bytes / seconds, 0.0, rate)


def _average(course: Course, rows: Sequence[FileRow], when: datetime) -> FileRow:
    totals = course.totals(None)
    drawn = [total for stream in course.streams for op, total in course.totals(stream["name"]).items() if op in requested_of(stream)]
    requested = Figures(sum(total.iops for total in drawn), mixture(drawn) or Response(), sum(total.bytes_per_s for total in drawn))
    return FileRow(
        when=when,
        label=f"avg_1-{max(1, len(rows))}",
        requested=_spread(requested, [row.requested for row in rows]),
        figures={word: _spread(_of_total(totals.get(op)), [row.figures[word] for row in rows]) for op, word in WORDS.items()},
        cpu=known_shares(course.result.monitor),
    )


def _of_total(total: OpTotals | None) -> Figures:
    return Figures() if total is None else Figures(total.iops, stated(total.service_ns), total.bytes_per_s)


def _spread(figures: Figures, intervals: Sequence[Figures]) -> Figures:
    """The average with how the rates of the intervals vary."""
    rates = [one.rate for one in intervals] or [figures.rate]
    return replace(figures, rate_std=pstdev(rates), rate_max=max(rates))
