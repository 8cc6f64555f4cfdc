"""What a target lies on, layer by layer: partitions, RAID, volumes, encryption, paths, disks, and the file system on top.

Model: from the devices under the target down through ``slaves`` of sysfs; md, stripes, read-ahead and paths are read there, btrfs from
``/sys/fs/btrfs``. What only a program knows (how LVM lays a volume out, how full a thin pool is) is asked of lvs(8) where it is installed
and allowed. A stripe is what the kernel says of a device: md's chunk, or its preferred least and best size of a request
(``minimum_io_size``, ``optimal_io_size``), which dm and many arrays fill in.
Limits: an array behind a LUN that says nothing of itself is a disk. Nothing is changed, and no device is read.

    found = stack_of(["/mnt/data/file"])
    [layer.kind for layer in found.layers]             # ["lvm", "md", "partition", "disk", …]

Sources: Linux, Documentation/ABI/stable/sysfs-block, Documentation/admin-guide/md.rst; btrfs(5), "sysfs interface".
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import field, replace

from plimsoll.host.device import Mount, mount_of
from plimsoll.host.facts import Absent, number, text
from plimsoll.records import dataclass

#: What a program printed; None where it is missing or failed.
Ask = Callable[..., str | None]

_SECTOR, _KIB = 512, 1024
_SBIN = "/usr/sbin:/sbin:/usr/local/sbin"
_PATIENCE_S = 20
#: What lvs is asked for, in the order of `Lvm`.
_LVS = (
    "lv_full_name",
    "segtype",
    "stripes",
    "stripe_size",
    "data_percent",
    "metadata_percent",
    "copy_percent",
    "lv_health_status",
    "pool_lv",
)
#: Least size of requests from which on it is a stripe unit and not a physical block.
_UNIT_MIN = 8 * _KIB


@dataclass(frozen=True)
class Stripe:
    """What is written to one device in turn, and to all of them."""

    unit_bytes: int
    full_bytes: int


@dataclass(frozen=True)
class ToldStripe:
    """The same as a file system was told; of ext4 only the full stripe is known."""

    unit_bytes: int | None
    full_bytes: int


@dataclass(frozen=True)
class Md:
    """An array of md; ``done`` is the share of a synchronisation."""

    level: str
    devices: int
    chunk_bytes: int
    degraded: int
    action: str
    done: float | None


@dataclass(frozen=True)
class Lvm:
    """A volume of LVM as lvs names and prints it, with the thin pool that it is in."""

    lv_full_name: str
    segtype: str
    stripes: str
    stripe_size: str
    data_percent: str
    metadata_percent: str
    copy_percent: str
    lv_health_status: str
    pool_lv: str
    pool: Lvm | None = field(default=None, kw_only=True)


@dataclass(frozen=True)
class Way:
    """One of several paths to a device."""

    name: str
    state: str


@dataclass(frozen=True)
class Layer:
    """A device of the stack, with the kernel's names of those below it; only a partition has a start."""

    name: str
    kind: str
    below: tuple[str, ...]
    alignment_offset: int = 0
    physical_block_bytes: int = _SECTOR
    read_ahead_bytes: int | None = None
    stripe: Stripe | None = None
    start_bytes: int = 0
    md: Md | None = None
    lvm: Lvm | None = None
    paths: tuple[Way, ...] = ()


@dataclass(frozen=True)
class Btrfs:
    """The devices of a btrfs that are known and missing, what they have counted, and what goes on beside the load."""

    count: int
    missing: int
    errors: int
    operation: str


@dataclass(frozen=True)
class Filesystem:
    """A mounted file system: how full it is, what stripes it was told, on which devices it lies."""

    type: str
    point: str
    options: str
    devices: tuple[str, ...]
    used_share: float | None = None
    stripe: ToldStripe | None = None
    btrfs: Btrfs | None = None


@dataclass(frozen=True)
class Stack:
    """What a target lies on, from the top down, and its file systems."""

    layers: tuple[Layer, ...] = ()
    filesystems: tuple[Filesystem, ...] = ()


