"""Results made from numbers, for analysis that is tested on data with known truth.

Model: one stream that reads; rates and latencies are given, every percentile is a fixed multiple of the mean. Intervals are symmetrical,
``spread`` of the value on each side.
Limits: nothing else is consistent; such results are for reading figures from, not for storing.

    made(Load(iops=1000, mean_ns=2e6), level=4, repeat=2)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from plimsoll.result import Estimate, JobRecord, LatencySummary, OpTotals, Result

Json = dict[str, Any]
#: Percentiles of an exponential distribution as multiples of its mean.
SHAPE = {"p50": 0.693, "p90": 2.303, "p95": 2.996, "p99": 4.605, "p999": 6.908, "max": 12.0}
HOST: Json = {
    "machine": {"name": "bench"},
    "cpu": {"model": "Xeon 3.2"},
    "kernel": {"release": "6.1.0"},
    "target": {"kind": "file", "size_bytes": 1 << 30},
}


@dataclass(frozen=True)
class Load:
    """What a point carried. ``spread`` is the relative half-width of every interval, None for no intervals."""

    iops: float
    mean_ns: float
    spread: float | None = 0.01
    block_bytes: int = 4096
    batches: int = 30


@dataclass(frozen=True)
class Setting:
    """What a point was asked to be."""

    workload: str = "oltp-db"
    title: str = "OLTP database"
    group: str = "random"
    target: str = "/dev/sdb"
    options: Mapping[str, Any] = field(default_factory=dict)
    place: Mapping[str, Any] = field(default_factory=dict)


def made(load: Load, level: float | None = None, repeat: int = 1, setting: Setting = Setting()) -> Result:
    """A complete point; with a level it stands in an experiment that steps the queue depth."""
    definition = {
        "name": setting.workload,
        "stream": [{"name": "main", "block_size": load.block_bytes, "read_percent": 100, **setting.options}],
    }
    if level is not None and "queue_depth" not in setting.options:
        definition["stream"][0]["queue_depth"] = level
    place = (
        {}
        if level is None
        else {"experiment": "steps", "kind": "steps", "settings": {"queue_depth": level}, "level": level, "role": "point"}
    )
    return Result(
        id=f"{setting.workload}-{level}-{repeat}",
        status="complete",
        error=None,
        started="2026-11-21T10:00:00+00:00",
        modelled=False,
        job=JobRecord(
            workload=setting.workload,
            title=setting.title,
            group=setting.group,
            target=setting.target,
            seed=repeat,
            repeat=repeat,
            duration_s=10.0,
            warmup_s=1.0,
            threads=1,
            queue_depth=None if level is None else int(level),
            arrival=setting.options.get("arrival", "closed"),
            definition=definition,
            options={"duration": 10, "warmup": 1, "seed": repeat},
        ),
        totals={"read": _totals(load)},
        host=HOST,
        versions={"plimsoll": "0.2.0"},
        offered_per_s=setting.options.get("rate"),
        estimates=_estimates(load),
        place={**place, **setting.place},
    )


def failed(level: float, error: str = "no space left on device") -> Result:
    """A point that did not come to numbers."""
    return replace(made(Load(1.0, 1.0), level), status="failed", error=error, totals={}, estimates={})


def _totals(load: Load) -> OpTotals:
    percentiles = {name: round(factor * load.mean_ns) for name, factor in SHAPE.items()}
    latency = LatencySummary(mean=load.mean_ns, min=1, stddev=load.mean_ns, **percentiles)
    return OpTotals(
        count=round(load.iops * 10),
        iops=load.iops,
        bytes=round(load.iops * 10 * load.block_bytes),
        bytes_per_s=load.iops * load.block_bytes,
        errors=0,
        latency_ns=latency,
        service_ns=latency,
    )


def _estimates(load: Load) -> dict[str, dict[str, Estimate]]:
    values = {"iops": load.iops, "bytes_per_s": load.iops * load.block_bytes, "mean": load.mean_ns}
    values |= {name: factor * load.mean_ns for name, factor in SHAPE.items() if name != "max"}
    if load.spread is None:
        return {}
    spread = load.spread
    made_of = {name: Estimate(value, value * (1 - spread), value * (1 + spread), load.batches) for name, value in values.items()}
    return {"all": made_of, "read": made_of}
