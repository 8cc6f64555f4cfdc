"""Readings of live block devices as iostat(1) has them: one per device and interval, under iostat's column names.

Model: the counters of /proc/diskstats are read at instants ``interval_s`` apart, reckoned from the first, so that a late reading delays no
other; one that is later than the next instant stands for both. A reading divides by the time that really passed. Column names and units are
those of ``iostat -x``: kB are 1024 bytes, waits are milliseconds, sizes kB. Partitions have counters of their own.
Limits: reading only; the device is never opened. What happens within an interval is averaged by the counters: a burst of 50 ms is diluted
twentyfold in an interval of a second. A last interval shorter than half of the others is left out. Merged requests count once.

    for reading in watch(["sda"], Timing(interval_s=1.0, duration_s=60.0), wait=stop.wait):
        reading.columns["r/s"], reading.columns["%util"]
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from plimsoll.errors import TargetError
from plimsoll.monitor import counters
from plimsoll.monitor.sampler import Sampler, Snapshot

SYS_BLOCK = "/sys/class/block"
#: What ``iostat -x`` calls each rate, with the factor from our unit to its.
_IOSTAT = {
    "r/s": ("r_per_s", 1.0),
    "w/s": ("w_per_s", 1.0),
    "rkB/s": ("read_bytes_per_s", 1 / 1024),
    "wkB/s": ("write_bytes_per_s", 1 / 1024),
    "r_await": ("r_await_ms", 1.0),
    "w_await": ("w_await_ms", 1.0),
    "aqu-sz": ("queue_mean", 1.0),
    "%util": ("util_percent", 1.0),
    "d/s": ("discards_per_s", 1.0),
    "f/s": ("flushes_per_s", 1.0),
}
#: A last interval below this part of the others is left out: its rates would be those of a moment.
_SHORTEST = 0.5


@dataclass(frozen=True)
class Timing:
    """How often, and how long (None: until stopped)."""

    interval_s: float = 1.0
    duration_s: float | None = None


@dataclass(frozen=True)
class Reading:
    """What one device did in one interval of ``seconds``."""

    device: str
    seconds: float
    columns: dict[str, float]


def columns(rates: dict[str, float]) -> dict[str, float]:
    """The rates of `counters.disk_rates` as iostat names them."""
    named = {name: rates[ours] * factor for name, (ours, factor) in _IOSTAT.items()}
    named["rareq-sz"] = named["rkB/s"] / named["r/s"] if named["r/s"] else 0.0
    named["wareq-sz"] = named["wkB/s"] / named["w/s"] if named["w/s"] else 0.0
    return named


def watch(
    devices: Sequence[str],
    timing: Timing,
    *,
    wait: Callable[[float], bool],
    sampler: Sampler | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[Reading]:
    """Readings of ``devices`` (kernel names) until the duration is over or ``wait``, which waits for seconds, says True: stopped."""
    with sampler or Sampler() as source:
        before, start = source.snapshot(), clock()
        check_counted(devices, before)
        number, stopped = 0, False
        while not stopped:
            # An instant that passed meanwhile (the process or the whole machine was asleep) is not made up for.
            number = max(number + 1, math.ceil((clock() - start) / timing.interval_s))
            due = _due(number, timing)
            stopped = wait(max(0.0, start + due - clock()))
            after = source.snapshot()
            yield from _readings(devices, before, after, shortest_s=timing.interval_s * _SHORTEST)
            before = after
            stopped = stopped or (timing.duration_s is not None and due >= timing.duration_s)


def check_counted(devices: Sequence[str], snapshot: Snapshot) -> None:
    """Refuse devices that the kernel keeps no counters of."""
    if "diskstats" not in snapshot.texts:
        raise TargetError("/proc/diskstats: cannot be read, so there are no counters of block devices here; watch on the host itself.")
    counted = counters.parse_diskstats(snapshot.texts["diskstats"])
    for device in devices:
        if device not in counted:
            raise TargetError(f"{device}: the kernel keeps no counters of it; there are {', '.join(counted) or 'none here'}.")


def _due(number: int, timing: Timing) -> float:
    due = number * timing.interval_s
    return due if timing.duration_s is None else min(due, timing.duration_s)


def _readings(devices: Sequence[str], before: Snapshot, after: Snapshot, *, shortest_s: float) -> Iterator[Reading]:
    seconds = (after.monotonic_ns - before.monotonic_ns) / 1e9
    if seconds < shortest_s or seconds <= 0:
        return
    old, new = counters.parse_diskstats(before.texts["diskstats"]), counters.parse_diskstats(after.texts["diskstats"])
    for device in devices:
        if device not in new:
            raise TargetError(f"{device}: it has gone since the last interval; what was seen until then is kept.")
        if device in old and not _restarted(old[device], new[device]):
            yield Reading(device, seconds, columns(counters.disk_rates(old[device], new[device], seconds)))


def _restarted(old: counters.DiskCounters, new: counters.DiskCounters) -> bool:
    """Whether the device went and came back: its counters began anew."""
    return new.reads < old.reads or new.writes < old.writes


def is_block_device(name: str) -> bool:
    """Whether the kernel knows a block device or partition of this name."""
    return "/" not in name and name not in ("", ".", "..") and os.path.exists(f"{SYS_BLOCK}/{name}")
