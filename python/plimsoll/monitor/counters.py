"""Counters of the kernel: block devices, CPU time, paging.

Block device counters of /proc/diskstats, with the definitions of iostat(1) from sysstat.

Model: 17 counters per device (Linux kernel, Documentation/admin-guide/iostats.rst); sectors are 512 bytes whatever the device's own block
size; times are milliseconds. Between two readings ``elapsed_s`` apart:

    r_per_s        = Δ reads completed / elapsed
    r_await_ms     = Δ milliseconds spent reading / Δ reads completed
    queue_mean     = Δ weighted milliseconds / elapsed milliseconds        (iostat: aqu-sz)
    util_percent   = Δ milliseconds with I/O in progress / elapsed         (iostat: %util)

Limits: util of a device that serves requests in parallel reaches 100 % long before the device is saturated.

CPU time of /proc/stat, in percent of all CPUs together.

Model: the first line holds clock ticks since boot in user, nice, system, idle, iowait, irq, softirq, steal (proc(5)); user includes nice,
system includes irq and softirq. Steal is time the hypervisor gave to others.
Limits: iowait is an idle CPU with I/O outstanding; it says nothing about how busy the storage is.

    cpu_shares(parse_cpu(before), parse_cpu(after))["user_percent"]

Blocks in and out of /proc/vmstat, counted in 4,096 bytes as vmstat-based reports do.

Model: ``pgpgin`` and ``pgpgout`` count KiB that block devices moved in and out of memory, direct I/O included
(Linux kernel, block/blk-core.c); a block here is 4,096 bytes.

    rates(parse(before), parse(after), 1.0)["blocks_in_per_s"]
"""

from __future__ import annotations

import os
from collections.abc import Collection

from plimsoll.records import dataclass

SECTOR_BYTES = 512
#: Unit of /proc/stat (``USER_HZ``).
TICKS_PER_S = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class DiskCounters:
    """Counters of one device since boot, as the kernel numbers them."""

    reads: int
    sectors_read: int
    read_ms: int
    writes: int
    sectors_written: int
    write_ms: int
    in_flight: int
    busy_ms: int
    weighted_ms: int
    discards: int
    sectors_discarded: int
    flushes: int


def parse_diskstats(text: str, names: Collection[str] | None = None) -> dict[str, DiskCounters]:
    """Counters per device name, of ``names`` where they are given."""
    devices = {}
    for line in text.splitlines():
        words = line.split()
        if len(words) < 14 or (names is not None and words[2] not in names):
            continue
        devices[words[2]] = _disk_counters(words[3:])
    return devices


def diskstats_lines(text: str) -> dict[str, str]:
    """The line of each device, by its name: two that are equal need not be parsed."""
    lines = ((line.split(None, 3), line) for line in text.splitlines())
    return {words[2]: line for words, line in lines if len(words) > 3}


def parse_block_stat(text: str) -> DiskCounters | None:
    """Those of one device, from its file /sys/class/block/NAME/stat, which holds what its line of /proc/diskstats does; None where it
    does not."""
    words = text.split()
    return _disk_counters(words) if len(words) >= 11 else None


def _disk_counters(words: list[str]) -> DiskCounters:
    """Kernels before 4.18 and 5.5 lack discards and flushes: they read 0."""
    numbers = [*map(int, words), 0, 0, 0, 0, 0, 0]
    return DiskCounters(
        reads=numbers[0],
        sectors_read=numbers[2],
        read_ms=numbers[3],
        writes=numbers[4],
        sectors_written=numbers[6],
        write_ms=numbers[7],
        in_flight=numbers[8],
        busy_ms=numbers[9],
        weighted_ms=numbers[10],
        discards=numbers[11],
        sectors_discarded=numbers[13],
        flushes=numbers[15],
    )


