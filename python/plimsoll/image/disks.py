"""The disks of this machine, as a person has to tell them apart: model, serial number, size, and what is on them.

Model: what lsblk says of every disk and all that lies on it. A disk is in use when anything of it is mounted, swapped to, or held by a set
that has been put together. A map of several paths (multipath) is a disk of its own, and its paths are in use.
Limits: what is *on* a disk is what udev knows by signature; the engine looks again, for more, before anything is written. Memory, loop
devices and optical drives are left out.

    found = disks()
    by_serial(found, "S4EVNX0N123456").path          # "/dev/disk/by-id/nvme-…_S4EVNX0N123456"
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from plimsoll.displayed import displayed_in_line, quoted
from plimsoll.errors import InputError, TargetError
from plimsoll.stored import Json

_COLUMNS = "NAME,PATH,TYPE,MODEL,SERIAL,SIZE,RO,FSTYPE,LABEL,PTTYPE,MOUNTPOINTS"
_LINKS = "/dev/disk/by-id"
#: What lies on a disk and is no set of several.
_PARTS = ("part",)
_KINDS = ("disk", "mpath")


@dataclass(frozen=True)
class Disk:
    """A disk: ``path`` stays the same from boot to boot where the disk allows it, ``name`` may not."""

    name: str
    path: str
    model: str
    serial: str
    size_bytes: int
    holds: tuple[str, ...] = ()
    users: tuple[str, ...] = ()

    @property
    def contents(self) -> str:
        """What is on it, in words."""
        known = ", ".join(self.holds) or "nothing known"
        return f"{known} (in use: {', '.join(self.users)})" if self.users else known

    def described(self) -> str:
        """``/dev/sdb (ST4000NM0033, serial Z1Z0ABCD, 4.0 TB)``"""
        words = [self.model, f"serial {self.serial}" if self.serial else "no serial number", size(self.size_bytes)]
        return f"/dev/{self.name} ({', '.join(filter(None, words))})"


def size(size_bytes: int) -> str:
    """As disks are sold: ``4.0 TB``."""
    return f"{size_bytes / 1e12:.1f} TB" if size_bytes >= 1e12 else f"{size_bytes / 1e9:.1f} GB"


def disks() -> list[Disk]:
    """The disks of this machine, in the order of their names."""
    try:
        said = subprocess.run(
            ["lsblk", "--json", "--bytes", "--output", _COLUMNS],  # noqa: S607
            check=True,
            capture_output=True,
            timeout=120,
        ).stdout
    except (OSError, subprocess.SubprocessError) as problem:
        raise TargetError(f"the disks cannot be listed: lsblk failed ({problem}).") from None
    try:
        links = {name: os.path.basename(os.path.realpath(f"{_LINKS}/{name}")) for name in os.listdir(_LINKS)}
    except OSError:
        links = {}
    return disks_of(json.loads(said), links)


def disks_of(listing: Json, links: dict[str, str]) -> list[Disk]:
    """The disks of what lsblk said; ``links`` are the names in /dev/disk/by-id with what each stands for."""
    found: dict[str, Disk] = {}
    for entry in _all(listing["blockdevices"]):
        if entry["type"] in _KINDS and int(entry["size"] or 0) and not _left_out(entry["name"]):
            found.setdefault(entry["name"], _disk(entry, links))
    return [found[name] for name in sorted(found, key=lambda name: (len(name), name))]


def by_serial(found: Sequence[Disk], serial: str) -> Disk:
    """The one disk with this serial number; raises `InputError` where there is none, or more than one."""
    meant = [disk for disk in found if disk.serial and disk.serial == serial]
    if len(meant) == 1:
        return meant[0]
    if meant:
        named = ", ".join(f"/dev/{disk.name}" for disk in meant)
        raise InputError(f"{named} have the same serial number {quoted(serial)}, so it names none of them; take all but one out.")
    known = "; ".join(disk.described() for disk in found) or "none"
    raise InputError(f"no disk has the serial number {quoted(serial)}; there are: {known}.")


def _all(entries: Iterable[Json]) -> Iterator[Json]:
    for entry in entries:
        yield entry
        yield from _all(entry.get("children") or [])


def _left_out(name: str) -> bool:
    return name.startswith(("loop", "ram", "zram", "sr", "fd"))


def _disk(entry: Json, links: dict[str, str]) -> Disk:
    name = str(entry["name"])
    mapped = entry["type"] == "mpath"
    serial = name if mapped else _text(entry["serial"])
    return Disk(
        name=_kernel_path(entry).removeprefix("/dev/"),
        path=_kernel_path(entry) if mapped else _lasting(name, serial, links),
        model="several paths" if mapped else _text(entry["model"]),
        serial=serial,
        size_bytes=int(entry["size"]),
        holds=tuple(dict.fromkeys(_contents(entry, name))),
        users=tuple(dict.fromkeys([*_users(entry), *(["read-only"] if entry["ro"] else [])])),
    )


def _kernel_path(entry: Json) -> str:
    return str(entry["path"] or f"/dev/{entry['name']}")


def _lasting(name: str, serial: str, links: dict[str, str]) -> str:
    """The link of by-id that names the disk by its serial number, else its name of today."""
    named = [link for link, stands_for in links.items() if stands_for == name]
    best = [link for link in named if serial and serial.replace(" ", "_") in link] or named
    return f"{_LINKS}/{min(best, key=lambda link: (len(link), link))}" if best else f"/dev/{name}"


def _contents(entry: Json, disk: str) -> Iterator[str]:
    kind, label = _text(entry["fstype"]), _text(entry["label"])
    place = "" if entry["name"] == disk else f" on {entry['name']}"
    if kind.endswith("_member") or kind in ("LVM2_member", "mpath_member"):
        yield f"member of a set ({kind}){place}"
    elif kind:
        yield f"{kind}{f' {quoted(label)}' if label else ''}{place}"
    elif entry["pttype"] and entry["name"] == disk:
        yield f"partitions ({_text(entry['pttype'])})"
    for child in entry.get("children") or []:
        if child["type"] in _PARTS:
            yield from _contents(child, disk)


def _users(entry: Json) -> Iterator[str]:
    for point in entry.get("mountpoints") or []:
        if point:
            yield "swap" if point == "[SWAP]" else f"mounted at {displayed_in_line(str(point))}"
    for child in entry.get("children") or []:
        if child["type"] in _PARTS:
            yield from _users(child)
        else:
            yield f"part of {child['name']}"


def _text(value: Any) -> str:
    return displayed_in_line(str(value or "").strip())
