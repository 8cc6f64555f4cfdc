"""Devices and file systems behind a target, and what identifies it.

Facts: block devices down to the disks, and the file system when the target is a file.

Model: starts from the engine's own inspection, follows device numbers through /sys, and looks at the allocation of files, which tells
sparse ones.
Limits: network and overlay file systems have no block device; then ``devices`` is empty and ``devices_absent`` says why.

    facts = target_facts(engine.inspect_target("stripe:/dev/sdb,/dev/sdc"))
    [device["name"] for device in facts["devices"]]       # ["sdb", "sdc"]

The medium: whether there is a storage device of this host below a target at all; memory and other machines answer as well.

Model: the type of the file system that a file is on, of the one that the file behind a loop device is on, and the names of devices that
are memory. Limits: what a hypervisor or an array keeps in its own memory cannot be seen from here.

    medium_of(facts)        # {"kind": "memory", "name": "tmpfs"}

Identity: what a target is, whatever its path is called today; equal before and after a reboot for the same storage, different for another
disk.

Model: a device is its serial number or world-wide name, of a stacked one its own UUID, with the number of the partition; a file is its file
system's UUID with its inode. A file that is yet to be made, and one that Plimsoll made and may make anew, is the directory that it is in.
Limits: where nothing of the kind is known, the kernel's name, its device number or the number that statfs(2) gives has to do, and these may
change with a reboot; then the same storage is taken for another, never another for the same.

    target_identity(engine.inspect_target("/dev/sdb1"))       # ["serial WD-123, partition 1"]
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from contextlib import suppress
from typing import cast

from plimsoll.host.device import SYS_BLOCK, device_facts, device_name, disk_of, free_bytes, mount_of, name_of_number, physical_devices
from plimsoll.host.facts import Absent, collect_facts, known, text
from plimsoll.stored import Filesystem, Inspection, Medium, Mount, PartInspection, TargetFacts


def target_facts(inspection: Inspection) -> TargetFacts:
    """The inspection, with the devices, file system and allocation that stand behind it."""
    paths = target_paths(inspection)
    devices, reasons = _devices(paths)
    facts = cast("TargetFacts", {**inspection, "devices": [{**device_facts(name), "below": below} for name, below in devices.items()]})
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
    if medium is not None:
        facts["medium"] = medium
    return facts


def target_paths(inspection: Inspection | PartInspection) -> list[str]:
    """The files and devices a target consists of, in order."""
    parts: Sequence[PartInspection] = cast("Inspection", inspection).get("parts") or []
    if parts:
        return [path for part in parts for path in target_paths(part)]
    path = inspection.get("path")
    return [path] if isinstance(path, str) else []


def existing(path: str) -> str:
    """``path`` itself, or the directory that it will be made in."""
    return path if os.path.exists(path) else os.path.dirname(os.path.abspath(path))


def monitored_devices(facts: TargetFacts) -> list[str]:
    """Kernel names of the devices whose counters belong to a target."""
    return [device["name"] for device in facts.get("devices", [])]


def filesystem_facts(path: str) -> Filesystem:
    """Type, source, options and free space of the file system that holds ``path``."""

    def describe() -> Mount:
        mount = mount_of(path)
        return {"type": mount.fs_type, "source": mount.source, "point": mount.point, "options": mount.options}

    return cast("Filesystem", collect_facts({"mount": describe, "free_bytes": lambda: free_bytes(path)}))


def _devices(paths: list[str]) -> tuple[dict[str, str | None], list[str]]:
    """Kernel names, each with the device it lies below (None for those that the parts are on), and why some are missing."""
    found: dict[str, str | None] = {}
    reasons = []
    for path in paths:
        try:
            top = _device_of(path)
            found.setdefault(top, None)
            for disk in (*physical_devices(top), *_backing_devices(top)):
                found.setdefault(disk, top)
        except (Absent, OSError) as reason:
            reasons.append(f"{path}: {reason}")
    return found, reasons


def _backing_devices(name: str) -> list[str]:
    """The disks below the file that a loop device shows; none of another device, or of a file that cannot be seen."""
    backing = device_facts(name).get("backing")
    try:
        return physical_devices(name_of_number(os.stat(backing["path"]).st_dev)) if backing else []
    except (Absent, OSError):
        return []


def _device_of(path: str) -> str:
    """The device itself; for a file, the device of the file system it is on or will be made on."""
    return device_name(path) if _is_device(path) else name_of_number(os.stat(existing(path)).st_dev)


def _is_device(path: str) -> bool:
    try:
        return stat.S_ISBLK(os.stat(path).st_mode)
    except OSError:
        return False


#: File systems in memory.
MEMORY = ("tmpfs", "ramfs", "devtmpfs", "hugetlbfs")
#: File systems without a block device of this host: networks, programs, layers over others.
ELSEWHERE = ("nfs", "nfs4", "cifs", "smb3", "9p", "virtiofs", "fuse", "ceph", "glusterfs", "lustre", "overlay", "afs")
#: Kernel names of devices that are memory begin so.
_MEMORY_DEVICES = ("zram", "ram")


def medium_of(facts: TargetFacts) -> Medium | None:
    """What is below the target of these facts when it is no device of this host: its kind (memory, elsewhere) and name."""
    for device in facts.get("devices", []):
        backing, name = device.get("backing"), str(device.get("name"))
        if isinstance(backing, dict) and backing.get("type") in MEMORY:
            return {"kind": "memory", "name": f"{name} shows a file on {backing['type']}"}
        if name.startswith(_MEMORY_DEVICES):
            return {"kind": "memory", "name": name}
    mount = (facts.get("filesystem") or {}).get("mount")
    kind = str(mount.get("type")) if isinstance(mount, dict) else ""
    if kind in MEMORY:
        return {"kind": "memory", "name": kind}
    return {"kind": "elsewhere", "name": kind} if kind in ELSEWHERE or kind.startswith("fuse.") else None


_STACKED = ("dm/uuid", "md/uuid", "loop/backing_file")
_BY_UUID = "/dev/disk/by-uuid"


def target_identity(inspection: Inspection | PartInspection) -> list[str]:
    """The identity of each file and device that a target consists of, in order; none where nothing is stored."""
    parts: Sequence[PartInspection] = cast("Inspection", inspection).get("parts") or []
    if parts:
        return [identity for part in parts for identity in target_identity(part)]
    path = inspection.get("path")
    if not isinstance(path, str):
        return []
    try:
        return [_path_identity(path, ours=bool(inspection.get("made_by_plimsoll")))]
    except (Absent, OSError) as reason:
        return [f"unknown: {reason}"]


def _path_identity(path: str, *, ours: bool) -> str:
    if os.path.exists(path) and stat.S_ISBLK(os.stat(path).st_mode):
        return device_identity(device_name(path))
    place = os.path.dirname(os.path.abspath(path)) if ours or not os.path.exists(path) else path
    return f"{_filesystem_identity(place)}, inode {os.stat(place).st_ino}"


def device_identity(name: str) -> str:
    """Of a block device by its kernel name."""
    folder, disk = f"{SYS_BLOCK}/{name}", disk_of(name)
    for source in _STACKED:
        with suppress(Absent):
            return f"{source} {text(f'{SYS_BLOCK}/{disk}/{source}')}" + _partition(folder)
    facts = device_facts(name)
    serial = known(facts, "serial")
    named = f"{disk} of {facts['size_bytes']} bytes" if serial is None else f"serial {serial}"
    return named + _partition(folder)


def _partition(folder: str) -> str:
    with suppress(Absent):
        return f", partition {text(f'{folder}/partition')}"
    return ""


def _filesystem_identity(place: str) -> str:
    with suppress(Absent, OSError):
        device = name_of_number(os.stat(place).st_dev)
        for uuid in sorted(os.listdir(_BY_UUID)):
            if os.path.basename(os.path.realpath(os.path.join(_BY_UUID, uuid))) == device:
                return f"file system {uuid}"
    return f"file system {os.statvfs(place).f_fsid:x}"
