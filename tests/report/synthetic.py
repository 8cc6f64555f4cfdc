"""Made-up runs in the layout of the store, so that the report can be tested and looked at without measuring anything.

Model: each profile has a service time per operation on a made-up array of a given speed; latencies are lognormal with a slow tail,
drawn as quantiles (no I/O is simulated), with a slower warm-up and one stall. Equal arguments give equal files.
Limits: the numbers obey Little's law and nothing else; they stand for no hardware.

    write_run(tmp_path / "base", Array("base", speed=1.0), PROFILES)
"""

from __future__ import annotations

import json
import math
import random
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import accumulate, compress
from pathlib import Path
from statistics import NormalDist
from typing import Any

from hdrh.histogram import HdrHistogram

from plimsoll.reports.view.distribution import Distribution

Json = dict[str, Any]

HIGHEST_NS = 100_000_000_000
DIGITS = 2
_NORMAL = NormalDist()
_QUANTILES = [(rank + 0.5) / 48 for rank in range(48)]
#: Points that were made already, by their arguments.
_MADE: dict[str, tuple[str, tuple[tuple[str, str], ...]]] = {}


@dataclass(frozen=True)
class Profile:
    """One workload: how it mixes, how large its blocks are, how long one block takes on the made-up array."""

    name: str
    title: str
    group: str
    block_bytes: int
    read_percent: int
    service_us: float
    #: Requests per second; None: what the service time gives.
    rate_per_s: float | None = None


@dataclass(frozen=True)
class Array:
    """One configuration: relative speed, and what is special about its result."""

    name: str
    label: str | None = None
    target: str = "/dev/sdb"
    speed: float = 1.0
    repeats: int = 1
    seconds: int = 20
    modelled: bool = False
    parts: tuple[str, ...] = ()
    flags: tuple[tuple[str, str], ...] = ()
    broken: tuple[tuple[str, str], ...] = ()
    open_loop: bool = False
    #: What the engine tells of a modelled array.
    engine: Json = field(default_factory=dict)


PROFILES = (
    Profile("media-streaming", "Media streaming", "sequential", 65536, 98, 140),
    Profile("sql-server-log", "SQL Server log", "sequential", 65536, 0, 160),
    Profile("os-paging", "OS paging", "sequential", 65536, 90, 150),
    Profile("web-server-log", "Web server log", "sequential", 8192, 0, 60),
    Profile("oltp-db", "OLTP database", "random", 8192, 70, 900),
    Profile("exchange-server", "Exchange server", "random", 8192, 67, 950),
    Profile("decision-support-system-db", "Decision support database", "random", 1048576, 100, 4200),
    Profile("video-on-demand", "Video on demand", "random", 524288, 80, 2600),
    Profile("workstation", "Workstation", "combined", 8192, 80, 700),
    Profile("web-file-server4k", "Web file server, 4 KiB", "combined", 4096, 95, 620),
    Profile("web-file-server8k", "Web file server, 8 KiB", "combined", 8192, 95, 660),
    Profile("web-file-server64k", "Web file server, 64 KiB", "combined", 65536, 95, 1100),
)

_FLAGS = {
    "not-steady": ("doubt", "IOPS drift by 12 % over the measured time.", "Measure longer, or precondition the target first."),
    "sparse-target": (
        "invalid",
        "31 % of the file has no blocks, so reads of it never reach the disk.",
        "Let Plimsoll fill it: give a size and no old file.",
    ),
    "cpu-governor": ("note", "The CPU governor is 'powersave'.", "Set it to 'performance' when latencies below 100 µs matter."),
}
_HOST = {
    "machine": {"vendor": "HP", "product": "ProLiant DL360 Gen8", "serial": "CZ1234ABCD"},
    "cpu": {"model": "Intel Xeon E5-2640", "cores": 6, "threads": 12, "governor": "performance"},
    "memory": {"total_bytes": 68719476736},
    "kernel": {"release": "6.1.0-26-amd64"},
}
_TARGET = {
    "kind": "device",
    "size_bytes": 599550590976,
    "devices": [
        {
            "name": "sdb",
            "model": "LOGICAL VOLUME",
            "serial": "PDNLH0BRH7",
            "size_bytes": 599550590976,
            "rotational": True,
            "scheduler": "mq-deadline",
            "nr_requests": 256,
            "write_cache": "write back",
            "temperature": None,
            "absent": {"temperature": "no such file"},
        }
    ],
}


def component(set_: str, utilisation: float, kind: str = "disk") -> Json:
    """What the engine tells of one component of a modelled array, of which equal ones make a set."""
    counted = {"operations": 1000, "bytes": 8192000, "mean_queue": 2.0, "elapsed_ns": 1_000_000_000, "hit_share": None}
    return {"set": set_, "name": f"{set_} {utilisation}", "kind": kind, "utilisation": utilisation, **counted}


def write_run(folder: Path, array: Array, profiles: Sequence[Profile] = PROFILES) -> Path:
    """Write one run of every profile, repeated as asked."""
    folder.mkdir(parents=True)
    status = "incomplete" if any(kind == "incomplete" for _, kind in array.broken) else "complete"
    run = {
        "schema": "plimsoll.run/1",
        "status": status,
        "created": "2026-11-21T03:44:10+00:00",
        "host": _HOST,
        "label": array.label,
        "versions": {"plimsoll": "0.1.0", "python": "3.11.2"},
        "command": ["plimsoll", "run", "proliant", "--target", array.target],
    }
    (folder / "run.json").write_text(json.dumps(run))
    number = 0
    for profile in profiles:
        for repeat in range(1, array.repeats + 1):
            number += 1
            write_point(folder / "points", number, repeat, array, profile)
    return folder


def write_point(points: Path, number: int, repeat: int, array: Array, profile: Profile) -> Path:
    """Write one point and give its directory."""
    key = repr((number, repeat, array, profile))
    if key not in _MADE:
        _MADE[key] = _point(number, repeat, array, profile)
    identity, files = _MADE[key]
    folder = points / identity
    folder.mkdir(parents=True)
    for name, text in files:
        (folder / name).write_text(text)
    return folder


def _point(number: int, repeat: int, array: Array, profile: Profile) -> tuple[str, tuple[tuple[str, str], ...]]:
    """The name of its directory, and its files by name."""
    random_ = random.Random(f"{profile.name} {array.name} {repeat}")
    status = dict(array.broken).get(profile.name, "complete")
    seconds = {"complete": array.seconds, "failed": 0}.get(status, array.seconds // 2)
    warmup = min(4, seconds)
    interval_ns = 500_000_000
    total = {op: histogram() for op in _ops(profile)}
    own = {op: histogram() for op in _ops(profile)}
    intervals, monitor = [], []
    for index in range(2 * seconds):
        start_ns = index * interval_ns
        phase = "warmup" if start_ns < warmup * 1_000_000_000 else "measure"
        pace = _pace(random_, index, 2 * seconds, phase) * array.speed * (1 + 0.03 * (repeat - 1))
        interval = _interval(profile, array, random_, pace)
        if phase == "measure":
            for cell in interval["cells"]:
                total[cell["op"]].add(_decode(cell["latency"]))
                own[cell["op"]].add(_decode(cell["service"] or cell["latency"]))
        intervals.append({"index": index, "phase": phase, "start_ns": start_ns, "end_ns": start_ns + interval_ns, **interval})
        if not array.modelled:
            monitor.append(_sample(index, start_ns, start_ns + interval_ns, interval, random_))
    measured_s = max(seconds - warmup, 1)
    result = _result(number, repeat, array, profile, status)
    if seconds:
        result["totals"] = {op: _total(profile, total[op], own[op], measured_s, array.open_loop) for op in _ops(profile)}
        result["streams"] = {"main": result["totals"]}
        result["parts"] = {part: _share(result["totals"], len(array.parts)) for part in array.parts}
    files = {
        "result.json": json.dumps(result),
        "intervals.jsonl": "".join(json.dumps(line) + "\n" for line in intervals),
        "monitor.jsonl": "".join(json.dumps(line) + "\n" for line in monitor),
    }
    return str(result["id"]), tuple(files.items())


def _ops(profile: Profile) -> list[str]:
    return [op for op, percent in (("read", profile.read_percent), ("write", 100 - profile.read_percent)) if percent]


def _pace(random_: random.Random, index: int, count: int, phase: str) -> float:
    warming = 0.55 + 0.4 * min(1.0, index / 8) if phase == "warmup" else 1.0
    stall = 0.35 if index == int(count * 0.7) else 1.0
    return warming * stall * (1 + 0.04 * random_.gauss(0, 1) + 0.05 * math.sin(index / 5))


def _interval(profile: Profile, array: Array, random_: random.Random, pace: float) -> Json:
    cells: list[Json] = []
    summary: Json = {}
    for op in _ops(profile):
        share = (profile.read_percent if op == "read" else 100 - profile.read_percent) / 100
        latency_us = profile.service_us * (1.0 if op == "read" else 0.55) / pace
        count = max(1, int(0.5 * share * (profile.rate_per_s or 8 * 1e6 / profile.service_us) * pace))
        service = _lognormal(latency_us * 8, 0.5 if op == "read" else 0.8, count, random_)
        latency = _lognormal(latency_us * 8 * (1 + 2 / pace), 0.7, count, random_) if array.open_loop else service
        p50, p99 = _at_percentiles(latency, (50, 99))
        cells.append(
            {
                "stream": "main",
                "op": op,
                "part": None,
                "count": count,
                "bytes": count * profile.block_bytes,
                "errors": {},
                "latency": latency.encode().decode(),
                "service": service.encode().decode() if array.open_loop else None,
            }
        )
        summary[op] = {
            "count": count,
            "bytes": count * profile.block_bytes,
            "errors": 0,
            "mean_ns": _moments(latency)[0],
            "p50_ns": p50,
            "p99_ns": p99,
            "max_ns": latency.get_max_value(),
        }
    lag = {"late": 0, "p99_ns": int(40_000 * random_.random()), "max_ns": 90_000} if array.open_loop else None
    return {"inflight_mean": 8.0, "summary": summary, "cells": cells, "lag": lag, "backlog_ns": 0}


def _lognormal(median_us: float, sigma: float, count: int, random_: random.Random) -> HdrHistogram:
    drawn = histogram()
    for rank in _QUANTILES:
        value = median_us * math.exp(sigma * _NORMAL.inv_cdf(rank))
        drawn.record_value(max(1, int(value * 1000)), max(1, count // len(_QUANTILES)))
    for _ in range(max(1, count // 400)):
        drawn.record_value(int(median_us * 1000 * (4 + 12 * random_.random() ** 3)), 1)
    return drawn


def histogram() -> HdrHistogram:
    """An empty histogram of nanoseconds."""
    return HdrHistogram(1, HIGHEST_NS, DIGITS)


def _decode(encoded: str) -> HdrHistogram:
    return HdrHistogram.decode(encoded)


def plain_distribution(encoded: Iterable[str]) -> Distribution:
    """What `plimsoll.histogram.distribution` yields, read by the third-party package and asked in plain Python."""
    total: Counter[int] = Counter()
    for text in encoded:
        total.update(dict(_buckets(_decode(text))))
    return Distribution(sorted(total.items()))


def _buckets(held: HdrHistogram) -> list[tuple[int, int]]:
    counts = memoryview(held.encoder.payload.counts).cast("B").cast("Q").tolist()
    highest = _highest_values(held.lowest_trackable_value, held.highest_trackable_value, held.significant_figures)
    return list(zip(compress(highest, counts), compress(counts, counts), strict=True))


@cache
def _highest_values(lowest: int, highest: int, digits: int) -> list[int]:
    """The highest value that each slot of such a histogram stands for."""
    held = HdrHistogram(lowest, highest, digits)
    return [held.get_highest_equivalent_value(held.get_value_from_index(slot)) for slot in range(held.counts_len)]


def _moments(held: HdrHistogram) -> tuple[float, float]:
    """Mean and standard deviation; the package's own walk every empty slot in Python."""
    found = _buckets(held)
    total = held.get_total_count()
    mean = sum(value * count for value, count in found) / total
    return mean, math.sqrt(sum(count * (value - mean) ** 2 for value, count in found) / total)


def _at_percentiles(held: HdrHistogram, levels: Iterable[float]) -> list[int]:
    """The package's ``get_value_at_percentile``, without its walk over every empty slot for every level."""
    found = _buckets(held)
    up_to = list(accumulate(count for _, count in found))
    return [found[bisect_left(up_to, held.get_target_count_at_percentile(level))][0] for level in levels]


def _sample(index: int, start_ns: int, end_ns: int, interval: Json, random_: random.Random) -> Json:
    read, write = (interval["summary"].get(op, {"count": 0, "mean_ns": 0}) for op in ("read", "write"))
    busy = 0.06 + 0.02 * random_.random()
    device = {
        "r_per_s": read["count"] * 2,
        "w_per_s": write["count"] * 2,
        "r_await_ms": read["mean_ns"] * 0.97e-6,
        "w_await_ms": write["mean_ns"] * 0.96e-6,
        "queue_mean": 7.6 + 0.3 * random_.random(),
        "util_percent": 97 + 2 * random_.random(),
    }
    cpu = {
        "user_percent": 100 * busy,
        "system_percent": 160 * busy,
        "iowait_percent": 30 + 5 * random_.random(),
        "idle_percent": 45.0,
        "steal_percent": 0.0,
    }
    return {"index": index, "seconds": (end_ns - start_ns) / 1e9, "end_ns": end_ns, "cpu": cpu, "devices": {"sdb": device}}


def _total(profile: Profile, latency: HdrHistogram, service: HdrHistogram, seconds: float, open_loop: bool) -> Json:
    count = latency.get_total_count()
    return {
        "count": count,
        "iops": count / seconds,
        "bytes": count * profile.block_bytes,
        "errors": 0,
        "bytes_per_s": count * profile.block_bytes / seconds,
        "latency_ns": _summary(latency),
        "service_ns": _summary(service if open_loop else latency),
    }


def _summary(held: HdrHistogram) -> Json:
    levels = {"p50": 50, "p90": 90, "p95": 95, "p99": 99, "p999": 99.9}
    mean, stddev = _moments(held)
    return {
        "mean": mean,
        "min": held.get_min_value(),
        "max": held.get_max_value(),
        "stddev": stddev,
        **dict(zip(levels, _at_percentiles(held, levels.values()), strict=True)),
    }


def _share(totals: Json, parts: int) -> Json:
    scaled = ("count", "iops", "bytes", "bytes_per_s")
    return {op: {key: value / parts if key in scaled else value for key, value in total.items()} for op, total in totals.items()}


def _result(number: int, repeat: int, array: Array, profile: Profile, status: str) -> Json:
    error = {
        "failed": f"{array.target}: no space left on the device after 1.2 GiB; give a smaller size.",
        "interrupted": "Stopped by Ctrl-C; what was measured until then is kept.",
        "incomplete": "The run ended before this point did; what was measured until then is kept.",
    }.get(status)
    flags = [_FLAGS[name] for where, name in array.flags if where == profile.name]
    names = [name for where, name in array.flags if where == profile.name]
    definition = {
        "name": profile.name,
        "title": profile.title,
        "group": profile.group,
        "purpose": f"Stands for the load of: {profile.title.lower()}.",
        "expect": "Bound by seeks on disks, by IOPS on flash.",
        "stream": [{"name": "main", "block_size": profile.block_bytes, "read_percent": profile.read_percent, "queue_depth": 8}],
    }
    return {
        "schema": "plimsoll.result/1",
        "id": f"{number:04d}-{profile.name}",
        "status": status,
        "error": error,
        "started": "2026-11-21T03:44:12+00:00",
        "modelled": array.modelled,
        "job": {
            "workload": profile.name,
            "title": profile.title,
            "group": profile.group,
            "target": array.target,
            "seed": 1,
            "repeat": repeat,
            "duration_s": float(array.seconds - 4),
            "warmup_s": 4.0,
            "threads": 1,
            "queue_depth": 8,
            "arrival": "poisson" if array.open_loop else "closed",
            "definition": definition,
            "options": {"duration": 16, "warmup": 4, "interval": 0.5, "backend": "auto", "seed": 1},
        },
        "totals": {},
        "streams": {},
        "parts": {},
        "errors": {"read": {"EIO": 2}} if status == "interrupted" else {},
        "flags": [
            {"name": name, "severity": flag[0], "message": flag[1], "advice": flag[2]} for name, flag in zip(names, flags, strict=True)
        ],
        "engine": {
            "backend": {"asked": "auto", "used": "uring", "fallback_reason": None},
            "engine": {"workers": 1, "clock": {"source": "tsc", "drift_ppm": 0.4}, **array.engine},
            "cpu_ns": {"user": 210_000_000, "system": 480_000_000},
        },
        "host": {**_HOST, "target": {"kind": "array", "spec": array.target} if array.modelled else _TARGET},
        "monitor": {},
        "calibration": None,
        "versions": {"plimsoll": "0.1.0", "python": "3.11.2"},
        "offered_per_s": 5000.0 if array.open_loop else None,
    }
