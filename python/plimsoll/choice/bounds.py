"""What a candidate cannot do, whatever is simulated: the most that its components carry, and the least that its disks take to answer.

Model: `crates/array` says what a request needs at least of every component (`bounds`: operations per write at the RAID level, the best
order that queues can bring commands into, links, controllers). Requests per second times that need is at most what the component can give.
What caches can answer or keep is taken off first: of uniform reads over a range R at most C / R are met in caches of C bytes; of uniform
writes at most D · row / R lie in a row of the group with another one when D of them are dirty; what the write caches take up meanwhile
need not reach a drive. Loads that are not uniform may be met in full, and then only what every request crosses bounds them.
A random read that no cache answers waits for a turn of the platters: with W commands to choose from the chance of less than t is at most
1 − (1 − t / turn)^W. So a share of reads below a limit, or their mean, has a least value on disks.
A write of more than a strip of a row of parity may fill the row: it is taken for one of a sequential stream, which needs less.
Limits: flash has no least response here, and writes that are reported early have none. A demand has to exceed a bound by 4 % before it
excludes: with less than that a queue may not show within the time that is measured.

    bound_of(target, load).rejection(load)      # 'media: disks carry at most 3,482 of 5,000 requests/s', or None
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from plimsoll.analysis.objective.clause import Clause
from plimsoll.analysis.point.definition import size_bounds, streams
from plimsoll.catalog.levels import ERASURE, has_records
from plimsoll.choice.demand import DemandedLoad
from plimsoll.stored import Json
from plimsoll.target import Target
from plimsoll.units import brief_duration, count

#: By how much a demand has to be more than a component can give.
MARGIN = 1.04
#: So many requests are outstanding at most; more make no difference to the bound.
_POPULATION = 4096
#: A point is measured for so long at least, or for so many requests (`plimsoll.points.balance`).
MEASURED_S = 60.0
MEASURED_REQUESTS = 500_000
_WORDS = {"disk": "disks", "flash": "flash drives", "cpu": "controllers", "link": "links", "host": "host"}
_LEVEL_ROWS = ("raid5", "raid50", "raid6", "raid60", ERASURE)


@dataclass(frozen=True)
class Flow:
    """Requests of one stream: rate, share of reads, the least size, the share at random places, and whether those are uniform."""

    rate_per_s: float
    read_share: float
    size_bytes: int
    random_share: float
    uniform: bool
    region_share: float


@dataclass(frozen=True)
class Need:
    """What a component is asked for over what it can give; above 1 it cannot."""

    component: str
    kind: str
    used: float


@dataclass(frozen=True)
class Bound:
    """Of one candidate under one load."""

    size_bytes: int
    needs: tuple[Need, ...]
    #: The least that reads of disks take: turn of the platters, commands to choose from, and the share of reads that no cache answers.
    turn_ns: float
    window: int
    missed: float

    @property
    def tightest(self) -> Need | None:
        """The component that is asked for most."""
        return max(self.needs, key=lambda need: need.used, default=None)

    def rejection(self, load: DemandedLoad) -> str | None:
        """Why it cannot carry the load; None where it may."""
        tightest = self.tightest
        if tightest is not None and tightest.used > MARGIN:
            most = load.rate_per_s / tightest.used
            what = _WORDS.get(tightest.kind, tightest.kind)
            return f"bound: its {what} ({tightest.component}) carry at most {count(most)} of {count(load.rate_per_s)} requests/s"
        for part in load.parts:
            for clause in part.objective.clauses:
                least_ns = self.least_ns(clause)
                if least_ns > clause.limit and clause.relation in ("<=", "<"):
                    return f"bound: {clause.text} is not possible: disks take {brief_duration(least_ns)} at least"
        return None

    def least_ns(self, clause: Clause) -> float:
        """The least that a latency of reads can be; 0 where nothing is known."""
        if not self.turn_ns or clause.op not in (None, "read") or self.missed <= 0:
            return 0.0
        if clause.metric == "mean":
            return self.missed * self.turn_ns / (self.window + 1)
        percent = _percent(clause.metric)
        share = 0.0 if percent is None else 1 - (1 - percent / 100) / self.missed
        return self.turn_ns * (1 - (1 - share) ** (1 / self.window)) if share > 0 else 0.0


def flows(load: DemandedLoad) -> list[Flow]:
    """The demand's streams as the bounds take them."""
    return [_flow(stream) for stream in streams(load.at(1.0))]


def bound_of(target: Target, load: DemandedLoad) -> Bound:
    """Raises `InputError` where the array cannot be built."""
    from plimsoll import _core
    from plimsoll.errors import InputError

    document, own = target.document or {}, flows(load)
    try:
        asked = [one for flow in own for one in _loads(flow)]
        found: Json = json.loads(_core.bound_array(target.handed, asked, _POPULATION))
    except ValueError as problem:
        raise InputError(str(problem)) from None
    size = int(found["size_bytes"])
    caches = _caches(document)
    used: dict[tuple[str, str], float] = {}
    for flow, (mixed, written, sequential) in zip(own, _threes(found["loads"]), strict=True):
        for name, kind, share in _used(flow, (mixed, written, sequential), _met(flow, size, caches, document), document):
            used[name, kind] = used.get((name, kind), 0.0) + share
    needs = tuple(Need(name, kind, share) for (name, kind), share in used.items())
    turn_ns, window = _turn(document)
    return Bound(size, needs, turn_ns, window, min((_missed(flow, size, caches) for flow in own if flow.read_share), default=0.0))


