"""Flags about what answered: the page cache, holes, or a target that stores less than it is given."""

from __future__ import annotations

from collections.abc import Iterator

from plimsoll.analysis.plausibility.evidence import Evidence
from plimsoll.analysis.point.definition import is_direct, stores_little
from plimsoll.result import Flag
from plimsoll.units import brief_duration

#: A target is called sparse when less than this share of it is allocated.
ALLOCATED_SHARE_MIN = 0.98
#: Of the bytes the workload read, the least share that the devices must have read for the reads to be physical.
PHYSICAL_SHARE_MIN = 0.8
#: So much of the measured time the counters may have missed: they are read near its two ends, at most 50 ms away while all is well.
EDGES_S = 0.1

_MIB = 1 << 20


def page_cache_suspected(evidence: Evidence) -> Iterator[Flag]:
    """Reads were answered from memory, or may have been."""
    read = evidence.result.totals.get("read")
    if read is None or not read.bytes or not evidence.moves_data:
        return
    buffered = [stream["name"] for stream in evidence.streams if not is_direct(stream)] or (["all"] if evidence.backend == "mmap" else [])
    physical = _device_read_bytes(evidence)
    missing = physical is not None and read.bytes > _MIB and physical < PHYSICAL_SHARE_MIN * read.bytes - EDGES_S * read.bytes_per_s
    of_files = evidence.backend == "files"
    advice = (
        "Use trees several times the size of memory, start cold (--cache cold), or set direct=true; what users of a file system see is "
        "often its cache."
        if of_files
        else "Use direct=true, or a target several times the size of memory."
    )
    if missing and physical is not None:
        how = "buffered I/O" if buffered else "direct I/O"
        yield Flag(
            "page_cache_suspected",
            "invalid" if buffered and not of_files else "doubt",
            f"The workload read {read.bytes / _MIB:,.0f} MiB by {how}, but the devices behind the target read "
            f"{physical / _MIB:,.0f} MiB: the rest came from memory or from holes.",
            advice if buffered else "Fill the target first (Plimsoll's own scratch files are filled), and look for a caching layer.",
        )
    elif buffered:
        yield Flag(
            "page_cache_suspected",
            "doubt" if physical is None else "note",
            f"Buffered I/O ({', '.join(buffered)}): the page cache may have answered part of the requests.",
            advice,
        )


def no_answer(evidence: Evidence) -> Iterator[Flag]:
    """The target answered nothing for seconds while requests waited."""
    silence = evidence.result.engine.get("silence")
    if silence:
        requests = f"{silence['waiting']:,} request{'' if silence['waiting'] == 1 else 's'}"
        yield Flag(
            "no_answer",
            "doubt",
            f"The target gave no answer for {brief_duration(silence['ns'])} while {requests} waited.",
            "Look into the kernel's log (dmesg) and at the target, its path and its power; latencies contain the wait.",
        )


def sparse_target(evidence: Evidence) -> Iterator[Flag]:
    """Reads of holes never reach the device."""
    facts = evidence.target_facts
    allocated, size = facts.get("allocated_bytes"), facts.get("apparent_bytes")
    if "read" not in evidence.result.totals or not isinstance(allocated, int) or not isinstance(size, int) or not size:
        return
    if allocated < ALLOCATED_SHARE_MIN * size:
        yield Flag(
            "sparse_target",
            "invalid",
            f"Only {allocated / size:.0%} of the target's {size / _MIB:,.0f} MiB is allocated: reads of the holes never reach a device.",
            "Fill the file, or let Plimsoll make one by naming a file that does not exist.",
        )


def memory_backed(evidence: Evidence) -> Iterator[Flag]:
    """The target lies in memory, or on a file system that has no device of this host."""
    medium = evidence.target_facts.get("medium") or {}
    kind, name = medium.get("kind"), medium.get("name")
    if kind == "memory":
        yield Flag(
            "memory_backed",
            "doubt",
            f"The target is in memory ({name}): no storage device took part in these numbers.",
            "Measure a file on a disk's file system, or the device itself.",
        )
    elif kind == "elsewhere":
        yield Flag(
            "memory_backed",
            "note",
            f"The target is on {name}, which has no block device on this host: what answers is another layer or machine.",
            "Say so beside the numbers; the counters of the devices below are not in this result.",
        )


def compressible_target(evidence: Evidence) -> Iterator[Flag]:
    """The target may store less than is written to it."""
    if not evidence.moves_data or "write" not in evidence.result.totals:
        return
    written = {stream["name"]: stores_little(stream) for stream in evidence.streams}
    for name, kind in written.items():
        if kind:
            yield Flag(
                "compressible_target",
                "note",
                f"Stream {name} writes {kind}: a target that compresses or deduplicates stores less than is written.",
                "Use content=incompressible when the target may do either.",
            )
    layer = _reducing_layer(evidence)
    if layer:
        yield Flag(
            "compressible_target",
            "doubt",
            f"The target is on {layer}, which compresses: its speed depends on the data.",
            "State the content with every number, or measure below the compressing layer.",
        )


def _device_read_bytes(evidence: Evidence) -> float | None:
    """What the disks of the target read in the measured phase; None when they cannot be seen."""
    counters, seconds = evidence.result.monitor.get("devices") or {}, evidence.result.monitor.get("seconds")
    # Each part's own device sees all its requests; the disks below would count them again.
    tops = [device["name"] for device in evidence.target_facts.get("devices", []) if not device.get("below")]
    if not seconds or not tops or any(name not in counters for name in tops):
        return None
    return float(sum(counters[name]["read_bytes_per_s"] for name in tops) * seconds)


def _reducing_layer(evidence: Evidence) -> str | None:
    mount = (evidence.target_facts.get("filesystem") or {}).get("mount")
    if isinstance(mount, dict):
        options = str(mount.get("options"))
        if mount.get("type") == "zfs":
            return "ZFS"
        if mount.get("type") == "btrfs" and "compress" in options:
            return "btrfs with compression"
    for device in evidence.target_facts.get("devices", []):
        if str(device.get("name")).startswith("zram"):
            return f"{device['name']}"
    return None
