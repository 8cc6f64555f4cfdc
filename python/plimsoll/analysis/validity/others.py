"""Flag about what others did in the measured time: on the target's devices, on the processors, and time that a hypervisor took.

Devices. Model: the kernel counts requests and bytes of every device. What is above this run's own is that of others. Held against each
other are requests, as far as they cannot have been split on their way, and bytes, which neither merging nor splitting changes. Looked at
are the devices that the parts are on and, where a single one lies below with nothing in between that multiplies or keeps requests (the
disk of a partition, the disk below a loop device with direct I/O), that one, too.

Allowed for: both the counters and our own figures are means over their own span, whose ends are up to 50 ms apart; that much of our own
load may seem to be foreign (`EDGES_S`). On a file system each flush or synchronous write brings writes of its journal. Read-ahead and
writing back are the page cache's, so an operation that some stream issues through the cache is not looked at, nor are memory mapping and
file operations.

Processors. Time in user mode that is not this process's. Time of the kernel is left out, since much of it is spent for our own requests.

Thresholds: `SHARE_MIN` of our own load on a device is what its counters can tell from our own; below `REQUESTS_PER_S_MIN` and
`BYTES_PER_S_MIN` are the housekeeping of a file system and the writing of the results. From a fifth of the processors' time on, threads
of a generator wait for one measurably; from 1 % stolen time on, latencies beyond the 99th percentile are in question. How grave it is
follows from the largest share (`severity.of_shift`).

    list(other_load(evidence))      # [Flag("other_load", "doubt", "Other processes used this machine: 4,980 reads/s …", "…")]
"""

from __future__ import annotations

from collections.abc import Iterator

from plimsoll.analysis.point.definition import is_direct
from plimsoll.analysis.validity.evidence import Evidence, quantity
from plimsoll.analysis.validity.severity import of_shift
from plimsoll.analysis.validity.target import EDGES_S, Flow, issued_flow, top_devices
from plimsoll.near import listed
from plimsoll.result import Flag
from plimsoll.stored import Device
from plimsoll.units import megabytes

#: By operation.
Flows = dict[str, Flow]

#: Backends that bring requests to a device of this host one by one.
_BACKENDS = ("uring", "sync")
_OPS = ("read", "write")
SHARE_MIN = 0.05
REQUESTS_PER_S_MIN = 25.0
BYTES_PER_S_MIN = float(1 << 20)
#: Longer requests may be split by a fragmented file or a device, so that there are more of them.
UNSPLIT_BYTES_MAX = 64 << 10
#: What a journal may write beside a flush or a synchronous write.
_JOURNAL = (4, 64 << 10)
USER_PERCENT_MIN = 20.0
STEAL_PERCENT_MIN = 1.0


def other_load(evidence: Evidence) -> Iterator[Flag]:
    """Others used the devices or processors, or took processor time away, while it was measured."""
    if evidence.result.modelled or not evidence.result.totals:
        return
    on_devices = list(_on_devices(evidence)) if evidence.backend in _BACKENDS else []
    devices = [told for told, _ in on_devices]
    processors, steal = _processors(evidence), _stolen(evidence)
    found = [*devices, *processors, *steal]
    if not found:
        return
    shift = max([share for _, share in on_devices] + [_foreign_user(evidence), _steal_percent(evidence) / 100])
    yield Flag(
        "other_load",
        of_shift(shift),
        f"Other processes used this machine: {_all(found)}.",
        "Stop them ('iotop' and 'pidstat -d 1' name them), or measure when it is quiet. Their load is part of these numbers.",
    )


def _below(evidence: Evidence) -> list[Device]:
    """The devices below those of the parts, where these hand on what they get as it is."""
    tops, devices = top_devices(evidence), evidence.target_facts.get("devices", [])
    below = {top["name"]: [one for one in devices if one.get("below") == top["name"]] for top in tops}
    keeps = any((top.get("backing") or {"direct": True}).get("direct") is not True for top in tops)
    if keeps or any(len(found) > 1 for found in below.values()):
        return []
    return [found[0] for found in below.values() if found]


def _on_devices(evidence: Evidence) -> Iterator[tuple[str, float]]:
    """What others did on the devices of the parts, and below them, where what these were given arrives; each with its share of our own."""
    tops, below = top_devices(evidence), _below(evidence)
    ops = [op for op in _OPS if not _through_cache(evidence, op)]
    own = {op: _own(evidence, op) for op in ops}
    given = {op: flow for op in ops if (flow := _counted(evidence, tops, op)) is not None}
    yield from _foreign(evidence, tops, own, given)
    arrived = {op: flow for op in given if (flow := _counted(evidence, below, op)) is not None}
    yield from _foreign(evidence, below, given, arrived)


