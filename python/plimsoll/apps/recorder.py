"""What an application did, cut into intervals like those of the block engine (``crates/engine/src/record.rs``).

Model: threads of the application begin and complete calls, any number at a time; a call belongs to the interval in which it completed, and
the time it was under way is shared out over the intervals it touched, so that Little's law can be checked. A call that was due at an
instant counts from that instant, also if it is begun later; how long the call itself took is its service time. What is due and not begun
yet is told by the application when an interval is cut. Any thread may cut one.
Limits: a lock per call, about a microsecond: for statements and transactions, not for millions of requests a second.

    recorder = Recorder(now_ns, "measure")
    call = recorder.begin("new-order", "terminals", due_ns=due_ns)
    recorder.complete(call, transferred=0)
    on_event("interval", recorder.cut().event(index=0))
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Literal

from plimsoll.apps.tally import Tally
from plimsoll.histogram import Histogram
from plimsoll.stored import Json

Phase = Literal["warmup", "measure", "drain"]
#: Lag from which a call counts as late, in nanoseconds; as in `crates/engine/src/recorder.rs`.
LATE_NS = 100_000


@dataclass(eq=False, slots=True)
class Call:
    """One call under way; instants are nanoseconds from the start of the job. ``due_ns`` is None where nothing but its turn made it due."""

    stream: str
    op: str
    begun_ns: int
    due_ns: int | None = None

    @property
    def since_ns(self) -> int:
        """From when on its latency counts."""
        return self.begun_ns if self.due_ns is None else self.due_ns


@dataclass(frozen=True, slots=True)
class Due:
    """What was due and had not begun when an interval ended."""

    stream: str
    op: str
    due_ns: int


@dataclass
class Cell:
    """One operation of one stream in one interval. ``service`` is None where calls have no due instant."""

    bytes: int = 0
    latency_sum_ns: int = 0
    service_sum_ns: int = 0
    latency: Tally = field(default_factory=Tally)
    service: Tally | None = None
    errors: Counter[str] = field(default_factory=Counter)

    def record(self, call: Call, now_ns: int, transferred: int) -> None:
        """A call that has completed."""
        self.bytes += transferred
        self.latency_sum_ns += now_ns - call.since_ns
        self.latency.record(now_ns - call.since_ns)
        if call.due_ns is not None:
            self.service = self.service or Tally()
            self.service_sum_ns += now_ns - call.begun_ns
            self.service.record(now_ns - call.begun_ns)

    def to_json(self, stream: str, op: str) -> Json:
        """The stored form."""
        return {
            "stream": stream,
            "op": op,
            "part": None,
            "count": self.latency.count,
            "bytes": self.bytes,
            "errors": dict(self.errors),
            "latency": self.latency.histogram().encode(),
            "service": None if self.service is None else self.service.histogram().encode(),
            "latency_sum_ns": float(self.latency_sum_ns),
            "service_sum_ns": None if self.service is None else float(self.service_sum_ns),
        }


@dataclass
class Slice:
    """One interval while it lasts; instants are nanoseconds from the start of the job. Cells go by stream and operation."""

    phase: Phase
    start_ns: int
    end_ns: int = 0
    busy_ns: int = 0
    age_ns: int = 0
    cells: dict[tuple[str, str], Cell] = field(default_factory=dict)
    lag: Tally = field(default_factory=Tally)
    late: int = 0
    #: How long the oldest due call had been waiting to be begun at the end.
    behind_ns: int = 0
    #: Lower bounds of the latencies of what was under way or due at the end.
    waiting: dict[tuple[str, str], Tally] = field(default_factory=dict)

    def cell(self, stream: str, op: str) -> Cell:
        """The cell of ``op``, made when it is first needed."""
        return self.cells.setdefault((stream, op), Cell())

    def wait(self, stream: str, op: str, age_ns: int) -> None:
        """A call that has no answer at the end has had none for ``age_ns``."""
        self.waiting.setdefault((stream, op), Tally()).record(max(age_ns, 1))

    def event(self, index: int) -> Json:
        """The ``interval`` event."""
        return {
            "index": index,
            "phase": self.phase,
            "start_ns": self.start_ns,
            "end_ns": self.end_ns,
            "inflight_mean": self.busy_ns / max(self.end_ns - self.start_ns, 1),
            "inflight_age_ns": self.age_ns,
            "summary": self._summary(),
            "cells": [cell.to_json(stream, op) for (stream, op), cell in self.cells.items()],
            "outstanding": [
                {"stream": stream, "op": op, "count": ages.count, "latency": ages.histogram().encode()}
                for (stream, op), ages in self.waiting.items()
            ],
            "lag": self._lag(),
            "backlog_ns": None if self.phase == "drain" else self.behind_ns,
        }

    def _lag(self) -> Json | None:
        if not self.lag.count:
            return None
        lag = self.lag.histogram()
        return {"count": lag.count, "late": self.late, "p99_ns": lag.percentile(99.0), "max_ns": lag.max}

    def _summary(self) -> dict[str, Json]:
        """The figures of the live view, per operation over all streams."""
        by_op: dict[str, list[Cell]] = {}
        for (_, op), cell in self.cells.items():
            by_op.setdefault(op, []).append(cell)
        return {op: _figures(cells) for op, cells in by_op.items()}


def _figures(cells: list[Cell]) -> Json:
    latency = cells[0].latency.histogram() if len(cells) == 1 else Histogram()
    for cell in cells if len(cells) > 1 else ():
        latency.add(cell.latency.histogram())
    return {
        "count": latency.count,
        "bytes": sum(cell.bytes for cell in cells),
        "errors": sum(cell.errors.total() for cell in cells),
        "mean_ns": sum(cell.latency_sum_ns for cell in cells) / max(latency.count, 1),
        "p50_ns": latency.percentile(50.0),
        "p99_ns": latency.percentile(99.0),
        "max_ns": latency.max if latency.count else 0,
    }


class Recorder:
    """Shared by the threads that work and the one that cuts; ``now_ns`` counts from the start of the job."""

    def __init__(self, now_ns: Callable[[], int], phase: Phase) -> None:
        self._now_ns = now_ns
        self._lock = threading.Lock()
        self._slice = Slice(phase, 0)
        self._under_way: dict[Call, None] = {}
        #: Until when the calls under way are in ``busy_ns``.
        self._counted_ns = 0
        self._answered_ns = 0
        self._first_ns: int | None = None

    @property
    def phase(self) -> Phase:
        """The phase that lasts."""
        return self._slice.phase

    @property
    def start_ns(self) -> int:
        """Start of the interval that lasts."""
        return self._slice.start_ns

    @property
    def first_ns(self) -> int | None:
        """When the first call completed."""
        return self._first_ns

    def waits(self) -> tuple[int, int]:
        """For how long no call has had an answer although some were under way all the time, and how many those are; 0 and 0 for none."""
        with self._lock:
            if not self._under_way:
                return 0, 0
            oldest_ns = next(iter(self._under_way)).begun_ns
            return max(self._now_ns() - max(oldest_ns, self._answered_ns), 0), len(self._under_way)

    def begin(self, op: str, stream: str, due_ns: int | None = None, *, queued: bool = False) -> Call:
        """A call is about to be made; ``due_ns`` is when it was due, where it has such an instant.

        One that was not ``queued`` had somebody free to make it when it was due: what it is late by is Plimsoll's own lag.
        """
        with self._lock:
            now_ns = self._count()
            call = Call(stream, op, now_ns, None if due_ns is None else min(due_ns, now_ns))
            self._under_way[call] = None
            if call.due_ns is not None and not queued:
                self._slice.lag.record(now_ns - call.due_ns)
                self._slice.late += now_ns - call.due_ns > LATE_NS
            return call

    def complete(self, call: Call, transferred: int = 0) -> int:
        """The call has returned; its instant."""
        with self._lock:
            now_ns = self._end(call)
            self._slice.cell(call.stream, call.op).record(call, now_ns, transferred)
            if self._first_ns is None:
                self._first_ns = now_ns
            return now_ns

    def add(self, op: str, stream: str, transferred: int, latency_sum_ns: int, latencies: str) -> None:
        """Calls that completed elsewhere, counted there since it was told the last time: their bytes and latencies, these as
        text (`Histogram.record_text`)."""
        with self._lock:
            now_ns = self._count()
            cell = self._slice.cell(stream, op)
            cell.bytes += transferred
            cell.latency_sum_ns += latency_sum_ns
            cell.latency.record_text(latencies)
            # Under way they were in no list, so their time counts at once.
            self._slice.busy_ns += latency_sum_ns
            if self._first_ns is None:
                self._first_ns = now_ns

    def fail(self, call: Call, error: str) -> int:
        """The call has failed with ``error``, an errno's name or an engine's code; its instant."""
        with self._lock:
            now_ns = self._end(call)
            self._slice.cell(call.stream, call.op).errors[error] += 1
            return now_ns

    def forget(self, call: Call) -> None:
        """The call is in no figure: what answers was ended on purpose."""
        with self._lock:
            self._end(call)

    def abandon(self) -> None:
        """What is under way will have no answer any more: it stays outstanding in the interval that is cut next."""
        with self._lock:
            now_ns = self._count()
            for call in self._under_way:
                self._slice.wait(call.stream, call.op, now_ns - call.since_ns)
            self._under_way.clear()

    def cut(self, next_phase: Phase | None = None, due: Iterable[Due] = ()) -> Slice:
        """End the interval that lasts and begin the next, in ``next_phase`` if one is given; ``due`` is what has not begun by then."""
        with self._lock:
            now_ns = self._count()
            ended = self._slice
            for call in self._under_way:
                ended.age_ns += now_ns - call.begun_ns
                ended.wait(call.stream, call.op, now_ns - call.since_ns)
            for late in due:
                ended.behind_ns = max(ended.behind_ns, now_ns - late.due_ns)
                ended.wait(late.stream, late.op, now_ns - late.due_ns)
            ended.end_ns = now_ns
            self._slice = Slice(next_phase or ended.phase, now_ns)
            return ended

    def _end(self, call: Call) -> int:
        now_ns = self._count()
        self._under_way.pop(call, None)
        self._answered_ns = now_ns
        return now_ns

    def _count(self) -> int:
        """Share out the time until now to the calls under way; now."""
        now_ns = max(self._now_ns(), self._counted_ns)
        self._slice.busy_ns += len(self._under_way) * (now_ns - self._counted_ns)
        self._counted_ns = now_ns
        return now_ns
