"""Whether there is a storage device of this host below a target at all: memory and other machines answer as well.

Model: the type of the file system that a file is on, of the one that the file behind a loop device is on, and the names of devices that
are memory. Limits: what a hypervisor or an array keeps in its own memory cannot be seen from here.

    medium_of(facts)        # {"kind": "memory", "name": "tmpfs"}
"""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]

#: File systems in memory.
MEMORY = ("tmpfs", "ramfs", "devtmpfs", "hugetlbfs")
#: File systems without a block device of this host: networks, programs, layers over others.
ELSEWHERE = ("nfs", "nfs4", "cifs", "smb3", "9p", "virtiofs", "fuse", "ceph", "glusterfs", "lustre", "overlay", "afs")
#: Kernel names of devices that are memory begin so.
_MEMORY_DEVICES = ("zram", "ram")


def medium_of(facts: Json) -> Json | None:
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
