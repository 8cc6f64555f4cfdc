"""Block device counters of /proc/diskstats, with the definitions of iostat(1) from sysstat.

Model: 17 counters per device (Linux kernel, Documentation/admin-guide/iostats.rst); sectors are 512 bytes whatever the device's own block
size; times are milliseconds. Between two readings ``elapsed_s`` apart:

    r_per_s        = Δ reads completed / elapsed
    r_await_ms     = Δ milliseconds spent reading / Δ reads completed
    queue_mean     = Δ weighted milliseconds / elapsed milliseconds        (iostat: aqu-sz)
    util_percent   = Δ milliseconds with I/O in progress / elapsed         (iostat: %util)

Limits: util of a device that serves requests in parallel reaches 100 % long before the device is saturated.
"""

from __future__ import annotations

from dataclasses import dataclass

SECTOR_BYTES = 512


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


def parse(text: str) -> dict[str, DiskCounters]:
    """Counters per device name. Kernels before 4.18 and 5.5 lack discards and flushes: they read 0."""
    devices = {}
    for line in text.splitlines():
        words = line.split()
        if len(words) < 14:
            continue
        numbers = [int(word) for word in words[3:]] + [0] * 6
        devices[words[2]] = DiskCounters(
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
    return devices


def rates(before: DiskCounters, after: DiskCounters, elapsed_s: float) -> dict[str, float]:
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
