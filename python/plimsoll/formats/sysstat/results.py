"""Reports of device counters and the points they make.

Model: `Device` is one line of one report in our units; `Report` is one instant. Where reports do not say when they were made, each is
taken as a second long, and the point says so.

    points_of([Report(None, None, {"sda": Device(...)}), …], "iostat", "iostat.txt")
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from plimsoll.formats.foreign_point import Imported, Known, cell, interval
from plimsoll.formats.stored_point import Recorded
from plimsoll.stored import Interval, Sample

_KIB = 1024
_CPU = {"user_percent": ("user", "nice"), "system_percent": ("system",), "idle_percent": ("idle",), "iowait_percent": ("iowait",)}
_AMOUNT = re.compile(r"([rwd])([kM]?)(?:B|sec)/s$")


@dataclass(frozen=True)
class Device:
    """One device in one report; rates per second, waits in milliseconds."""

    rates: Mapping[str, float]
    bytes_per_s: Mapping[str, float]
    wait_ms: Mapping[str, float]
    queue: float = 0.0
    util_percent: float = 0.0


@dataclass(frozen=True)
class Report:
    """One report: when (None where it does not say), how long (None likewise), its devices, and CPU shares as our monitor names them."""

    when: datetime | None
    seconds: float | None
    devices: Mapping[str, Device]
    cpu: Mapping[str, float] = field(default_factory=dict)


def device_of(columns: Mapping[str, float]) -> Device:
    """A device from columns as any version of iostat calls them: ``rkB/s``, ``rMB/s``, ``rsec/s``; ``await`` or ``r_await``."""
    amounts: dict[str, float] = {}
    for name, value in columns.items():
        matched = _AMOUNT.match(name)
        if matched:
            unit = 512 if name.endswith("sec/s") else {"k": _KIB, "M": _KIB**2}.get(matched[2], 1)
            amounts[matched[1]] = value * unit
    both = columns.get("await", 0.0)
    ops = (("read", "r"), ("write", "w"), ("trim", "d"), ("flush", "f"))
    return Device(
        rates={op: columns.get(f"{letter}/s", 0.0) for op, letter in ops},
        bytes_per_s={op: amounts.get(letter, 0.0) for op, letter in ops},
        wait_ms={op: columns.get(f"{letter}_await", both) for op, letter in ops},
        queue=columns.get("aqu-sz", columns.get("avgqu-sz", 0.0)),
        util_percent=columns.get("%util", columns.get("util", 0.0)),
    )


def cpu_of(columns: Mapping[str, float]) -> dict[str, float]:
    """CPU shares from iostat's names without their percent signs."""
    return {ours: sum(columns.get(name, 0.0) for name in names) for ours, names in _CPU.items()} if columns else {}


def points_of(reports: Sequence[Report], origin: str, source: str) -> list[Recorded]:
    """A point for each device that did anything after the first report."""
    kept = [*reports[1:]] if len(reports) > 1 else [*reports]
    lengths = _lengths(reports)
    told = any(length is not None for length in lengths)
    seconds = [length or 1.0 for length in lengths[-len(kept) :]] if kept else []
    names = list(dict.fromkeys(name for report in kept for name in report.devices))
    remark = "" if told else "It does not say how long its reports are; each is taken as one second."
    if len(reports) == 1:
        remark += " It is one report, which covers the time since boot unless it was asked for with -y."
    made = [_point(name, (kept, seconds), (origin, source, remark.strip())) for name in names]
    return [point for point in made if point.result.totals]


def _lengths(reports: Sequence[Report]) -> list[float | None]:
    """How long each report is: as it says, else since the report before it; the first, else, as long as the second."""
    found: list[float | None] = []
    for earlier, later in zip([None, *reports], reports, strict=False):
        gap = (later.when - earlier.when).total_seconds() if earlier and earlier.when and later.when else None
        found.append(later.seconds or (gap if gap and gap > 0 else None))
    return found


def _point(name: str, course: tuple[Sequence[Report], Sequence[float]], about: tuple[str, str, str]) -> Recorded:
    reports, seconds = course
    origin, source, remark = about
    whole = sum(seconds)
    started = next((report.when for report in reports if report.when), None)
    point = Imported(
        workload="observed",
        origin=origin,
        source=source,
        seconds=whole,
        target=name,
        started=started.isoformat(timespec="seconds") if started else "",
        remark=remark,
    )
    idle = device_of({})
    course_of = [(report.devices.get(name, idle), length) for report, length in zip(reports, seconds, strict=True)]
    for op in ("read", "write", "trim", "flush"):
        point.add("stream-1", op, _known(op, course_of, whole))
    start = 0.0
    for index, (report, length) in enumerate(zip(reports, seconds, strict=True)):
        device = report.devices.get(name, idle)
        point.intervals.append(_interval(index, (start, start + length), device))
        start += length
        point.samples.append(_sample(index, (start, length), name, (device, report.cpu)))
    if reports:
        point.monitor = _mean(point.samples, whole)
    return point.recorded()


def _known(op: str, course: Sequence[tuple[Device, float]], whole: float) -> Known:
    count = sum(device.rates[op] * length for device, length in course)
    moved = sum(device.bytes_per_s[op] * length for device, length in course)
    waited = sum(device.wait_ms[op] * device.rates[op] * length for device, length in course)
    return Known(
        count=round(count),
        bytes=round(moved),
        iops=count / whole if whole else 0.0,
        bytes_per_s=moved / whole if whole else 0.0,
        partial={"mean": waited / count * 1e6} if count and waited else {},
    )


def _interval(index: int, span_s: tuple[float, float], device: Device) -> Interval:
    length = span_s[1] - span_s[0]
    cells = [
        cell("stream-1", op, round(rate * length), round(device.bytes_per_s[op] * length)) for op, rate in device.rates.items() if rate
    ]
    line = interval(index, (round(span_s[0] * 1e9), round(span_s[1] * 1e9)), cells)
    return {**line, "inflight_mean": device.queue}


def _sample(index: int, ended: tuple[float, float], name: str, what: tuple[Device, Mapping[str, float]]) -> Sample:
    device, cpu = what
    counters = {
        "r_per_s": device.rates["read"],
        "w_per_s": device.rates["write"],
        "read_bytes_per_s": device.bytes_per_s["read"],
        "write_bytes_per_s": device.bytes_per_s["write"],
        "r_await_ms": device.wait_ms["read"],
        "w_await_ms": device.wait_ms["write"],
        "queue_mean": device.queue,
        "util_percent": device.util_percent,
    }
    sample: Sample = {"index": index, "end_ns": round(ended[0] * 1e9), "seconds": ended[1], "devices": {name: counters}}
    return {**sample, "cpu": dict(cpu)} if cpu else sample


def _mean(samples: Sequence[Sample], whole: float) -> Sample:
    """The samples as one, weighted with their lengths."""

    def over(pick: Mapping[int, Mapping[str, Any]]) -> dict[str, float]:
        names = next(iter(pick.values()), {})
        weight = sum(samples[index]["seconds"] for index in pick)
        return {name: math.fsum(samples[index]["seconds"] * one[name] for index, one in pick.items()) / weight for name in names}

    devices = [sample.get("devices") or {} for sample in samples]
    (device,) = devices[0]
    found: Sample = {"seconds": whole, "devices": {device: over({i: one[device] for i, one in enumerate(devices)})}}
    cpu = {i: shares for i, sample in enumerate(samples) if (shares := sample.get("cpu"))}
    return {**found, "cpu": over(cpu)} if cpu else found