@dataclass(frozen=True)
class _Caches:
    """Bytes that can answer reads, that can be dirty, and that can become dirty while it is measured."""

    all_bytes: float
    dirty_bytes: float
    taken_up_bytes: float
    page_bytes: float
    flash_dirty_bytes: float = 0.0


@dataclass(frozen=True)
class _Met:
    """Shares of reads and writes that need not reach a drive, and writes per second that the caches take up meanwhile."""

    reads: float
    writes: float
    taken_up_per_s: float


def _used(flow: Flow, found: tuple[Sequence[Json], ...], met: _Met, document: Json) -> Iterator[tuple[str, str, float]]:
    """Every component with the part of what it can give that the flow takes."""
    mixed, written, sequential = ({demand["component"]: demand for demand in demands} for demands in found)
    outer = {name for volume in document.get("volumes", []) for name in (*volume.get("links", ()), *volume.get("ports", ()))}
    writes = 1 - flow.read_share
    kept = max(0.0, writes - met.taken_up_per_s / flow.rate_per_s) * (1 - met.writes)
    fills_rows = writes > 0 and _fills_rows(flow, document)
    for name, demand in mixed.items():
        write_ns = written.get(name, {"least_ns": 0.0})["least_ns"]
        read_ns = max(0.0, demand["least_ns"] - writes * write_ns)
        # What the page cache of a host answers costs it less.
        plain_host = demand["kind"] == "host" and document.get("host", {}).get("mode") != "buffered"
        every = plain_host or name in outer or _outer_copy(name, outer)
        random_ns = demand["least_ns"] if every else read_ns * (1 - met.reads) + kept * write_ns
        run_ns = sequential.get(name, {"least_ns": 0.0})["least_ns"]
        run_ns = run_ns if every else run_ns * (0.0 if not flow.uniform else (1 - met.reads) * (kept / writes if writes else 1.0))
        random_ns = min(random_ns, run_ns) if fills_rows and not every else random_ns
        need_ns = flow.random_share * random_ns + (1 - flow.random_share) * min(run_ns, random_ns)
        yield name, demand["kind"], flow.rate_per_s * need_ns / (1e9 * demand["servers"])


def _outer_copy(name: str, outer: set[str]) -> bool:
    return any(name.startswith(f"{link}[") for link in outer)


def _loads(flow: Flow) -> list[tuple[float, int, bool]]:
    return [(flow.read_share, flow.size_bytes, False), (0.0, flow.size_bytes, False), (flow.read_share, flow.size_bytes, True)]


def _threes(loads: Sequence[Any]) -> Iterator[tuple[Any, Any, Any]]:
    for at in range(0, len(loads), 3):
        yield loads[at], loads[at + 1], loads[at + 2]


def _flow(stream: Any) -> Flow:
    others = ("access", "trace", "trim_percent", "flush_percent", "flush_every", "zone_length", "share_group")
    plain = not any(stream.get(key) for key in others)
    sizes = [bounds[0] for op in ("read", "write") if (bounds := size_bounds(stream, op)) is not None]
    reads = float(stream.get("read_percent", 100)) / 100 if plain else 1.0
    distribution = stream.get("distribution") or "uniform"
    uniform = plain and distribution in ("uniform", {"kind": "uniform"}) and (stream.get("sequential") or "shared") == "shared"
    length = stream.get("region_length")
    share = float(str(length).rstrip("%")) / 100 if str(length or "").endswith("%") else 1.0
    return Flow(
        rate_per_s=float(stream["rate"]) if isinstance(stream.get("rate"), int | float) else _schedule_rate(stream),
        read_share=reads,
        size_bytes=max(512, min(sizes, default=512)),
        random_share=float(stream.get("random_percent", 100)) / 100 if plain else 0.0,
        uniform=uniform and (length is None or str(length).endswith("%")),
        region_share=share,
    )


def _schedule_rate(stream: Any) -> float:
    """The least rate of a schedule that is not silence, so that no stretch of it is taken for more than it is."""
    return min((float(step["rate"]) for step in stream.get("schedule") or [] if step["rate"]), default=0.001)


