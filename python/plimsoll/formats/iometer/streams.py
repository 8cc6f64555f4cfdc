"""Loads become streams: an access list per specification, a thread per worker, a region per target.

Model: Iometer's sequential pointer belongs to one worker at one target and starts where the region starts. So workers become threads of one
stream only where every request is random; otherwise each is a stream of its own with one thread.
Limits: a target used with alignment 0 is used in sectors of 512 bytes, as Iometer uses a disk whose sectors it does not know.

    groups = grouped(intent.loads(0), stages=())
    stream(groups[0], "worker-1", intent.layout)["access"]
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from plimsoll.formats.iometer.cycling import Stage
from plimsoll.formats.iometer.intent import Load
from plimsoll.formats.iometer.model import AccessLine, AccessSpec
from plimsoll.formats.iometer.storage import SECTOR, Layout

Json = dict[str, Any]
#: Loads that are threads of the same stream.
Group = list[Load]

#: The byte that stands for Iometer's repeated ones, which change from request to request.
REPEATED_BYTE = "0x5a"
REPEATING = 0
NAME_LENGTH = 40

_UNITS = (("PiB", 2**50), ("TiB", 2**40), ("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10))


def grouped(loads: Sequence[Load], stages: Sequence[Stage]) -> list[Group]:
    """Loads by stream: those that are alike, all random, and take part in the same stages go together."""
    groups: dict[object, Group] = {}
    for load in loads:
        taking = tuple(stage.takes(load.access) for stage in stages)
        key = (load.target, load.spec.name, load.assignment.settings, taking) if is_random(load.spec) else load.access
        groups.setdefault(key, []).append(load)
    return list(groups.values())


def is_random(spec: AccessSpec) -> bool:
    """Whether no request follows another."""
    return all(line.random == 100 for line in spec.lines)


def stream(group: Group, name: str, layout: Layout) -> Json:
    """The stream that ``group`` is."""
    load = group[0]
    settings = load.assignment.settings
    made: Json = {
        "name": name,
        "access": [_entry(line) for line in load.spec.lines],
        "threads": len(group),
        "queue_depth": settings.outstanding or 1,
        **_region(load, layout),
    }
    if settings.data_pattern == REPEATING:
        made |= {"content": "pattern", "pattern": REPEATED_BYTE}
    if settings.use_fixed_seed and settings.fixed_seed is not None:
        # Ours are of 63 bits.
        made["seed"] = settings.fixed_seed % 2**63
    return made


def stream_names(groups: Sequence[Group]) -> list[str]:
    """A name for each, from its worker and, where that has several, its target."""
    names: list[str] = []
    for group in groups:
        load = group[0]
        name = slug(load.assignment.worker.name) or "worker"
        if len(load.assignment.targets) > 1:
            name = f"{name}-target-{load.access.target + 1}"
        if len(group) > 1:
            name = f"{name}-and-{len(group) - 1}-more"
        names.append(unique(name, names))
    return names


def slug(text: str) -> str:
    """``text`` in letters, digits and dashes."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:NAME_LENGTH].strip("-")


def unique(name: str, taken: Sequence[str]) -> str:
    """``name``, with a number behind it where it is taken."""
    number, found = 1, name
    while found in taken:
        number += 1
        found = f"{name}-{number}"
    return found


def size_text(size_bytes: int) -> str:
    """A size as our files write it, exactly."""
    for unit, unit_bytes in _UNITS:
        if size_bytes and size_bytes % unit_bytes == 0:
            return f"{size_bytes // unit_bytes}{unit}"
    return f"{size_bytes}B"


def _entry(line: AccessLine) -> Json:
    entry: Json = {
        "weight": line.share,
        "size": size_text(line.size),
        "read_percent": line.reads,
        "random_percent": line.random,
        "align": size_text(line.align or SECTOR),
    }
    if line.burst != 1:
        entry["burst"] = line.burst
    if line.delay_ms:
        entry["delay"] = f"{line.delay_ms}ms"
    return entry


def _region(load: Load, layout: Layout) -> Json:
    settings = load.assignment.settings
    start = (settings.starting_sector or 0) * SECTOR
    lengths = [(settings.maximum_sectors or 0) * SECTOR, _rest(load, layout, start)]
    length = min(filter(None, lengths), default=0)
    return {
        **({"parts": layout.parts[load.target]} if load.target in layout.parts else {}),
        **({"region_start": size_text(start)} if start else {}),
        **({"region_length": size_text(length)} if length else {}),
    }


def _rest(load: Load, layout: Layout, starting: int) -> int:
    """From the starting sector to the end of a target whose size is known; 0 for to the end of the whole."""
    length = layout.lengths[load.target]
    return max(length - starting, SECTOR) if length is not None else 0
