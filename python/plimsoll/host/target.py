"""What lies behind a target: block devices down to the disks, and the file system when it is a file.

Model: starts from the engine's own inspection, follows device numbers through /sys, and looks at the allocation of files, which tells
sparse ones.
Limits: network and overlay file systems have no block device; then ``devices`` is empty and ``devices_absent`` says why.

    facts = target_facts(engine.inspect_target("stripe:/dev/sdb,/dev/sdc"))
    [device["name"] for device in facts["devices"]]       # ["sdb", "sdc"]
"""

from __future__ import annotations

import os
import stat
from typing import Any

from plimsoll.host.device import device_facts, device_name, name_of_number, physical_devices
from plimsoll.host.facts import Absent, collected
from plimsoll.host.medium import medium_of
from plimsoll.host.mount import free_bytes, mount_of

Json = dict[str, Any]


def target_facts(inspection: Json) -> Json:
    """The inspection, with the devices, file system and allocation that stand behind it."""
    paths = target_paths(inspection)
    devices, reasons = _devices(paths)
    facts: Json = {**inspection, "devices": [{**device_facts(name), "below": below} for name, below in devices.items()]}
    if reasons:
        facts["devices_absent"] = "; ".join(reasons)
    on_filesystem = [path for path in paths if not _is_device(path)]
    if on_filesystem:
        facts["filesystem"] = filesystem_facts(existing(on_filesystem[0]))
    files = [path for path in paths if os.path.isfile(path)]
    if files:
        facts["allocated_bytes"] = sum(os.stat(path).st_blocks * 512 for path in files)
        facts["apparent_bytes"] = sum(os.stat(path).st_size for path in files)
    medium = medium_of(facts)
    return facts if medium is None else {**facts, "medium": medium}


def target_paths(inspection: Json) -> list[str]:
    """The files and devices a target consists of, in order."""
    parts = inspection.get("parts") or []
    if parts:
        return [path for part in parts for path in target_paths(part)]
    path = inspection.get("path")
    return [path] if isinstance(path, str) else []


def existing(path: str) -> str:
    """``path`` itself, or the directory that it will be made in."""
    return path if os.path.exists(path) else os.path.dirname(os.path.abspath(path))


def monitored_devices(facts: Json) -> list[str]:
    """Kernel names of the devices whose counters belong to a target."""
    return [device["name"] for device in facts.get("devices", [])]


def filesystem_facts(path: str) -> Json:
    """Type, source, options and free space of the file system that holds ``path``."""

    def describe() -> Json:
        mount = mount_of(path)
        return {"type": mount.fs_type, "source": mount.source, "point": mount.point, "options": mount.options}

    return collected({"mount": describe, "free_bytes": lambda: free_bytes(path)})


def _devices(paths: list[str]) -> tuple[dict[str, str | None], list[str]]:
    """Kernel names, each with the device it lies below (None for those that the parts are on), and why some are missing."""
    found: dict[str, str | None] = {}
    reasons = []
    for path in paths:
        try:
            top = _device_of(path)
            found.setdefault(top, None)
            for disk in physical_devices(top):
                found.setdefault(disk, top)
        except (Absent, OSError) as reason:
            reasons.append(f"{path}: {reason}")
    return found, reasons


def _device_of(path: str) -> str:
    """The device itself; for a file, the device of the file system it is on or will be made on."""
    return device_name(path) if _is_device(path) else name_of_number(os.stat(existing(path)).st_dev)


def _is_device(path: str) -> bool:
    try:
        return stat.S_ISBLK(os.stat(path).st_mode)
    except OSError:
        return False