def _foreign(evidence: Evidence, devices: list[Device], own: Flows, seen: Flows) -> Iterator[tuple[str, float]]:
    """What was seen on these devices together and is not ``own``, in words; nothing when it is little."""
    seconds = float(evidence.result.monitor.get("seconds") or 0.0)
    if seconds <= 0 or not seen:
        return
    requests = sum(_over(seen[op].requests, own[op].requests, seconds) for op in seen if own[op].mean_bytes <= UNSPLIT_BYTES_MAX)
    bytes_ = sum(_over(seen[op].bytes, own[op].bytes, seconds) for op in seen)
    ours = Flow(sum(flow.requests for flow in own.values()), sum(flow.bytes for flow in own.values()))
    many = requests > max(REQUESTS_PER_S_MIN, SHARE_MIN * ours.requests)
    much = bytes_ > max(BYTES_PER_S_MIN, SHARE_MIN * ours.bytes)
    told = [_told(op, own[op], seen[op]) for op in seen if _over(seen[op].bytes, own[op].bytes, seconds) > 0]
    if told and (many or much):
        share = max(requests / max(ours.requests, 1.0), bytes_ / max(ours.bytes, 1.0))
        yield f"{_all(told)} on {_all([device['name'] for device in devices])}", share


def _told(op: str, own: Flow, seen: Flow) -> str:
    requests, bytes_ = max(seen.requests - own.requests, 0.0), max(seen.bytes - own.bytes, 0.0)
    return f"{quantity(requests)} {op}s/s ({megabytes(bytes_)} MB/s)"


def _over(seen: float, own: float, seconds: float) -> float:
    """What was seen beyond our own, with what the two may differ by at their ends allowed for."""
    return max(0.0, seen - own * (1.0 + EDGES_S / seconds))


def _own(evidence: Evidence, op: str) -> Flow:
    """What this run may have brought to the devices."""
    flow = issued_flow(evidence.result, op)
    if op == "read" or not evidence.target_facts.get("filesystem"):
        return flow
    flushes = issued_flow(evidence.result, "flush").requests
    synchronous = flow.requests if any(stream.get("dsync") for stream in evidence.streams) else 0.0
    journalled = flushes + synchronous
    return Flow(flow.requests + _JOURNAL[0] * journalled, flow.bytes + _JOURNAL[1] * journalled)


def _through_cache(evidence: Evidence, op: str) -> bool:
    """Whether the page cache decides what reaches the device; reading a file through it also notes when it was read."""
    return op in evidence.result.totals and any(not is_direct(stream) for stream in evidence.streams)


def _counted(evidence: Evidence, devices: list[Device], op: str) -> Flow | None:
    """What the devices counted; None when some cannot be seen."""
    counters = evidence.result.monitor.get("devices") or {}
    keys = (f"{op[0]}_per_s", f"{op}_bytes_per_s")
    names = [device["name"] for device in devices]
    if not names or any(key not in counters.get(name, {}) for name in names for key in keys):
        return None
    return Flow(*(sum(float(counters[name][key] or 0.0) for name in names) for key in keys))


def _processors(evidence: Evidence) -> list[str]:
    foreign = 100 * _foreign_user(evidence)
    return [f"other programs had {foreign:.0f} % of the processors' time"] if foreign >= USER_PERCENT_MIN else []


def _foreign_user(evidence: Evidence) -> float:
    """The share of the processors' time that other programs had in user mode; 0 where nobody knows."""
    cpu = evidence.result.monitor.get("cpu") or {}
    user, own = cpu.get("user_percent"), cpu.get("own_user_percent")
    return 0.0 if user is None or own is None else max(0.0, user - own) / 100


def _steal_percent(evidence: Evidence) -> float:
    return float((evidence.result.monitor.get("cpu") or {}).get("steal_percent") or 0.0)


def _stolen(evidence: Evidence) -> list[str]:
    stolen = _steal_percent(evidence)
    return [f"the hypervisor gave {stolen:.1f} % of the processors' time to other guests"] if stolen >= STEAL_PERCENT_MIN else []


def _all(words: list[str]) -> str:
    return listed(words, "and")
