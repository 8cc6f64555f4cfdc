"""Recorded points made from given latencies, for exporters and importers that are tested on data with known truth.

Model: every interval of a stream and operation completes the same requests; what the totals say is summarised from the intervals, as the
engine's are. Equal arguments give equal points.

    recorded_point(Load(latencies_ns={"read": (100_000,) * 50}), Load(name="log", latencies_ns={"write": (50_000,)}))
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from plimsoll.analysis.point.summary import summarise
from plimsoll.formats.stored_point import MOVES, Recorded
from plimsoll.histogram import Histogram
from plimsoll.result import JobRecord, Result

Json = dict[str, Any]
INTERVAL_NS = 500_000_000
HOST = {"machine": {"name": "bench"}, "target": {"size_bytes": 1 << 30, "devices": [{"name": "sda"}]}}
RATES = {"r_per_s": 100.0, "w_per_s": 50.0, "r_await_ms": 0.5, "w_await_ms": 1.0, "queue_mean": 0.1, "util_percent": 40.0}


@dataclass(frozen=True)
class Load:
    """One stream: its options, and what each of its intervals completes."""

    name: str = "main"
    latencies_ns: Mapping[str, Sequence[int]] = field(default_factory=lambda: {"read": (100_000,) * 50})
    service_ns: Mapping[str, Sequence[int]] = field(default_factory=dict)
    size_bytes: int = 8192
    options: Mapping[str, Any] = field(default_factory=dict)


def drawn(seed: int, count: int = 500, median_ns: float = 80_000.0) -> tuple[int, ...]:
    """Latencies with a long tail, equal for equal seeds."""
    source = random.Random(seed)
    return tuple(int(source.lognormvariate(0, 1) * median_ns) + 1 for _ in range(count))


def recorded_point(*loads: Load, intervals: int = 6, workload: str = "oltp-db", status: str = "complete") -> Recorded:
    """A point of these streams; one interval of warm-up comes first."""
    streams = loads or (Load(),)
    lines = [_interval(index, streams) for index in range(intervals + 1)]
    summary = summarise(lines)
    sample = {"seconds": intervals * INTERVAL_NS / 1e9, "devices": {"sda": RATES}, "cpu": {"user_percent": 5.0, "system_percent": 10.0}}
    definition = {"name": workload, "stream": [_stream(load) for load in streams]}
    result = Result(
        id=f"0001-{workload}",
        status=status,
        error=None,
        started="2026-11-21T10:00:00+00:00",
        modelled=False,
        job=JobRecord(
            workload=workload,
            title="OLTP database",
            group="random",
            target="/dev/sda",
            seed=1,
            repeat=1,
            duration_s=intervals * INTERVAL_NS / 1e9,
            warmup_s=INTERVAL_NS / 1e9,
            threads=1,
            queue_depth=4,
            arrival="closed",
            definition=definition,
            options={"duration": 3},
        ),
        totals=summary.totals(),
        streams=summary.streams(),
        engine={"backend": {"used": "uring"}, "engine": {"workers": 1}, "cpu_ns": {"user": 10**8, "system": 2 * 10**8}, "end_ns": 10**9},
        host=HOST,
        monitor=sample,
        versions={"plimsoll": "0.1.0"},
    )
    ended = [{**sample, "index": index, "end_ns": (index + 1) * INTERVAL_NS, "seconds": 0.5} for index in range(intervals + 1)]
    return Recorded(result, lines, ended)


def _stream(load: Load) -> Json:
    reads = len(load.latencies_ns.get("read", ()))
    whole = sum(len(values) for op, values in load.latencies_ns.items() if op != "flush")
    mix = {"read_percent": round(100 * reads / whole) if whole else 100}
    return {"name": load.name, "block_size": load.size_bytes, "queue_depth": 4, "threads": 1, **mix, **load.options}


def _interval(index: int, loads: Sequence[Load]) -> Json:
    cells = [_cell(load, op) for load in loads for op in load.latencies_ns]
    return {
        "index": index,
        "start_ns": index * INTERVAL_NS,
        "end_ns": (index + 1) * INTERVAL_NS,
        "phase": "warmup" if index == 0 else "measure",
        "inflight_mean": 4.0,
        "backlog_ns": 0,
        "lag": None,
        "cells": cells,
        "summary": {cell["op"]: {"count": cell["count"], "bytes": cell["bytes"], "errors": 0} for cell in cells},
    }


def _cell(load: Load, op: str) -> Json:
    latencies, service = load.latencies_ns[op], load.service_ns.get(op)
    return {
        "stream": load.name,
        "op": op,
        "part": None,
        "count": len(latencies),
        "bytes": len(latencies) * load.size_bytes if op in MOVES else 0,
        "errors": {},
        "latency": _encoded(latencies),
        "latency_sum_ns": float(sum(latencies)),
        "service": _encoded(service) if service else None,
        "service_sum_ns": float(sum(service)) if service else None,
    }


def _encoded(values: Sequence[int]) -> str:
    histogram = Histogram()
    for value in values:
        histogram.record(value)
    return histogram.encode()