def disk_rates(before: DiskCounters, after: DiskCounters, elapsed_s: float) -> dict[str, float]:
    """What one device did between two readings, per second and per request."""
    reads, writes = after.reads - before.reads, after.writes - before.writes
    read_bytes = (after.sectors_read - before.sectors_read) * SECTOR_BYTES
    write_bytes = (after.sectors_written - before.sectors_written) * SECTOR_BYTES
    return {
        "r_per_s": reads / elapsed_s,
        "w_per_s": writes / elapsed_s,
        "read_bytes_per_s": read_bytes / elapsed_s,
        "write_bytes_per_s": write_bytes / elapsed_s,
        "r_await_ms": (after.read_ms - before.read_ms) / reads if reads else 0.0,
        "w_await_ms": (after.write_ms - before.write_ms) / writes if writes else 0.0,
        "queue_mean": (after.weighted_ms - before.weighted_ms) / (elapsed_s * 1e3),
        "util_percent": min(100.0, (after.busy_ms - before.busy_ms) / (elapsed_s * 10.0)),
        "discards_per_s": (after.discards - before.discards) / elapsed_s,
        "flushes_per_s": (after.flushes - before.flushes) / elapsed_s,
    }


def did_something(before: DiskCounters, after: DiskCounters) -> bool:
    """Whether the device completed any request in between."""
    return (after.reads, after.writes, after.discards) != (before.reads, before.writes, before.discards)


@dataclass(frozen=True)
class CpuTicks:
    """Clock ticks since boot, all CPUs together."""

    user: int
    system: int
    idle: int
    iowait: int
    steal: int


def parse_cpu(text: str) -> CpuTicks | None:
    """The total line of /proc/stat; None when there is none."""
    words = text.split("\n", 1)[0].split()
    if not words or words[0] != "cpu":
        return None
    ticks = [int(word) for word in words[1:]] + [0] * 8
    return CpuTicks(
        user=ticks[0] + ticks[1],
        system=ticks[2] + ticks[5] + ticks[6],
        idle=ticks[3],
        iowait=ticks[4],
        steal=ticks[7],
    )


def cpu_shares(before: CpuTicks, after: CpuTicks, own_user_s: float | None = None) -> dict[str, float] | None:
    """Percent of CPU time spent in each state in between; None when less than one tick passed.

    ``own_user_s`` is what this process spent in user mode, which is part of all that was (``own_user_percent``).
    """
    deltas = {
        "user_percent": after.user - before.user,
        "system_percent": after.system - before.system,
        "idle_percent": after.idle - before.idle,
        "iowait_percent": max(0, after.iowait - before.iowait),
        "steal_percent": after.steal - before.steal,
    }
    total = sum(deltas.values())
    if total <= 0:
        return None
    shares = {name: 100.0 * ticks / total for name, ticks in deltas.items()}
    return shares if own_user_s is None else shares | {"own_user_percent": 100.0 * own_user_s * TICKS_PER_S / total}


BLOCK_BYTES = 4096
_KIB = 1024


def parse_paging(text: str) -> dict[str, int]:
    """``pgpgin`` and ``pgpgout`` in KiB since boot, as far as present."""
    # Some two hundred lines, of which these stand together.
    counters, begin = {}, f"\n{text}".find("\npgpg")
    for line in text[max(begin, 0) :].split("\n", 2)[:2]:
        name, _, value = line.partition(" ")
        if name in ("pgpgin", "pgpgout"):
            counters[name] = int(value)
    return counters


def paging_rates(before: dict[str, int], after: dict[str, int], elapsed_s: float) -> dict[str, float] | None:
    """Blocks per second; None when the kernel does not count them."""
    if not {"pgpgin", "pgpgout"} <= before.keys() & after.keys():
        return None
    return {
        "blocks_in_per_s": _blocks(after["pgpgin"] - before["pgpgin"]) / elapsed_s,
        "blocks_out_per_s": _blocks(after["pgpgout"] - before["pgpgout"]) / elapsed_s,
    }


def _blocks(kib: int) -> float:
    return kib * _KIB / BLOCK_BYTES