def _caches(document: Json) -> _Caches:
    host = document.get("host", {})
    pages = host.get("page_cache") or {} if host.get("mode") == "buffered" else {}
    page_cache = float(pages.get("size_bytes", 0))
    own = [controller["cache"] for controller in document.get("controller", []) if controller.get("cache")]
    size = sum(float(cache["size_bytes"]) for cache in own)
    kinds = [(float(cache["size_bytes"]) * float(cache.get("write_percent", 50)) / 100, cache) for cache in own]
    dirty = sum(size_bytes for size_bytes, _ in kinds)
    # Measuring begins when destaging has begun; what is dirty has not fallen below the low watermark since.
    free = sum(size_bytes * (100 - float(cache.get("low_percent", 0))) / 100 for size_bytes, cache in kinds)
    buffers = kept = 0.0
    for entry in document.get("devices", []):
        model, number = entry.get("model", {}), int(entry.get("count", 1))
        buffer = model.get("buffer") or {}
        buffers += number * (float(buffer.get("segments", 0)) * float(buffer.get("segment_bytes", 0)))
        kept += number * (float(buffer.get("write_bytes", 0)) + float(model.get("write_buffer_bytes", 0)))
    on_flash, flash_dirty = _on_flash(document)
    page = min((float(cache.get("page_bytes", 4096)) for cache in own), default=4096.0)
    all_bytes, taken_up = size + page_cache + buffers + on_flash, free + page_cache + kept + flash_dirty
    return _Caches(all_bytes, dirty + page_cache, taken_up, page, flash_dirty)


def _on_flash(document: Json) -> tuple[float, float]:
    """Bytes of flash caches, and those of extents that may be dirty, all of which may become so while it is measured."""
    sets = [(entry["name"], entry.get("model", {}), int(entry.get("count", 1))) for entry in document["devices"]]
    capacity = {name: float(model.get("capacity_bytes", 0)) * number for name, model, number in sets}
    size = dirty = 0.0
    for group in document.get("group", []):
        if (cache := group.get("flash_cache")) is None:
            continue
        members = next(other["members"] for other in document["group"] if other["name"] == cache["group"])
        whole = sum(capacity[name] for name in {str(member).partition("[")[0] for member in members})
        own = float(cache.get("size_bytes") or whole)
        size += own
        if cache.get("writes") == "back":
            dirty += own * float(cache.get("write_percent", 100)) / 100
    return size, dirty


def _met(flow: Flow, size: int, caches: _Caches, document: Json) -> _Met:
    measured_s = min(MEASURED_S, MEASURED_REQUESTS / flow.rate_per_s)
    taken_up = caches.taken_up_bytes / measured_s / flow.size_bytes
    if not flow.uniform:
        return _Met(1.0, 1.0, taken_up)
    region = size * flow.region_share
    row = max((_row_bytes(group["raid"]) for group in document.get("group", [])), default=0.0)
    together = caches.dirty_bytes / caches.page_bytes * max(row, 3 * caches.page_bytes) / region
    # A write that meets a dirty extent on flash adds no other one to what is written to the group.
    together += caches.flash_dirty_bytes / region
    return _Met(min(1.0, caches.all_bytes / region), min(1.0, together), taken_up)


def _record_bytes(raid: Json) -> float:
    """A record, which RAIDZ and dRAID read and write as a whole; 0 where there are none."""
    return float(raid.get("record_sectors", 256)) * 512 if has_records(str(raid["level"])) else 0.0


def _row_bytes(raid: Json) -> float:
    """What is destaged together: a row of parity, or a record."""
    if record := _record_bytes(raid):
        return record
    return float(raid.get("strip_sectors", 128)) * 512 * float(raid["devices"]) if raid["level"] in _LEVEL_ROWS else 0.0


def _fills_rows(flow: Flow, document: Json) -> bool:
    """Whether a write takes more than a strip of a row of parity, or a record: as much of it as it fills need not be read again."""
    raids = [group["raid"] for group in document.get("group", []) if group["raid"]["level"] in _LEVEL_ROWS]
    if any(flow.size_bytes >= record for group in document.get("group", []) if (record := _record_bytes(group["raid"]))):
        return True
    return any(flow.size_bytes > float(raid.get("strip_sectors", 128)) * 512 for raid in raids)


def _missed(flow: Flow, size: int, caches: _Caches) -> float:
    """The share of reads that surely wait for a drive to turn."""
    if not flow.uniform:
        return 0.0
    return flow.random_share * max(0.0, 1 - caches.all_bytes / (size * flow.region_share))


def _turn(document: Json) -> tuple[float, int]:
    """A turn of the fastest disks, and the commands that a read can be chosen from; nothing where drives are not disks alone."""
    models = [entry.get("model", {}) for entry in document.get("devices", [])]
    if not models or any("rotation_rpm" not in model for model in models):
        return 0.0, 1
    queues = [model.get("queue") or {} for model in models]
    window = max(int(queue.get("window", 1)) if queue.get("policy") == "sptf" else 1 for queue in queues)
    copies = max((_copies(group["raid"]) for group in document.get("group", [])), default=1)
    return 60e9 / max(float(model["rotation_rpm"]) for model in models), window * copies


def _copies(raid: Json) -> int:
    if raid["level"] == "raid1":
        return int(raid["devices"])
    return int(raid["devices"]) // int(raid.get("groups") or int(raid["devices"]) // 2) if raid["level"] == "raid10" else 1


def _percent(metric: str) -> float | None:
    """99 of ``p99``, 99.9 of ``p999``."""
    digits = metric[1:]
    return float(f"{digits[:2]}.{digits[2:] or 0}") if metric.startswith("p") and digits.isdecimal() else None
