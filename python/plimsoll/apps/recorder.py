"""What an application did, cut into intervals like those of the block engine (``crates/engine/src/record.rs``).

Model: one call of the kernel at a time. The thread that works begins and completes calls; a call belongs to the interval in which it
completed, and the time it was under way is shared out over the intervals it touched, so that Little's law can be checked. Any thread may
cut an interval; a phase ends only between two calls.
Limits: one stream, one call in flight.

    recorder = Recorder("copy", now_ns)
    begun = recorder.begin("write")
    recorder.complete("write", begun, length)
    on_event("interval", recorder.cut().event(index=0))
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from plimsoll.engine import Json
from plimsoll.histogram import Histogram

Phase = Literal["warmup", "measure", "drain"]


@dataclass
class Cell:
    """One operation in one interval."""

    bytes: int = 0
    latency_sum_ns: int = 0
    latency: Histogram = field(default_factory=Histogram)
    errors: Counter[str] = field(default_factory=Counter)

    def to_json(self, stream: str, op: str) -> Json:
        """The stored form."""
        return {
            "stream": stream,
            "op": op,
            "part": None,
            "count": self.latency.count,
            "bytes": self.bytes,
            "errors": dict(self.errors),
            "latency": self.latency.encode(),
            "service": None,
            "latency_sum_ns": float(self.latency_sum_ns),
            "service_sum_ns": None,
        }

    def summary(self) -> Json:
        """The figures of the live view."""
        count = self.latency.count
        return {
            "count": count,
            "bytes": self.bytes,
            "errors": self.errors.total(),
            "mean_ns": self.latency_sum_ns / max(count, 1),
            "p50_ns": self.latency.percentile(50.0),
            "p99_ns": self.latency.percentile(99.0),
            "max_ns": self.latency.max if count else 0,
        }


@dataclass
class Slice:
    """One interval while it lasts; instants are nanoseconds from the start of the job."""

    stream: str
    phase: Phase
    start_ns: int
    end_ns: int = 0
    busy_ns: int = 0
    cells: dict[str, Cell] = field(default_factory=dict)
    #: The call that was under way at the end, and for how long.
    under_way: tuple[str, int] | None = None

    def cell(self, op: str) -> Cell:
        """The cell of ``op``, made when it is first needed."""
        return self.cells.setdefault(op, Cell())

    def event(self, index: int) -> Json:
        """The ``interval`` event."""
        return {
            "index": index,
            "phase": self.phase,
            "start_ns": self.start_ns,
            "end_ns": self.end_ns,
            "inflight_mean": self.busy_ns / max(self.end_ns - self.start_ns, 1),
            "inflight_age_ns": 0 if self.under_way is None else self.under_way[1],
            "summary": {op: cell.summary() for op, cell in self.cells.items()},
            "cells": [cell.to_json(self.stream, op) for op, cell in self.cells.items()],
            "outstanding": self._outstanding(),
            "lag": None,
            "backlog_ns": None if self.phase == "drain" else 0,
        }

    def _outstanding(self) -> list[Json]:
        """A lower bound of the latency of the call that was under way."""
        if self.under_way is None:
            return []
        op, age_ns = self.under_way
        age = Histogram()
        age.record(max(age_ns, 1))
        return [{"stream": self.stream, "op": op, "count": 1, "latency": age.encode()}]


class Recorder:
    """Shared by the thread that works and the one that cuts; ``now_ns`` counts from the start of the job."""

    def __init__(self, stream: str, now_ns: Callable[[], int], phase: Phase) -> None:
        self._now_ns = now_ns
        self._lock = threading.Lock()
        self._slice = Slice(stream, phase, 0)
        self._begun_ns: int | None = None
        self._op = ""

    @property
    def phase(self) -> Phase:
        """The phase that lasts."""
        return self._slice.phase

    @property
    def start_ns(self) -> int:
        """Start of the interval that lasts."""
        return self._slice.start_ns

    @property
    def waited_ns(self) -> int:
        """For how long the call that is under way has been; 0 when none is."""
        with self._lock:
            return 0 if self._begun_ns is None else self._now_ns() - self._begun_ns

    def begin(self, op: str) -> int:
        """A call is about to be made; its instant."""
        with self._lock:
            self._op = op
            self._begun_ns = self._now_ns()
            return self._begun_ns

    def complete(self, op: str, begun_ns: int, transferred: int) -> int:
        """The call has returned; its instant."""
        with self._lock:
            now_ns = self._now_ns()
            self._settle(now_ns)
            cell = self._slice.cell(op)
            cell.bytes += transferred
            cell.latency_sum_ns += now_ns - begun_ns
            cell.latency.record(now_ns - begun_ns)
            return now_ns

    def fail(self, op: str, error: str) -> None:
        """The call has failed."""
        with self._lock:
            self._settle(self._now_ns())
            self._slice.cell(op).errors[error] += 1

    def cut(self, next_phase: Phase | None = None) -> Slice:
        """End the interval that lasts and begin the next, in ``next_phase`` if one is given."""
        with self._lock:
            now_ns = self._now_ns()
            ended = self._slice
            if self._begun_ns is not None:
                ended.busy_ns += now_ns - max(self._begun_ns, ended.start_ns)
                ended.under_way = (self._op, now_ns - self._begun_ns)
            ended.end_ns = now_ns
            self._slice = Slice(ended.stream, next_phase or ended.phase, now_ns)
            return ended

    def _settle(self, now_ns: int) -> None:
        if self._begun_ns is not None:
            self._slice.busy_ns += now_ns - max(self._begun_ns, self._slice.start_ns)
        self._begun_ns = None
