"""Runs that go on as metrics: what their processes have stored so far, added up as it comes.

Model: a run is read from its point that goes on, then line by line, so a look costs what is new. Counters of a run go on from point to
point. Only runs that are being measured are told, `RUNS` at most, with `OPS` operations and `DEVICES` devices each, so the number of
series has a bound whatever a store holds.
Limits: a counter begins at the point that was going on when this process first looked.

    Measured().families(["results/2026-11-23T08-00-58_ramp-oltp-db"])
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from plimsoll import __version__
from plimsoll.analysis.derivation import derivation
from plimsoll.displayed import displayed_in_line
from plimsoll.errors import PlimsollError
from plimsoll.histogram import distribution
from plimsoll.metrics.families import Buckets, Family, Labels, Quantiles, Sample, family
from plimsoll.result import Result
from plimsoll.store.document import read_document
from plimsoll.store.reader import StoredPoint, StoredRun, open_run
from plimsoll.store.tail import Tail
from plimsoll.stored import Interval
from plimsoll.stored import Sample as HostSample

RUNS = 16
OPS = 32
DEVICES = 64
#: What is recent, in nanoseconds of the point's own time.
RECENT_NS = 10_000_000_000
QUANTILES = (0.5, 0.9, 0.99, 0.999)
_LABEL_MAX = 120
_INTERVALS = 1024


@dataclass
class _Op:
    """What was done of one operation."""

    requests: int = 0
    transferred: int = 0
    errors: int = 0
    latency: Buckets = field(default_factory=Buckets)


class Measured:
    """All runs that are followed."""

    def __init__(self) -> None:
        self._runs: dict[str, _Run] = {}
        self._lock = threading.Lock()

    def families(self, paths: Sequence[str], *, also_ended: bool = False) -> list[Family]:
        """The metrics of the runs in these directories, of which those that go on are told; what cannot be read is left out.

        With ``also_ended`` those that have ended are told as well, which is how who follows one run sends its last state.
        """
        with self._lock:
            self._runs = {path: self._runs.get(path) or _Run(path) for path in paths[:RUNS]}
            samples: dict[str, list[Sample]] = {"build_info": [Sample({"version": __version__}, 1.0)]}
            going_on = 0
            for run in self._runs.values():
                with suppress(PlimsollError):
                    stored = open_run(run.path)
                    going_on += stored.status == "running"
                    if also_ended or stored.status == "running":
                        for name, value in run.look(stored):
                            samples.setdefault(name, []).append(value)
            samples["running_runs"] = [Sample({}, float(going_on))]
            return [family(name, found) for name, found in samples.items()]


Samples = list[tuple[str, Sample]]


class _Run:
    """One run, as far as it was read."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._ops: dict[str, _Op] = {}
        self._late = 0
        self._point: _Point | None = None

    def look(self, run: StoredRun) -> Samples:
        """Its metrics."""
        self._read(run)
        labels = {"run": _label(run.name)}
        ended = sum(os.path.lexists(os.path.join(point.path, "result.json")) for point in run.points)
        planned = run.meta.get("points_planned")
        told: Samples = [("points_ended", Sample(labels, float(ended))), ("late_requests", Sample(labels, float(self._late)))]
        if planned is not None:
            told.append(("points_planned", Sample(labels, float(planned))))
        for op, done in self._ops.items():
            told += _of_op({**labels, "op": op}, done)
        if self._point is not None:
            told += self._point.told(run, labels, self._ops)
            told += self._point.remaining(labels, None if planned is None else planned - ended - 1)
        return told

    def _read(self, run: StoredRun) -> None:
        """Count what has come: the rest of the point that was read last, then every newer one."""
        here = next((place for place, point in enumerate(run.points) if self._point is not None and point.id == self._point.id), None)
        for point in run.points[-1:] if here is None else run.points[here:]:
            if self._point is None or point.id != self._point.id:
                self._point = _Point(point)
            for interval in self._point.read():
                self._count(interval)

    def _count(self, interval: Interval) -> None:
        for op, entry in interval.get("summary", {}).items():
            done = self._of(op)
            if done is not None:
                done.requests += entry["count"]
                done.transferred += entry.get("bytes") or 0
                done.errors += entry.get("errors") or 0
        for cell in interval["cells"]:
            done = self._of(cell["op"])
            # What the parts of a target saw is the same once more.
            if done is not None and cell.get("part") is None and (latency := cell.get("latency")):
                done.latency.add(distribution([latency]).buckets(), cell.get("latency_sum_ns") or 0.0)
        self._late += (interval.get("lag") or {}).get("late") or 0

    def _of(self, op: str) -> _Op | None:
        if op not in self._ops and len(self._ops) >= OPS:
            return None
        return self._ops.setdefault(op, _Op())


