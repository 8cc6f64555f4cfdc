"""A flag about what the device received: fewer and longer requests than were issued, or more and shorter ones.

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
from dataclasses import dataclass
from typing import Any

from plimsoll.analysis.plausibility.evidence import Evidence, quantity
from plimsoll.analysis.point.definition import is_direct
from plimsoll.result import Flag, Totals

Json = dict[str, Any]

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
class _Flow:
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
        return f"{kibibytes:.3g} KiB" if kibibytes < 1000 else f"{kibibytes / 1024:.3g} MiB"


def requests_changed(evidence: Evidence) -> Iterator[Flag]:
    """The device saw other requests than were issued."""
    if evidence.backend not in _BACKENDS:
        return
    seconds = float(evidence.result.monitor.get("seconds") or 0.0)
    for op, letter in (("read", "r"), ("write", "w")):
        issued, received = _issued(evidence.result, op), _received(evidence, op, letter)
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


def _verdict(issued: _Flow, received: _Flow) -> str:
    moved = received.bytes / issued.bytes if issued.bytes else 0.0
    count, length = received.requests / issued.requests, received.mean_bytes / issued.mean_bytes if issued.bytes else 1.0
    if moved >= BYTES_SHARE_MIN and count < 1 - MISSING_SHARE and length > 1 + MISSING_SHARE:
        return "merged"
    if BYTES_SHARE_MIN <= moved <= BYTES_SHARE_MAX and count > SPLIT_FACTOR and length < 1 / SPLIT_FACTOR:
        return "split"
    return ""


def _judgement(evidence: Evidence, verdict: str, issued: _Flow) -> tuple[Any, str]:
    """Severity and advice."""
    if evidence.backend == "mmap" or any(not is_direct(stream) for stream in evidence.streams):
        return "note", "The page cache makes requests of its own. Use direct=true to see how the device answers those that you ask for."
    if verdict == "merged" and any(int(stream.get("merge_depth", 1)) >= _MERGE_DEPTH_MIN for stream in evidence.streams):
        return "note", "merge_depth asks for it. Compare with runs that have the same merge_depth only."
    if verdict == "merged":
        return "doubt", (
            "The rate is that of longer requests. A scheduler, a file system or a device whose queue is full joins neighbours: choose "
            "scheduler none (/sys/block/DEVICE/queue/scheduler), forbid merging (nomerges = 2 there), or ask for fewer bytes at once."
        )
    longest = [device.get("request_bytes_max") for device in _tops(evidence)]
    limits = [limit for limit in longest if isinstance(limit, int)]
    if limits and issued.mean_bytes > min(limits):
        return "note", f"The device takes {min(limits) // 1024:,} KiB at once. Ask for no longer requests when their number matters."
    return "note", (
        "Pieces of a fragmented file, the file system's own writes and those of other programs are requests of their own. "
        "Measure on the device itself when their number matters."
    )


def _issued(result: Any, op: str) -> _Flow:
    """Of a target of several parts the pieces, because those are what devices receive."""
    sources: Iterable[Totals] = result.parts.values() or (result.totals,)
    found = [totals[op] for totals in sources if op in totals]
    return _Flow(sum(total.iops for total in found), sum(total.bytes_per_s for total in found))


def _received(evidence: Evidence, op: str, letter: str) -> _Flow | None:
    """What the devices of the parts counted; None when some cannot be seen."""
    counters = evidence.result.monitor.get("devices") or {}
    names = [device["name"] for device in _tops(evidence)]
    needed = (f"{letter}_per_s", f"{op}_bytes_per_s")
    if not names or any(key not in counters.get(name, {}) for name in names for key in needed):
        return None
    return _Flow(*(sum(float(counters[name][key]) for name in names) for key in needed))


def _tops(evidence: Evidence) -> list[Json]:
    """The devices that the parts are on, each once."""
    return [device for device in evidence.target_facts.get("devices", []) if not device.get("below")]


def _devices(evidence: Evidence) -> str:
    return ", ".join(device["name"] for device in _tops(evidence))