def asked(*words: str) -> str | None:
    """The output of a program that changes nothing."""
    program = shutil.which(words[0], path=f"{os.environ.get('PATH', '')}:{_SBIN}")
    if program is None:
        return None
    try:
        done = subprocess.run(
            [program, *words[1:]],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=_PATIENCE_S,
            env={**os.environ, "LC_ALL": "C"},
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return None if done.returncode else done.stdout


def stack_of(paths: Iterable[str], sys: str = "/sys", ask: Ask = asked) -> Stack:
    """The layers below the files and devices at ``paths``, from the top down, and their file systems."""
    tops: dict[str, None] = {}
    filesystems: dict[str, Filesystem] = {}
    for path in paths:
        if device := _device_at(path, sys):
            tops[device] = None
            continue
        with suppress(Absent, OSError):
            mount = mount_of(path)
            filesystem = filesystems[mount.point] = filesystem_of(mount, sys)
            tops |= dict.fromkeys(filesystem.devices)
    return Stack(layers_of(tops, sys, ask), tuple(filesystems.values()))


def layers_of(tops: Iterable[str], sys: str = "/sys", ask: Ask = asked) -> tuple[Layer, ...]:
    """Every device from those with the kernel's names ``tops`` down, each once."""
    found: dict[str, Layer] = {}
    waiting = list(tops)
    while waiting:
        name = waiting.pop(0)
        if name not in found and os.path.exists(f"{sys}/class/block/{name}"):
            found[name] = _layer(name, sys, ask)
            waiting += found[name].below
    return tuple(found.values())


def filesystem_of(mount: Mount, sys: str = "/sys") -> Filesystem:
    """A mounted file system."""
    source = os.path.basename(os.path.realpath(mount.source))
    found = Filesystem(mount.fs_type, mount.point, mount.options, (source,))
    with suppress(OSError):
        figures = os.statvfs(mount.point)
        room = figures.f_blocks - figures.f_bfree + figures.f_bavail
        share = 1 - figures.f_bavail / room if room else None
        found = replace(found, used_share=share, stripe=_told_stripe(mount, figures.f_frsize))
    return _with_btrfs(found, source, sys) if mount.fs_type == "btrfs" else found


def _told_stripe(mount: Mount, block: int) -> ToldStripe | None:
    """The stripes that XFS and ext4 were told, from the options that they are mounted with; of ext4 only the full stripe is there."""
    words = dict(word.split("=", 1) for word in mount.options.split(",") if "=" in word)
    try:
        if mount.fs_type == "xfs" and int(words.get("sunit", 0)):
            unit, full = int(words["sunit"]) * _SECTOR, int(words.get("swidth", 0)) * _SECTOR
            return ToldStripe(unit, full or unit)
        if mount.fs_type == "ext4" and int(words.get("stripe", 0)):
            return ToldStripe(None, int(words["stripe"]) * block)
    except ValueError:
        return None
    return None


def _with_btrfs(filesystem: Filesystem, source: str, sys: str) -> Filesystem:
    """A btrfs with its devices, as far as sysfs knows it."""
    for folder in _listed(f"{sys}/fs/btrfs"):
        here = f"{sys}/fs/btrfs/{folder}"
        devices = _listed(f"{here}/devices")
        if source not in devices:
            continue
        infos = [f"{here}/devinfo/{one}" for one in _listed(f"{here}/devinfo")]
        found = Btrfs(
            # A device that is missing is not among the devices, but known.
            count=len(infos) or len(devices),
            missing=sum(_text(f"{info}/missing") == "1" for info in infos),
            errors=sum(_errors(f"{info}/error_stats") for info in infos),
            operation=_text(f"{here}/exclusive_operation") or "none",
        )
        return replace(filesystem, devices=tuple(devices), btrfs=found)
    return filesystem


def _errors(path: str) -> int:
    """Failed writes, reads and flushes, and damage that was found."""
    return sum(int(line.split()[1]) for line in (_text(path) or "").splitlines() if len(line.split()) == 2 and line.split()[1].isdigit())


def _layer(name: str, sys: str, ask: Ask) -> Layer:
    here = f"{sys}/class/block/{name}"
    part = _number(f"{here}/partition") is not None
    disk = os.path.basename(os.path.dirname(os.path.realpath(here))) if part else name
    queue = f"{sys}/class/block/{disk}/queue"
    uuid = _text(f"{here}/dm/uuid") or ""
    found = Layer(
        name=name,
        kind="partition" if part else "md" if os.path.isdir(f"{here}/md") else _mapped(uuid, name),
        below=(disk,) if part else tuple(_listed(f"{here}/slaves")),
        alignment_offset=_number(f"{here}/alignment_offset") or 0,
        physical_block_bytes=_number(f"{queue}/physical_block_size") or _SECTOR,
        read_ahead_bytes=None if (ahead := _number(f"{queue}/read_ahead_kb")) is None else ahead * _KIB,
        stripe=None if part else _hinted(queue),
        start_bytes=(_number(f"{here}/start") or 0) * _SECTOR if part else 0,
        paths=tuple(_controllers(here)),
    )
    if found.kind == "md":
        md = _md(f"{here}/md")
        return replace(found, md=md, stripe=_md_stripe(md))
    if found.kind == "lvm":
        lvm = _lvm(_text(f"{here}/dm/name") or name, ask)
        return replace(found, lvm=lvm, stripe=_lvm_stripe(lvm) or found.stripe)
    if found.kind == "multipath":
        ways = (Way(path, _text(f"{sys}/class/block/{path}/device/state") or "unknown") for path in found.below)
        return replace(found, paths=tuple(ways))
    return found


def _mapped(uuid: str, name: str) -> str:
    """The kind of what is no partition and no array of md; the UUID of a dm device begins with who made it."""
    for begin, kind in (("LVM-", "lvm"), ("mpath-", "multipath"), ("CRYPT-", "encryption")):
        if uuid.startswith(begin):
            return kind
    return "mapping" if uuid or name.startswith("dm-") else "loop" if name.startswith("loop") else "disk"


def _hinted(queue: str) -> Stripe | None:
    """The stripe that a device asks for."""
    unit, full = _number(f"{queue}/minimum_io_size") or 0, _number(f"{queue}/optimal_io_size") or 0
    if unit < _UNIT_MIN or full <= unit or full % unit:
        return None
    return Stripe(unit, full)


def _md(folder: str) -> Md:
    """An array of md as its folder says."""
    done, _, whole = (_text(f"{folder}/sync_completed") or "").partition("/")
    return Md(
        level=_text(f"{folder}/level") or "unknown",
        devices=_number(f"{folder}/raid_disks") or 0,
        chunk_bytes=_number(f"{folder}/chunk_size") or 0,
        degraded=_number(f"{folder}/degraded") or 0,
        action=_text(f"{folder}/sync_action") or "idle",
        done=int(done) / int(whole) if done.strip().isdigit() and whole.strip().isdigit() and int(whole) else None,
    )


def _md_stripe(md: Md) -> Stripe | None:
    count, chunk = md.devices, md.chunk_bytes
    data = {"raid0": count, "raid10": count // 2, "raid4": count - 1, "raid5": count - 1, "raid6": count - 2}.get(md.level, 0)
    return Stripe(chunk, chunk * data) if chunk and data > 0 else None


def _lvm(name: str, ask: Ask) -> Lvm | None:
    """What lvs says of a volume, and of the thin pool that it is in; None where it cannot be asked."""
    volume = _lvs(f"/dev/mapper/{name}", ask)
    if volume is None or not volume.pool_lv:
        return volume
    return replace(volume, pool=_lvs(f"{volume.lv_full_name.partition('/')[0]}/{volume.pool_lv}", ask))


def _lvs(volume: str, ask: Ask) -> Lvm | None:
    said = ask("lvs", "--noheadings", "--separator", "|", "--units", "b", "--nosuffix", "--options", ",".join(_LVS), volume)
    rows = [[cell.strip() for cell in line.split("|")] for line in (said or "").splitlines()]
    row = next((row for row in rows if len(row) == len(_LVS)), None)
    return None if row is None else Lvm(*row)


def _lvm_stripe(lvm: Lvm | None) -> Stripe | None:
    if lvm is None or not (lvm.stripes.isdigit() and lvm.stripe_size.isdigit()):
        return None
    stripes, unit = int(lvm.stripes), int(lvm.stripe_size)
    return Stripe(unit, unit * stripes) if stripes > 1 and unit and lvm.segtype == "striped" else None


def _controllers(here: str) -> Iterator[Way]:
    """The controllers that lead to an NVMe namespace, where there are several."""
    found = [one for one in _listed(f"{here}/device") if one.startswith("nvme") and os.path.exists(f"{here}/device/{one}/state")]
    if len(found) > 1:
        yield from (Way(one, _text(f"{here}/device/{one}/state") or "unknown") for one in found)


def _device_at(path: str, sys: str) -> str | None:
    """The kernel's name of the device that is a path itself, or that a file system with one device is on."""
    try:
        status = os.stat(path)
        if not stat.S_ISBLK(status.st_mode):
            return None
        return os.path.basename(os.path.realpath(f"{sys}/dev/block/{os.major(status.st_rdev)}:{os.minor(status.st_rdev)}"))
    except OSError:
        return None


def _listed(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _text(path: str) -> str | None:
    try:
        return text(path).strip()
    except Absent:
        return None


def _number(path: str) -> int | None:
    try:
        return number(path)
    except Absent:
        return None
