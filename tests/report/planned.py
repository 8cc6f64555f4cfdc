"""Made-up runs of experiments in the layout of the store: load lines, a matrix, scaling, rounds to steady state, published figures.

Model: a made-up array carries N requests at once at a rate of capacity × N / (N + half), and answers in N / rate; a workload over larger
regions or with larger blocks has less capacity. Every figure gets a 95 % interval of a given width. Equal arguments give equal files.
Limits: the numbers obey Little's law and nothing else; they stand for no hardware.

    write_planned(tmp_path / "run", [steps(), ramp(), matrix()])
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from report.synthetic import PROFILES, Array, Profile, write_point

Json = dict[str, Any]

BY_NAME = {profile.name: profile for profile in PROFILES}
#: Name, relative capacity.
TWO = (("10K SAS", 1.0), ("15K SAS", 1.35))
SECONDS = 5
DEPTHS = (1, 2, 4, 8, 16, 32, 64)


@dataclass(frozen=True)
class Point:
    """One point of an experiment: what was set, and what came out."""

    workload: str
    configuration: str
    settings: Json
    rate_per_s: float
    response_us: float
    level: float | None = None
    role: str = "point"
    repeat: int = 1
    offered_per_s: float | None = None
    block_bytes: int | None = None


@dataclass(frozen=True)
class Planned:
    """An experiment with its points as they were measured."""

    definition: Json
    points: Sequence[Point]
    conclusions: Sequence[Json] = ()


@dataclass(frozen=True)
class Run:
    """What is special about a run: relative width of the intervals, and its suite."""

    width: float = 0.02
    suite: Json | None = None
    modelled: bool = False
    broken: tuple[int, ...] = ()
    label: str | None = None
    extra: Json = field(default_factory=dict)


def carried(capacity_per_s: float, concurrency: float, half: float = 8.0) -> tuple[float, float]:
    """Rate per second and response in µs with so many requests at once."""
    rate = capacity_per_s * concurrency / (concurrency + half)
    return rate, 1e6 * concurrency / rate


def _definition(name: str, kind: str, workloads: Sequence[str], configurations: Sequence[str], **more: Any) -> Json:
    return {
        "name": name,
        "kind": kind,
        "workloads": list(workloads),
        "configurations": [{"name": each, "target": "/dev/sdb", "set": {}} for each in configurations],
        "over": [],
        "set": {},
        "objective": None,
        "repeat": 1,
        "interleave": True,
        "cache": "as found",
        "precision": None,
        "parameters": {},
        **more,
    }


def steps(workloads: Sequence[str] = ("oltp-db", "exchange-server"), repeat: int = 3) -> Planned:
    """Queue depths on two configurations, interleaved and repeated."""
    random_ = random.Random("steps")
    points = []
    for workload in workloads:
        for number in range(1, repeat + 1):
            for depth in DEPTHS:
                for name, speed in TWO:
                    rate, response = carried(5200 * speed * (1 + 0.008 * random_.gauss(0, 1)), depth)
                    settings = {"queue_depth": depth}
                    points.append(Point(workload, name, settings, rate, response, level=depth, repeat=number))
    axis = [{"option": "queue_depth", "levels": list(DEPTHS)}]
    objective = "read mean <= 8ms and write mean <= 8ms"
    return Planned(
        _definition("queue depth", "steps", workloads, [name for name, _ in TWO], over=axis, objective=objective, repeat=repeat), points
    )


def ramp(workload: str = "exchange-server") -> Planned:
    """Threads up to 20 ms, then closed in on."""
    points = []
    for name, speed in TWO:
        for threads in (1, 2, 4, 8, 16, 32, 64, 128, 96, 80, 88):
            rate, response = carried(4600 * speed, threads)
            points.append(Point(workload, name, {"threads": threads}, rate, response, level=threads))
    conclusions = [
        {
            "experiment": "20 ms",
            "kind": "ramp",
            "workload": workload,
            "configuration": name,
            "sentences": [f"{name} held the objective up to 80 threads; read mean exceeded 20 ms first."],
            "mark": None,
            "figures": {},
        }
        for name, _ in TWO
    ]
    axis = [{"option": "threads", "levels": [1, 256]}]
    definition = _definition(
        "20 ms", "ramp", [workload], [name for name, _ in TWO], over=axis, objective="read mean <= 20ms and write mean <= 20ms"
    )
    return Planned(definition, points, conclusions)


def curve(workload: str = "workstation") -> Planned:
    """Open-loop rates at shares of the maximum."""
    capacity = 9000.0
    points = [Point(workload, "10K SAS", {}, capacity, 7000, role="maximum")]
    for percent in (10, 50, 70, 80, 90, 100):
        offered = capacity * percent / 100
        rate = min(offered, capacity * 0.975)
        response = min(1e6 / (capacity - offered + 60), 40_000)
        points.append(Point(workload, "10K SAS", {"rate": offered}, rate, response, level=percent, offered_per_s=offered))
    return Planned(_definition("curve", "curve", [workload], ["10K SAS"], parameters={"percent": [10, 50, 70, 80, 90, 100]}), points)


def scaling(workload: str = "decision-support-system-db") -> Planned:
    """1 to 64 threads, three iterations, with contention and coherency."""
    random_ = random.Random("scaling")
    points = []
    for number in range(1, 4):
        for threads in DEPTHS:
            for name, speed in TWO:
                rate = 240 * speed * threads / (1 + 0.04 * (threads - 1) + 0.0006 * threads * (threads - 1))
                rate *= 1 + 0.015 * random_.gauss(0, 1)
                points.append(Point(workload, name, {"threads": threads}, rate, 1e6 * threads / rate, level=threads, repeat=number))
    axis = [{"option": "threads", "levels": list(DEPTHS)}]
    return Planned(_definition("threads", "scaling", [workload], [name for name, _ in TWO], over=axis, repeat=3), points)


def matrix(workloads: Sequence[str] = ("oltp-db", "web-server-log")) -> Planned:
    """Size by block, as in report 004."""
    regions, blocks = ("2GiB", "4GiB", "8GiB"), (8192, 16384, 32768, 65536)
    points = []
    for workload in workloads:
        for place, region in enumerate(regions):
            for block in blocks:
                rate, response = carried(6000 / (1 + block / 24576) / (1 + 0.3 * place), 16)
                settings = {"region_length": region, "block_size": f"{block // 1024}KiB"}
                points.append(Point(workload, "10K SAS", settings, rate, response, block_bytes=block))
    axes = [
        {"option": "region_length", "levels": list(regions)},
        {"option": "block_size", "levels": [f"{block // 1024}KiB" for block in blocks]},
    ]
    return Planned(_definition("size by block", "matrix", workloads, ["10K SAS"], over=axes), points)


def steady(workload: str = "video-on-demand", *, attained: bool = True) -> Planned:
    """Rounds that settle, or never do."""
    points = []
    for number in range(1, 10 if attained else 26):
        value = 1800 + 2600 * 0.55**number if attained else 3000 * 0.93**number
        points.append(Point(workload, "10K SAS", {}, value * (1 + 0.01 * (-1) ** number), 1e6 * 8 / value, role="round", repeat=number))
    name = "steady" if attained else "never steady"
    return Planned(
        _definition(name, "steady", [workload], ["10K SAS"], parameters={"rounds_max": 25, "window": 5, "metric": "iops"}), points
    )


def single(workloads: Sequence[str] = ("os-paging", "oltp-db", "workstation")) -> Planned:
    """Profiles once on each configuration."""
    points = []
    for workload in workloads:
        for name, speed in TWO:
            rate, response = carried(6000 * speed, 8)
            points.append(Point(workload, name, {}, rate, response))
    return Planned(_definition("profiles", "single", workloads, [name for name, _ in TWO]), points)


PLAIN = Run()
PUBLISHED = {
    "title": "Generations, made up",
    "purpose": "How one array compares with another.",
    "source": "A report that does not exist",
    "published": [
        {
            "name": "made-up",
            "title": "Made-up test report",
            "source": "Made-up test report, 2007, table 3",
            "note": "Its MB are 10^6 bytes.",
            "claims": ["15K SAS is faster than 10K SAS at random access."],
            "rows": [
                {
                    "label": "RAID 5",
                    "match": {"workload": "oltp-db", "settings": {"region_length": "2GiB", "block_size": "8k"}},
                    "metric": "iops",
                    "value": 3200,
                    "unit": "1/s",
                    "text": "3200",
                },
                {
                    "label": "six 15K",
                    "match": {"workload": "exchange-server", "configuration": "15K SAS"},
                    "metric": "iops",
                    "value": 5100,
                    "unit": "1/s",
                    "text": "5,100 transfers/s",
                },
                {
                    "label": "tape",
                    "match": {"workload": "backup"},
                    "metric": "bytes_per_s",
                    "value": 30000000,
                    "unit": "B/s",
                    "text": "30 MB/s",
                },
            ],
        }
    ],
}


def write_planned(folder: Path, experiments: Sequence[Planned], run: Run = PLAIN) -> Path:
    """Write a run of ``experiments``; the points whose numbers are ``broken`` failed."""
    folder.mkdir(parents=True)
    meta = {
        "schema": "plimsoll.run/1",
        "status": "complete",
        "created": "2026-11-21T03:44:10+00:00",
        "host": {},
        "label": run.label,
        "versions": {"plimsoll": "0.1.0"},
        "command": ["plimsoll", "suite", "made-up"],
        "experiments": [planned.definition for planned in experiments],
        "conclusions": [conclusion for planned in experiments for conclusion in planned.conclusions],
        **({"suite": run.suite} if run.suite else {}),
    }
    (folder / "run.json").write_text(json.dumps(meta))
    (folder / "points").mkdir()
    number = 0
    for planned in experiments:
        for point in planned.points:
            number += 1
            _write(folder / "points", number, planned.definition, point, run)
    return folder


def _write(points: Path, number: int, definition: Json, point: Point, run: Run) -> None:
    profile = _profile(point)
    broken = ((profile.name, "failed"),) if number in run.broken else ()
    target = "queue:" if run.modelled else "/dev/sdb"
    array = Array(
        point.configuration, target=target, seconds=SECONDS, modelled=run.modelled, open_loop=point.offered_per_s is not None, broken=broken
    )
    where = write_point(points, number, point.repeat, array, profile)
    result = json.loads((where / "result.json").read_text())
    _scale(result["totals"], point)
    result["offered_per_s"] = point.offered_per_s
    result["place"] = {
        "experiment": definition["name"],
        "kind": definition["kind"],
        "configuration": point.configuration,
        "subject": point.workload,
        "settings": point.settings,
        "level": point.level,
        "role": point.role,
        "key": f"{definition['name']} / {number}",
    }
    result["cache"] = {"state": "cold", "how": "the page cache of the target was dropped"}
    result["ended"] = {"by": "precision", "how": "iops within 2 % after 31 s"}
    result["estimates"] = _estimates(result["totals"], run.width)
    (where / "result.json").write_text(json.dumps(result))


def _scale(totals: Json, point: Point) -> None:
    """Bring rate and mean response to the point's; the short made-up course misses them by some percent."""
    if not totals:
        return
    count = sum(total["count"] for total in totals.values())
    rate = point.rate_per_s / sum(total["iops"] for total in totals.values())
    response = 1000 * point.response_us * count / sum(total["count"] * total["latency_ns"]["mean"] for total in totals.values())
    for total in totals.values():
        total["iops"] *= rate
        total["bytes_per_s"] *= rate
        for name in ("latency_ns", "service_ns"):
            total[name] = {
                key: value * response if key in ("mean", "stddev") else int(value * response) for key, value in total[name].items()
            }