class _Point:
    """The point that was begun last."""

    def __init__(self, point: StoredPoint) -> None:
        self.id = point.id
        self._path = point.path
        self._skeleton: Result | None = None
        self._intervals = Tail(os.path.join(point.path, "intervals.jsonl"), Interval, _INTERVALS)
        self._samples = Tail(os.path.join(point.path, "monitor.jsonl"), HostSample, 1)

    def read(self) -> list[Interval]:
        """The intervals that have come."""
        self._samples.read()
        return self._intervals.read()

    @property
    def _result(self) -> Result:
        """What was known when it began."""
        if self._skeleton is None:
            started = os.path.join(self._path, "job.json")
            self._skeleton = Result.from_json(read_document(started), started)
        return self._skeleton

    @property
    def _job(self) -> Any:
        return self._result.job

    def _last(self) -> Interval | None:
        return self._intervals.lines[-1] if self._intervals.lines else None

    def told(self, run: StoredRun, labels: Labels, ops: Mapping[str, _Op]) -> Samples:
        """What it is and how far, its newest rates and latencies, and what the host does."""
        job, last = self._job, self._last()
        about = {"label": run.label, "workload": job.workload, "target": job.target, "point": self.id}
        if (derived := derivation(self._result)) is not None:
            about["derived"] = derived
        told: Samples = [("run_info", Sample({**labels, **{name: _label(str(value)) for name, value in about.items()}}, 1.0))]
        told.append(("point_progress", Sample(labels, min(1.0, self._passed_s() / self._planned_s()))))
        told.append(("point_measuring", Sample(labels, float(last is not None and last["phase"] == "measure"))))
        if last is not None and (inflight := last.get("inflight_mean")) is not None:
            told.append(("outstanding_requests", Sample(labels, float(inflight))))
        return told + _recent(self._intervals.lines, labels, ops) + _host(self._samples.lines, labels)

    def remaining(self, labels: Labels, points_left: int | None) -> Samples:
        """Time until the end of the run, as if every point took as long as this one was planned to."""
        if points_left is None:
            return []
        planned_s = self._planned_s()
        return [("run_remaining", Sample(labels, max(0.0, planned_s - self._passed_s()) + max(0, points_left) * planned_s))]

    def _passed_s(self) -> float:
        last = self._last()
        return 0.0 if last is None else last["end_ns"] / 1e9

    def _planned_s(self) -> float:
        return max(1e-9, float(self._job.warmup_s + self._job.duration_s))


def _of_op(labels: Labels, done: _Op) -> Samples:
    counted = (("requests", done.requests), ("transferred", done.transferred), ("request_errors", done.errors))
    told: Samples = [(name, Sample(labels, float(value))) for name, value in counted]
    return [*told, ("request_latency", Sample(labels, done.latency))] if done.latency.count else told


def _recent(intervals: deque[Any], labels: Labels, ops: Mapping[str, _Op]) -> Samples:
    """Rates and latencies of the newest intervals."""
    since_ns = intervals[-1]["end_ns"] - RECENT_NS if intervals else 0
    newest = [interval for interval in intervals if interval["start_ns"] >= since_ns]
    seconds = sum(interval["end_ns"] - interval["start_ns"] for interval in newest) / 1e9
    told: Samples = []
    for op, done in ops.items() if seconds > 0 else ():
        of_op = {**labels, "op": op}
        entries = [entry for interval in newest if (entry := interval.get("summary", {}).get(op)) is not None]
        told.append(("recent_requests_per_second", Sample(of_op, sum(entry["count"] for entry in entries) / seconds)))
        told.append(("recent_bytes_per_second", Sample(of_op, sum(entry.get("bytes") or 0 for entry in entries) / seconds)))
        latencies = [cell["latency"] for interval in newest for cell in _whole(interval, op)]
        if latencies:
            found = distribution(latencies)
            values = {share: (found.value_at(100 * share) or 0) / 1e9 for share in QUANTILES}
            told.append(("recent_latency", Sample(of_op, Quantiles(values, done.latency.count, done.latency.sum_s))))
    return told


def _whole(interval: Interval, op: str) -> Iterable[Any]:
    return (cell for cell in interval["cells"] if cell["op"] == op and cell.get("part") is None and cell.get("latency"))


#: What the host's counters are called, and how many of ours one of theirs is.
_DEVICE = {
    "r_per_s": ("host_device_reads_per_second", 1.0),
    "w_per_s": ("host_device_writes_per_second", 1.0),
    "read_bytes_per_s": ("host_device_read_bytes_per_second", 1.0),
    "write_bytes_per_s": ("host_device_written_bytes_per_second", 1.0),
    "util_percent": ("host_device_busy", 0.01),
    "queue_mean": ("host_device_queue_length", 1.0),
}


def _host(samples: deque[Any], labels: Labels) -> Samples:
    if not samples:
        return []
    told: Samples = []
    idle = (samples[-1].get("cpu") or {}).get("idle_percent")
    if idle is not None:
        told.append(("host_cpu_busy", Sample(labels, 1.0 - idle / 100)))
    for device, counters in sorted((samples[-1].get("devices") or {}).items())[:DEVICES]:
        for counter, (name, factor) in _DEVICE.items():
            if (value := counters.get(counter)) is not None:
                told.append((name, Sample({**labels, "device": _label(device)}, factor * value)))
    return told


def _label(text: str) -> str:
    shown = displayed_in_line(text)
    return shown if len(shown) <= _LABEL_MAX else f"{shown[: _LABEL_MAX - 1]}…"
