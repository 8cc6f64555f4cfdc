"""File systems and block devices behind a path, as the kernel describes them.

Mounts: the file system a path lies on, its type, source, options, free space.

Model: the longest mount point of /proc/self/mounts that the real path starts with (fstab(5) escapes such as ``\\040`` undone).

    mount_of("/data/file").fs_type      # "ext4"

Devices: a block device as /sys has it, and the devices below it.

Model: a partition's attributes live in its parent disk; a stacked device (RAID, LVM, crypt) names what is below it in ``slaves``.

    device_facts("sda1")["scheduler"]          # "mq-deadline"
    physical_devices("md0")                     # ["sda", "sdb"]
"""

from __future__ import annotations

import os
import re
from typing import cast

from plimsoll.host.facts import Absent, collect_facts, number, text
from plimsoll.records import dataclass
from plimsoll.stored import Backing, Device


@dataclass(frozen=True)
class Mount:
    """One line of the mount table."""

    source: str
    point: str
    fs_type: str
    options: str


def mount_of(path: str, table: str | None = None) -> Mount:
    """The mount that ``path`` (or, if it does not exist yet, its folder) is on."""
    real = os.path.realpath(path)
    best: Mount | None = None
    for mount in parse(text("/proc/self/mounts") if table is None else table):
        inside = real == mount.point or real.startswith(mount.point.rstrip("/") + "/")
        # A later mount on the same point hides the earlier one.
        if inside and (best is None or len(mount.point) >= len(best.point)):
            best = mount
    if best is None:
        raise Absent(f"no mount holds {real}")
    return best


def parse(table: str) -> list[Mount]:
    """The mounts of a table in fstab(5) form."""
    mounts = []
    for line in table.splitlines():
        words = [_unescaped(word) for word in line.split(" ")]
        if len(words) >= 4:
            mounts.append(Mount(words[0], words[1], words[2], words[3]))
    return mounts


def free_bytes(path: str) -> int:
    """Bytes an ordinary user may still write on the file system that holds ``path``."""
    folder = path
    while not os.path.exists(folder):
        folder = os.path.dirname(os.path.abspath(folder))
    figures = os.statvfs(folder)
    return figures.f_bavail * figures.f_frsize


def _unescaped(word: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match.group(1), 8)), word)


SYS_BLOCK = "/sys/class/block"


def device_name(path: str) -> str:
    """The kernel's name of the block device at ``path`` ("/dev/disk/by-id/…" → "sda")."""
    status = os.stat(path)
    return name_of_number(status.st_rdev)


def name_of_number(number_: int) -> str:
    """The kernel's name of the block device with this device number."""
    link = f"/sys/dev/block/{os.major(number_)}:{os.minor(number_)}"
    if not os.path.exists(link):
        raise Absent(f"no block device has number {os.major(number_)}:{os.minor(number_)}")
    return os.path.basename(os.path.realpath(link))


def disk_of(name: str) -> str:
    """The whole disk that a partition is on; a disk is its own."""
    folder = os.path.realpath(f"{SYS_BLOCK}/{name}")
    if os.path.exists(f"{folder}/partition"):
        return os.path.basename(os.path.dirname(folder))
    return name


def physical_devices(name: str) -> list[str]:
    """The disks at the bottom of a stack, each once; a plain disk gives itself."""
    below = _listing(f"{SYS_BLOCK}/{name}/slaves") or _listing(f"{SYS_BLOCK}/{disk_of(name)}/slaves")
    if not below:
        return [disk_of(name)]
    found: dict[str, None] = {}
    for slave in below:
        found.update(dict.fromkeys(physical_devices(slave)))
    return list(found)


def device_facts(name: str) -> Device:
    """Identity, geometry and queue settings of one device."""
    disk = disk_of(name)
    folder, queue = f"{SYS_BLOCK}/{disk}", f"{SYS_BLOCK}/{disk}/queue"
    said = collect_facts(
        {
            "model": lambda: _identity(folder, ("device/model", "device/name")),
            "vendor": lambda: _identity(folder, ("device/vendor",)),
            "serial": lambda: _identity(folder, ("serial", "device/serial", "device/wwid", "wwid")),
            "firmware": lambda: _identity(folder, ("device/firmware_rev", "device/rev")),
            "size_bytes": lambda: number(f"{SYS_BLOCK}/{name}/size") * 512,
            "rotational": lambda: bool(number(f"{queue}/rotational")),
            "scheduler": lambda: scheduler(disk),
            "nr_requests": lambda: number(f"{queue}/nr_requests"),
            "write_cache": lambda: text(f"{queue}/write_cache"),
            "fua": lambda: bool(number(f"{queue}/fua")),
            "read_ahead_bytes": lambda: number(f"{queue}/read_ahead_kb") * 1024,
            "request_bytes_max": lambda: number(f"{queue}/max_sectors_kb") * 1024,
            "logical_block_bytes": lambda: number(f"{queue}/logical_block_size"),
            "physical_block_bytes": lambda: number(f"{queue}/physical_block_size"),
            "discard_bytes_max": lambda: number(f"{queue}/discard_max_bytes"),
            "writeback_throttle_us": lambda: number(f"{queue}/wbt_lat_usec"),
            "zoned": lambda: text(f"{queue}/zoned"),
            "numa_node": lambda: number(f"{folder}/device/numa_node"),
        }
    )
    facts = cast("Device", {"name": name, "disk": disk, **said})
    backing = _backing(folder)
    if backing is not None:
        facts["backing"] = backing
    return facts


def _backing(folder: str) -> Backing | None:
    """The file behind a loop device, with the type of its file system."""
    try:
        with open(f"{folder}/loop/backing_file", "rb") as file:
            path = os.fsdecode(file.read().removesuffix(b"\n")).removesuffix(" (deleted)")
        direct = text(f"{folder}/loop/dio") == "1"
        return {"path": path, "type": mount_of(path).fs_type, "direct": direct}
    except (OSError, Absent):
        return None


def scheduler(disk: str) -> str:
    """The I/O scheduler in use (the one in brackets)."""
    content = text(f"{SYS_BLOCK}/{disk}/queue/scheduler")
    chosen = re.search(r"\[(.+?)\]", content)
    return chosen.group(1) if chosen else content


def _identity(folder: str, names: tuple[str, ...]) -> str:
    for name in names:
        try:
            content = text(f"{folder}/{name}")
        except Absent:
            continue
        if content:
            return content
    raise Absent("the device does not tell")


def _listing(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []
