"""One stored point as exporters and importers see it: the result, and what was recorded while it was measured.

Model: an exporter reads only this; an importer yields only this. `Course` adds up the measured phase once: one distribution for each
stream and operation, and windows of at least a given length with what every stream did in them. Imported points need have neither
intervals nor samples of the host; what is asked of them is then read from the totals, or is None.
Limits: windows are whole intervals, so they are as long as asked only where the stored intervals divide that length.

    course = Course(Recorded(result, intervals, monitor))
    course.latency("stream-1", "read").percentile(99.0)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from plimsoll.histogram import Histogram, decoded
from plimsoll.result import OPS, OpTotals, Result, Totals
from plimsoll.stored import Cell, Interval, Json, Sample

MOVES = ("read", "write", "trim")


@dataclass(frozen=True)
class Recorded:
    """A result with the lines of `intervals.jsonl` and `monitor.jsonl`."""

    result: Result
    intervals: Sequence[Interval] = ()
    monitor: Sequence[Sample] = ()


@dataclass
class Amount:
    """What one operation did in one window."""

    count: int = 0
    bytes: int = 0
    latency_sum_ns: float = 0.0
    service_sum_ns: float = 0.0
    latency: Histogram | None = None

    def add(self, cell: Cell) -> None:
        """Add a cell of an interval."""
        self.count += cell["count"]
        self.bytes += cell["bytes"]
        spent = cell.get("latency_sum_ns") or 0.0
        self.latency_sum_ns += spent
        served = cell.get("service_sum_ns")
        self.service_sum_ns += spent if served is None else served
        if latency := cell.get("latency"):
            self.latency = added(self.latency, decoded(cell.get("service") or latency))


@dataclass
class Window:
    """A piece of the measured phase; times count from its start."""

    start_ms: float
    end_ms: float
    amounts: dict[str, Amount] = field(default_factory=dict)

    @property
    def seconds(self) -> float:
        """How long the window is."""
        return (self.end_ms - self.start_ms) / 1000


class Course:
    """The measured phase of one point, added up."""

    def __init__(self, recorded: Recorded) -> None:
        self.recorded = recorded
        self.result = recorded.result
        self._latency: dict[tuple[str | None, str], Histogram] = {}
        self._service: dict[tuple[str | None, str], Histogram] = {}
        self._measured = [interval for interval in recorded.intervals if interval["phase"] == "measure"]
        for interval in self._measured:
            for cell in _whole(interval):
                self._add(cell)

    @property
    def seconds(self) -> float:
        """Measured time; what was asked for where nothing was recorded."""
        elapsed_ns = sum(interval["end_ns"] - interval["start_ns"] for interval in self._measured)
        return elapsed_ns / 1e9 if elapsed_ns else self.result.job.duration_s

    @property
    def streams(self) -> list[Json]:
        """The streams as they were defined, each with its name; one without options where the definition has none."""
        found: Sequence[Mapping[str, Any]] = self.result.job.definition.get("stream") or ({},)
        return [{"name": f"stream-{position}", **stream} for position, stream in enumerate(found, start=1)]

    @property
    def total_seconds(self) -> float:
        """From the first interval to the last, warm-up and drain included."""
        ends = [interval["end_ns"] for interval in self.recorded.intervals]
        return max(ends) / 1e9 if ends else self.seconds

    def totals(self, stream: str | None) -> Totals:
        """Of one stream, or of all where ``stream`` is None or the only one."""
        result = self.result
        return result.totals if stream is None or len(self.streams) == 1 else result.streams.get(stream, {})

    def total(self, stream: str | None, op: str) -> OpTotals:
        """Of one operation; zeros where it did not occur."""
        return self.totals(stream).get(op) or OpTotals(0, 0.0, 0, 0.0, 0, None, None)

    def latency(self, stream: str | None, op: str) -> Histogram | None:
        """From the intended instant to completion; None where no distribution was recorded."""
        return self._merged(self._latency, stream, op)

    def service(self, stream: str | None, op: str) -> Histogram | None:
        """From submission to completion."""
        return self._merged(self._service, stream, op)

    def windows(self, stream: str | None = None, at_least_ms: float = 0.0, *, distributions: bool = False) -> Iterator[Window]:
        """Consecutive windows of at least ``at_least_ms``; a shorter rest at the end is left out when there is any other."""
        origin_ns = self._measured[0]["start_ns"] if self._measured else 0
        wanted = None if stream is None or len(self.streams) == 1 else stream
        open_window: Window | None = None
        closed = 0
        for interval in self._measured:
            start_ms, end_ms = ((interval[key] - origin_ns) / 1e6 for key in ("start_ns", "end_ns"))
            open_window = open_window or Window(start_ms, end_ms)
            open_window.end_ms = end_ms
            for cell in _whole(interval):
                if wanted is None or cell["stream"] == wanted:
                    counted = cell if distributions else {**cell, "latency": None}
                    open_window.amounts.setdefault(cell["op"], Amount()).add(counted)
            # Interval ends are clock readings, some microseconds off the round number.
            if end_ms - open_window.start_ms >= at_least_ms * 0.99:
                closed += 1
                yield open_window
                open_window = None
        if open_window is not None and not closed:
            yield open_window

    def _add(self, cell: Cell) -> None:
        latency = cell.get("latency")
        if not latency:
            return
        key = (cell["stream"], cell["op"])
        self._latency[key] = added(self._latency.get(key), decoded(latency))
        self._service[key] = added(self._service.get(key), decoded(cell.get("service") or latency))

    def _merged(self, known: dict[tuple[str | None, str], Histogram], stream: str | None, op: str) -> Histogram | None:
        if stream is not None and len(self.streams) > 1:
            return known.get((stream, op))
        total: Histogram | None = None
        for (_, other), histogram in known.items():
            if other == op:
                total = added(total, histogram)
        return total


def occurring(totals: Totals) -> list[str]:
    """The operations that moved or discarded data, in their order."""
    return [op for op in OPS if op in MOVES and op in totals and totals[op].count]


def added(total: Histogram | None, addend: Histogram) -> Histogram:
    """``total`` and ``addend`` together; neither argument of a later call is changed by it but ``total``."""
    if total is None:
        total = Histogram()
    total.add(addend)
    return total


def _whole(interval: Interval) -> Iterator[Cell]:
    """The cells of an interval without what the parts of the target saw, which is the same requests once more."""
    return (cell for cell in interval["cells"] if cell.get("part") is None)
