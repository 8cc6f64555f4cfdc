"""The engine's seam, scripted: answers like the real engine, at once and with known numbers, and performs no I/O.

Model: `Script` says what a job does; every interval completes the same number of requests with the same latencies. What workloads and
options mean is still asked from the real ``plimsoll._core``, which needs no target for it.

    engine = ScriptedEngine(Script(intervals=10, latencies_ns=(100_000,) * 50))
    engine.run_job(job, on_event, engine.control())
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from hdrh.histogram import HdrHistogram

from plimsoll.engine.block import NativeEngine
from plimsoll.engine.protocol import IoUring, OnEvent, OnProgress, Permission
from plimsoll.errors import PlimsollError
from plimsoll.own_cost import OwnCost
from plimsoll.stored import Json
from plimsoll.target import Target

INTERVAL_NS = 100_000_000


@cache
def encoded(latencies_ns: tuple[int, ...]) -> str:
    """A histogram as the engine stores it (HDR V2, deflate, base64)."""
    histogram = HdrHistogram(1, 3_600_000_000_000, 3)
    for value, count in Counter(latencies_ns).items():
        histogram.record_value(value, count)
    return histogram.encode().decode()


@dataclass
class Script:
    """What one job does."""

    intervals: int = 10
    warmup_intervals: int = 2
    latencies_ns: tuple[int, ...] = (100_000,) * 100
    service_ns: tuple[int, ...] | None = None
    request_bytes: int = 4096
    ops: tuple[str, ...] = ("read",)
    parts: tuple[str | None, ...] = (None,)
    errors: dict[str, int] = field(default_factory=dict)
    outcome: Json = field(default_factory=dict)
    raises: PlimsollError | None = None
    raises_at: int = 0
    on_interval: Callable[[int], None] = lambda index: None


class ScriptedControl:
    """A brake that only remembers."""

    def __init__(self) -> None:
        self.stopped = False
        self.aborted = False

    def stop(self) -> None:
        self.stopped = True

    def abort(self) -> None:
        self.stopped = self.aborted = True


#: What a file that was made by script holds.
SCRATCH = b"\1" * 65536


def _is_ours(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(1) == SCRATCH[:1]
    except OSError:
        return False


class ScriptedEngine(NativeEngine):
    """`Engine` by script; ``jobs`` holds every job it was given."""

    def __init__(self, *scripts: Script, inspection: Json | None = None) -> None:
        from plimsoll import _core

        super().__init__(_core)
        self.scripts = list(scripts) or [Script()]
        self.inspection = inspection
        self.jobs: list[Json] = []
        self.prepared: list[tuple[str, int | None, Permission | None]] = []
        self.released: list[str] = []
        self.prepare_raises: PlimsollError | None = None
        #: What no permission lifts, by target.
        self.write_refusals: dict[str, str] = {}
        self.calibrations: list[float] = []
        self.last_control = ScriptedControl()

    def control(self) -> Any:
        self.last_control = ScriptedControl()
        return self.last_control

    def inspect_target(self, target: Target) -> Json:
        spec = target.text
        if self.inspection is not None:
            return dict(self.inspection)
        if spec.startswith(("null:", "queue:")):
            return {"kind": spec.split(":", maxsplit=1)[0], "exists": True, "size_bytes": 1 << 30, "logical_block_bytes": 512, "parts": []}
        path = spec.removeprefix("file:")
        size = os.path.getsize(path) if os.path.exists(path) else 0
        known = {"kind": "file", "path": path, "exists": os.path.exists(path), "size_bytes": size, "logical_block_bytes": 512, "parts": []}
        return {**known, "made_by_plimsoll": _is_ours(path)}

    def write_refusal(self, target: Target, permission: Permission | None) -> str | None:
        refusal: str | None = self.inspect_target(target).get("write_refusal")
        return refusal if permission is None else self.write_refusals.get(target.text)

    def prepare_target(
        self, target: Target, size_bytes: int | None, permission: Permission | None, on_progress: OnProgress, control: Any
    ) -> Json:
        self.prepared.append((target.text, size_bytes, permission))
        if self.prepare_raises is not None:
            raise self.prepare_raises
        inspection = self.inspect_target(target)
        if inspection["kind"] == "file" and not inspection["exists"]:
            with open(inspection["path"], "wb") as file:
                file.write(SCRATCH)
            on_progress(65536, 65536)
            return {**self.inspect_target(target), "created": True, "filled_bytes": 65536}
        return {**inspection, "created": False, "filled_bytes": 0}

    def remove_target(self, target: Target) -> list[str]:
        os.unlink(target.text)
        return [target.text]

    def release_target(self, target: Target) -> None:
        self.released.append(target.text)

    def run_job(self, job: Json, on_event: OnEvent, control: Any) -> Json:
        script = self.scripts[min(len(self.jobs), len(self.scripts) - 1)]
        self.jobs.append({**job, "target": job["target"].text})
        streams = [stream["name"] for stream in job["workload"]["stream"]]
        if script.raises is not None and script.raises_at == 0:
            raise script.raises
        on_event("start", {"monotonic_ns": 0, "wall_ns": 0})
        total = script.warmup_intervals + script.intervals
        for index in range(total):
            if control.stopped:
                break
            if script.raises is not None and index == script.raises_at:
                raise script.raises
            on_event("interval", interval(script, index, streams))
            on_event("tick", {"index": index, "monotonic_ns": (index + 1) * INTERVAL_NS})
            script.on_interval(index)
        return {
            "backend": {"asked": "auto", "used": "uring", "fallback_reason": None},
            "engine": {"workers": 1, "clock": {"source": "tsc", "drift_ppm": 0.1}},
            "end_ns": total * INTERVAL_NS,
            "stopped_by": "signal" if control.stopped else "duration",
            "first_error": None,
            "cpu_ns": {"user": 1000, "system": 1000},
            "verify": None,
            **script.outcome,
        }

    def calibrate(self, seconds: float) -> OwnCost:
        self.calibrations.append(seconds)
        return OwnCost({"null": {"iops_per_core": 40e6, "stamp_ns": 20.0}, "nop": {"iops_per_core": 10e6, "ring_ns": 60.0}})

    def probe_io_uring(self) -> IoUring:
        return IoUring(available=True)


def interval(script: Script, index: int, streams: list[str]) -> Json:
    """One interval; ``inflight_mean`` obeys Little's law."""
    latencies, service = script.latencies_ns, script.service_ns or script.latencies_ns
    # Like the engine: one cell per stream over all parts and, of a target of several, one per part over all streams.
    places = [(stream, None, len(script.parts)) for stream in streams]
    places += [(None, part, len(streams)) for part in script.parts if part is not None]
    cells = [
        {
            "stream": stream,
            "op": op,
            "part": part,
            "count": len(latencies) * times,
            "bytes": len(latencies) * times * script.request_bytes,
            "errors": dict(script.errors),
            "latency": encoded(latencies * times),
            "service": None if script.service_ns is None else encoded(service * times),
        }
        for stream, part, times in places
        for op in script.ops
    ]
    per_op = len(latencies) * len(streams) * len(script.parts)
    ordered = sorted(latencies)
    entry = {
        "count": per_op,
        "bytes": per_op * script.request_bytes,
        "errors": sum(script.errors.values()),
        "mean_ns": sum(latencies) / len(latencies),
        "p50_ns": ordered[len(ordered) // 2],
        "p99_ns": ordered[-1],
        "max_ns": ordered[-1],
    }
    return {
        "index": index,
        "phase": "warmup" if index < script.warmup_intervals else "measure",
        "start_ns": index * INTERVAL_NS,
        "end_ns": (index + 1) * INTERVAL_NS,
        "inflight_mean": len(script.ops) * per_op * (sum(service) / len(service)) / INTERVAL_NS,
        "summary": {op: dict(entry) for op in script.ops},
        "cells": cells,
        "lag": None,
        "backlog_ns": 0,
    }
