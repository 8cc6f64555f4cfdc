"""What a target is, whatever its path is called today: equal before and after a reboot for the same storage, different for another disk.

Model: a device is its serial number or world-wide name, of a stacked one its own UUID, with the number of the partition; a file is its file
system's UUID with its inode. A file that is yet to be made, and one that Plimsoll made and may make anew, is the directory that it is in.
Limits: where nothing of the kind is known, the kernel's name, its device number or the number that statfs(2) gives has to do, and these may
change with a reboot; then the same storage is taken for another, never another for the same.

    target_identity(engine.inspect_target("/dev/sdb1"))       # ["serial WD-123, partition 1"]
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from typing import Any

from plimsoll.host.device import SYS_BLOCK, device_facts, device_name, disk_of, name_of_number
from plimsoll.host.facts import Absent, known, text

Json = dict[str, Any]

_STACKED = ("dm/uuid", "md/uuid", "loop/backing_file")
_BY_UUID = "/dev/disk/by-uuid"


def target_identity(inspection: Json) -> list[str]:
    """The identity of each file and device that a target consists of, in order; none where nothing is stored."""
    parts = inspection.get("parts")
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
