"""Flags about the target: what answered, and what the device received.

What answered: the page cache, holes, or a target that stores less than it is given.

What the device received: fewer and longer requests than were issued, or more and shorter ones.

Model: the kernel counts requests and bytes of every device as they are handed to it, that is, behind page cache, file system, plug and
scheduler. Per operation, requests per second and their mean length are held against those that were issued; of a target of several
parts, against its pieces. Merged means both: fewer requests and longer ones. Split means both the other way.
Limits: other programs' requests are counted, too. They never look like merging, because they only add requests; small ones beside few
long ones look like splitting, as those of the file system's own journal do, which is why that is no more than a note. What lies below the
device (the disks of a RAID, of a volume group) is not looked at.

    list(requests_changed(evidence))      # [Flag("requests_changed", "doubt", "180,000 reads/s of 4 KiB were …", "…")]
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from plimsoll import stored
from plimsoll.analysis.point.definition import is_direct, runs_workflows, stores_little
from plimsoll.analysis.validity.evidence import Evidence, quantity
from plimsoll.records import dataclass
from plimsoll.result import Flag, Severity, Totals
from plimsoll.units import binary, brief_duration, significant

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
    of_files = evidence.backend == "files" or runs_workflows(evidence.result.job.definition)
    advice = (
        "Use data several times the size of memory, start cold (--cache cold), or set direct=true. Users of a file system often "
        "see its cache."
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
            f"The target did not answer for {brief_duration(silence['ns'])} while {requests} waited.",
            "Check the kernel log (dmesg), the target, its path and its power. Latencies include the wait.",
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


def _in_memory(evidence: Evidence) -> bool:
    medium = evidence.target_facts.get("medium")
    return medium is not None and medium["kind"] == "memory"


def memory_backed(evidence: Evidence) -> Iterator[Flag]:
    """The target lies in memory, or on a file system that has no device of this host."""
    medium = evidence.target_facts.get("medium")
    kind, name = (medium["kind"], medium["name"]) if medium else ("", "")
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
            f"The target is on {name}, which has no block device on this host: another layer or machine answers.",
            "Mention this with the numbers. This result has no counters of the devices below.",
        )


#: Memory of a drive, and of a controller with a battery, as they usually are; larger ones exist.
DRIVE_CACHE_BYTES, CONTROLLER_CACHE_BYTES = 256 << 20, 1 << 30


def fits_cache(evidence: Evidence) -> Iterator[Flag]:
    """What is loaded fits into a cache, which may have answered for the medium."""
    if not evidence.moves_data or not evidence.result.totals or _in_memory(evidence):
        return
    loaded_bytes = _loaded_bytes(evidence)
    if loaded_bytes is None:
        return
    severity: Severity
    memory_bytes = (evidence.result.host.get("memory") or {}).get("total_bytes")
    buffered = evidence.backend == "mmap" or any(not is_direct(stream) for stream in evidence.streams)
    if buffered and isinstance(memory_bytes, int) and loaded_bytes <= memory_bytes:
        severity, cache = "doubt", f"the memory of this host ({binary(memory_bytes)}), which caches buffered I/O"
        advice = "Use direct=true, or load more than memory holds (--size)."
    elif loaded_bytes <= DRIVE_CACHE_BYTES:
        severity, cache, advice = "doubt", "the cache of many drives", "Load more: --size 4GiB is usual."
    elif loaded_bytes <= CONTROLLER_CACHE_BYTES:
        severity, cache, advice = "note", "the cache of many controllers", "To measure the medium, load more: --size 16GiB."
    else:
        return
    yield Flag("fits_cache", severity, f"The loaded area ({binary(loaded_bytes)}) fits into {cache}.", advice)


def _loaded_bytes(evidence: Evidence) -> int | None:
    """The bytes of the target that the streams may touch; None where that is not known."""
    size_bytes = evidence.target_facts.get("size_bytes")
    if not isinstance(size_bytes, int) or size_bytes <= 0 or evidence.backend not in ("uring", "sync", "mmap"):
        return None
    lengths = [stream.get("region_length") for stream in evidence.streams]
    known = [length for length in lengths if isinstance(length, int)]
    return min(size_bytes, sum(known)) if lengths and len(known) == len(lengths) else size_bytes


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
                "Use content=incompressible if the target may do either.",
            )
    layer = _reducing_layer(evidence)
    if layer:
        yield Flag(
            "compressible_target",
            "doubt",
            f"The target is on {layer}, which compresses: its speed depends on the data.",
            "Mention the content with every number, or measure below the compressing layer.",
        )


def _device_read_bytes(evidence: Evidence) -> float | None:
    """What the disks of the target read in the measured phase; None when they cannot be seen."""
    counters, seconds = evidence.result.monitor.get("devices") or {}, evidence.result.monitor.get("seconds")
    # Each part's own device sees all its requests; the disks below would count them again.
    tops = [device["name"] for device in evidence.target_facts.get("devices", []) if not device.get("below")]
    if not seconds or not tops or any(name not in counters for name in tops):
        return None
    return float(sum(counters[name]["read_bytes_per_s"] or 0.0 for name in tops) * seconds)


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


#: Backends that bring requests to a device of this host.
_BACKENDS = ("uring", "sync", "mmap")
#: Fewer requests are not compared: their mean says little.
REQUESTS_MIN = 1000
#: Merged, if this share of the requests is missing. The edges of the monitored time move a rate by a percent or two.
MISSING_SHARE = 0.1
#: Split, if there are so many times as many: a request that is split becomes two, so this is half of them.
SPLIT_FACTOR = 1.5
#: The device has to have moved this share of the bytes; otherwise another flag says where the rest came from or went to.
BYTES_SHARE_MIN = 0.5
#: Beyond this share more bytes are those of others, and so perhaps the requests.
BYTES_SHARE_MAX = 1.1
#: From so many neighbours handed over at once on the kernel joins them (crates/workload/src/stream.rs, ``merge_depth``).
_MERGE_DEPTH_MIN = 3


@dataclass(frozen=True)
class Flow:
    """Requests and bytes per second."""

    requests: float
    bytes: float

    @property
    def mean_bytes(self) -> float:
        return self.bytes / self.requests if self.requests else 0.0

    @property
    def length(self) -> str:
        """The mean in words."""
        kibibytes = self.mean_bytes / 1024
        return f"{significant(kibibytes)} KiB" if kibibytes < 1000 else f"{significant(kibibytes / 1024)} MiB"


def requests_changed(evidence: Evidence) -> Iterator[Flag]:
    """The device saw other requests than were issued."""
    if evidence.backend not in _BACKENDS:
        return
    seconds = float(evidence.result.monitor.get("seconds") or 0.0)
    for op, letter in (("read", "r"), ("write", "w")):
        issued, received = issued_flow(evidence.result, op), received_flow(evidence, op, letter)
        if received is None or issued.requests * seconds < REQUESTS_MIN or not received.requests:
            continue
        verdict = _verdict(issued, received)
        if verdict:
            severity, advice = _judgement(evidence, verdict, issued)
            yield Flag(
                "requests_changed",
                severity,
                f"{quantity(issued.requests)} {op}s/s of {issued.length} were issued, and {_devices(evidence)} received "
                f"{quantity(received.requests)}/s of {received.length}: requests were {verdict} on their way.",
                advice,
            )


def _verdict(issued: Flow, received: Flow) -> str:
    moved = received.bytes / issued.bytes if issued.bytes else 0.0
    count, length = received.requests / issued.requests, received.mean_bytes / issued.mean_bytes if issued.bytes else 1.0
    if moved >= BYTES_SHARE_MIN and count < 1 - MISSING_SHARE and length > 1 + MISSING_SHARE:
        return "merged"
    if BYTES_SHARE_MIN <= moved <= BYTES_SHARE_MAX and count > SPLIT_FACTOR and length < 1 / SPLIT_FACTOR:
        return "split"
    return ""


def _judgement(evidence: Evidence, verdict: str, issued: Flow) -> tuple[Any, str]:
    """Severity and advice."""
    if evidence.backend == "mmap" or any(not is_direct(stream) for stream in evidence.streams):
        return "note", "The page cache makes its own requests. Use direct=true to see how the device answers yours."
    if verdict == "merged" and any(int(stream.get("merge_depth", 1)) >= _MERGE_DEPTH_MIN for stream in evidence.streams):
        return "note", "merge_depth asks for it. Compare only with runs that have the same merge_depth."
    if verdict == "merged":
        return "doubt", (
            "The rate is that of longer requests. A scheduler, a file system or a device with a full queue merges neighbours: choose "
            "scheduler none (/sys/block/DEVICE/queue/scheduler), forbid merging (nomerges = 2 there), or use smaller requests."
        )
    longest = [device.get("request_bytes_max") for device in top_devices(evidence)]
    limits = [limit for limit in longest if isinstance(limit, int)]
    if limits and issued.mean_bytes > min(limits):
        return "note", f"The device takes {min(limits) // 1024:,} KiB at once. Use requests of that size or less if their number matters."
    return "note", (
        "Fragments of a file, the file system's own writes and other programs add requests. "
        "Measure the device itself if their number matters."
    )


def issued_flow(result: Any, op: str) -> Flow:
    """Of a target of several parts the pieces, because those are what devices receive."""
    sources: Iterable[Totals] = result.parts.values() or (result.totals,)
    found = [totals[op] for totals in sources if op in totals]
    return Flow(sum(total.iops for total in found), sum(total.bytes_per_s for total in found))


def received_flow(evidence: Evidence, op: str, letter: str) -> Flow | None:
    """What the devices of the parts counted; None when some cannot be seen."""
    counters = evidence.result.monitor.get("devices") or {}
    names = [device["name"] for device in top_devices(evidence)]
    needed = (f"{letter}_per_s", f"{op}_bytes_per_s")
    if not names or any(key not in counters.get(name, {}) for name in names for key in needed):
        return None
    return Flow(*(sum(float(counters[name][key] or 0.0) for name in names) for key in needed))


def top_devices(evidence: Evidence) -> list[stored.Device]:
    """The devices that the parts are on, each once."""
    return stored.top_devices(evidence.target_facts)


def _devices(evidence: Evidence) -> str:
    return ", ".join(device["name"] for device in top_devices(evidence))
