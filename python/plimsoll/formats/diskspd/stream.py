"""A target of DiskSpd as streams of ours.

Model: one stream with all threads of the target, except where sequential threads each have a pointer of their own: then every thread is a
stream that begins where the thread does, at the base or -T after the thread before it. With bursts, mix and sizes stand in an access entry.
Limits: a sequential thread returns to where it began, not to the base.

    streams_of(use)         # [{'name': 'target', 'block_size': 65536, …}]
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from plimsoll.formats.diskspd.distribution import as_toml, zones
from plimsoll.formats.diskspd.use import Use

Json = dict[str, Any]

#: What DiskSpd writes unless it is told otherwise: the bytes 0 to 255, over and over.
PATTERN = "0x" + bytes(range(256)).hex()


def streams_of(use: Use) -> list[Json]:
    """The streams of one target."""
    name = f"target-{use.position + 1}" if len(use.span.targets) > 1 else "target"
    if not use.own_pointers:
        return [{"name": name, **_load(use), **_addresses(use, 0), **_concurrency(use, use.threads), **_durability(use)}]
    return [
        {"name": f"{name}-thread-{number + 1}", **_load(use), **_addresses(use, number), **_concurrency(use, 1), **_durability(use)}
        for number in range(use.threads)
    ]


def _load(use: Use) -> Json:
    mix = {"read_percent": 100 - use.writes}
    if use.bursts:
        burst = {"burst": use.target.get("BurstSize"), "delay": f"{use.target.get('ThinkTime')}ms"}
        return {"access": [{"size": use.block, **mix, "random_percent": use.random_percent, "align": use.align, **burst}]}
    made: Json = {"block_size": use.block, **mix, "write_percent": use.writes, "random_percent": use.random_percent}
    return made if use.align == use.block else {**made, "align": use.align}


def _addresses(use: Use, thread: int) -> Json:
    made: Json = {}
    if use.random_percent < 100:
        if use.threads > 1 and not use.own_pointers:
            made["sequential"] = "shared" if use.interlocked else "per_thread"
        if use.stride != use.block:
            made["stride"] = use.stride
    ranges = use.target.get("Distribution")
    if ranges is not None and use.random_percent:
        made["distribution"] = as_toml(zones(ranges, use.region_bytes) or [])
    offset = thread * use.thread_stride
    start = use.base + offset
    if use.several:
        made["parts"] = use.index
    if start:
        made["region_start"] = start
    # A file that is created is as long as the region; what a typed target has, it does not say.
    typed = bool(use.target.own_path)
    if use.region_bytes is not None and (typed or use.region_bytes != use.file_bytes - use.base or offset):
        made["region_length"] = use.region_bytes - offset
    return made


def _concurrency(use: Use, threads: int) -> Json:
    made: Json = {"threads": threads, "queue_depth": use.depth}
    rate = use.rate_per_thread
    if rate is not None:
        made |= {"arrival": "constant", "rate": _number(rate * threads)}
    return made


def _durability(use: Use) -> Json:
    made: Json = {"direct": use.direct}
    if use.dsync:
        made["dsync"] = True
    return made | _content(use) if use.writes else made


def _content(use: Use) -> Json:
    content = use.target.get("WriteBufferContent")
    if content == "zero":
        return {"content": "zeros"}
    return {"content": "pattern", "pattern": PATTERN} if content == "sequential" else {"content": "incompressible"}


def _number(value: Fraction) -> int | float:
    return int(value) if value.denominator == 1 else float(value)