def _profile(point: Point) -> Profile:
    """The profile with the point's rate and response: the made-up latencies are eight service times in the median, a seventh more in the mean."""
    known = BY_NAME[point.workload]
    block = point.block_bytes or known.block_bytes
    return replace(known, rate_per_s=point.rate_per_s, service_us=point.response_us / 9.2, block_bytes=block)


def _estimates(totals: Json, width: float) -> Json:
    estimates: Json = {op: _bounded(total, width) for op, total in totals.items()}
    if totals:
        count = sum(total["count"] for total in totals.values())
        mean = sum(total["count"] * total["latency_ns"]["mean"] for total in totals.values()) / count
        whole = {key: sum(total[key] for total in totals.values()) for key in ("iops", "bytes_per_s")}
        worst = max(total["latency_ns"]["p99"] for total in totals.values())
        estimates["all"] = _bounded({**whole, "latency_ns": {"mean": mean, "p99": worst}}, width)
    return estimates


def _bounded(total: Json, width: float) -> Json:
    values = {
        "iops": total["iops"],
        "bytes_per_s": total["bytes_per_s"],
        "mean": total["latency_ns"]["mean"],
        "p99": total["latency_ns"]["p99"],
    }
    wider = {"iops": 1.0, "bytes_per_s": 1.0, "mean": 1.5, "p99": 3.0}
    return {
        name: {"value": value, "low": value * (1 - width * wider[name]), "high": value * (1 + width * wider[name]), "batches": 20}
        for name, value in values.items()
    }
