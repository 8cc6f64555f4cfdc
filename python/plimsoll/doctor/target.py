"""Checks of the target and the devices behind it.

The target: access, direct I/O, holes, size against memory, space, mount options.

Its block devices: scheduler, write cache, other I/O going on.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator

from plimsoll.doctor.examination import Check, Examination
from plimsoll.host.facts import known, why_absent

_MIB, _GIB = 1 << 20, 1 << 30
ALLOCATED_SHARE_MIN = 0.98
#: A target below this multiple of memory can be held by caches (block-tools.md 6.4, rule 2).
MEMORY_MULTIPLE_MIN = 2.0
FREE_BYTES_MIN = 2 * _GIB

_SLOWER = {
    "compress": "compresses: speed depends on the data",
    "sync": "makes every write synchronous",
    "dirsync": "makes changes of directories synchronous",
    "discard": "trims while files are removed, which takes time from the device later",
    "data=journal": "writes all data twice",
}


def permission(examination: Examination) -> Iterator[Check]:
    """Whether this user may use the target."""
    problems = [problem for problem in examination.access.values() if problem]
    if problems:
        yield Check(
            "permission",
            "fail",
            f"{'; '.join(problems)} by this user.",
            "Run as a member of the device's group (often 'disk') or as root; reading alone allows read-only workloads.",
        )
    elif examination.access:
        yield Check("permission", "ok", f"{examination.folder_or_file} can be read and written.")


def direct_io(examination: Examination) -> Iterator[Check]:
    """Whether the page cache can be bypassed."""
    if examination.direct is not None:
        yield Check(
            "direct_io",
            "fail",
            f"{examination.direct}: the page cache cannot be bypassed.",
            "Measure on another file system, or with direct=false and a file several times the size of memory.",
        )
    elif examination.access:
        yield Check("direct_io", "ok", "The page cache can be bypassed (O_DIRECT).")


def allocation(examination: Examination) -> Iterator[Check]:
    """Whether reads of the file reach the device."""
    facts = examination.target
    allocated, size = facts.get("allocated_bytes"), facts.get("apparent_bytes")
    if not isinstance(allocated, int) or not isinstance(size, int) or not size:
        return
    if allocated < ALLOCATED_SHARE_MIN * size:
        yield Check(
            "allocation",
            "fail",
            f"Only {allocated / size:.0%} of the file is allocated: reads of the holes never reach a device.",
            "Name a file that does not exist: Plimsoll makes and fills it.",
        )
    else:
        yield Check("allocation", "ok", "The file has no holes.")


def memory(examination: Examination) -> Iterator[Check]:
    """Whether the target fits into memory."""
    total = examination.fact("memory", "total_bytes")
    if total is None:
        yield Check("memory", "unknown", f"The size of memory cannot be seen ({examination.why_absent('memory', 'total_bytes')}).")
        return
    size = examination.target.get("size_bytes")
    if not size:
        yield Check(
            "memory",
            "ok",
            f"Memory is {total / _GIB:.1f} GiB.",
            f"Buffered workloads need a target of at least {MEMORY_MULTIPLE_MIN * total / _GIB:.0f} GiB; direct ones do not.",
        )
    elif size < MEMORY_MULTIPLE_MIN * total:
        yield Check(
            "memory",
            "warn",
            f"The target ({size / _GIB:.1f} GiB) is smaller than {MEMORY_MULTIPLE_MIN:g} × memory ({total / _GIB:.1f} GiB): "
            "buffered reads would come from the page cache, and a hypervisor or array may cache it whole.",
            f"Keep direct=true (the default), or use at least {MEMORY_MULTIPLE_MIN * total / _GIB:.0f} GiB.",
        )
    else:
        yield Check("memory", "ok", f"The target is {size / total:.1f} × as large as memory.")


def free_space(examination: Examination) -> Iterator[Check]:
    """Whether a scratch file and the results fit."""
    free = examination.free_bytes
    if free is None:
        return
    if free < FREE_BYTES_MIN:
        yield Check(
            "free_space",
            "warn",
            f"{free / _GIB:.1f} GiB are free: a scratch file would be small, and a nearly full file system is slower.",
            "Free some space, or choose another place with --target.",
        )
    else:
        yield Check("free_space", "ok", f"{free / _GIB:.1f} GiB are free.")


def medium(examination: Examination) -> Iterator[Check]:
    """Whether there is a device at all below the target."""
    found = examination.target.get("medium")
    if found is not None and found["kind"] == "memory":
        yield Check(
            "medium",
            "warn",
            f"{examination.folder_or_file} is in memory ({found['name']}): no storage device takes part.",
            "Name a file on a disk's file system, or the device itself.",
        )
    elif found is not None and found["kind"] == "elsewhere":
        yield Check(
            "medium",
            "warn",
            f"{examination.folder_or_file} is on {found['name']}, which has no block device on this host.",
            "Say so beside the numbers, or measure where the device is.",
        )


def leftovers(examination: Examination) -> Iterator[Check]:
    """Whether killed runs left scratch files or trees where the next one would be made."""
    for path, size in examination.left_behind:
        yield Check(
            "leftovers",
            "warn",
            f"{path} ({size / _MIB:,.0f} MiB) was left behind by a run that was killed.",
            _how_to_remove(path),
        )


def _how_to_remove(path: str) -> str:
    quoted = shlex.quote(path)
    if os.path.isdir(path):
        return f"The next run of file operations with -t {quoted} removes what Plimsoll laid out there; or: rm -r {quoted}, if it is yours."
    return f"The next run with -t {quoted} removes it; or: rm {quoted} {shlex.quote(path + '.plimsoll')}"


def mount_options(examination: Examination) -> Iterator[Check]:
    """Whether the file system changes what is measured."""
    filesystem = examination.target.get("filesystem")
    if not filesystem:
        return
    mount = known(filesystem, "mount")
    if mount is None:
        yield Check("mount_options", "unknown", f"The file system cannot be seen ({why_absent(filesystem, 'mount')}).")
        return
    words = [word for word in str(mount["options"]).split(",") if word]
    found = [f"{word} {reason}" for word in words for option, reason in _SLOWER.items() if word == option or word.startswith(f"{option}=")]
    if mount["type"] == "zfs":
        found.append(f"{mount['type']} is a layer of its own between Plimsoll and the disk")
    if found:
        yield Check(
            "mount_options",
            "warn",
            f"{mount['point']} ({mount['type']}): {'; '.join(found)}.",
            "Say so beside the numbers, or measure the device itself.",
        )
    else:
        yield Check("mount_options", "ok", f"{mount['point']} is {mount['type']} without options that change the numbers.")


OTHER_IO_PER_S_MAX = 10.0


def scheduler(examination: Examination) -> Iterator[Check]:
    """Whether the kernel reorders or throttles what is measured."""
    for device in examination.devices:
        found, name = known(device, "scheduler"), device["name"]
        if found is None:
            yield Check("scheduler", "unknown", f"The scheduler of {name} cannot be seen ({why_absent(device, 'scheduler')}).")
        elif found in ("bfq", "cfq"):
            yield Check(
                "scheduler",
                "warn",
                f"{name} uses {found}, which trades throughput for fairness between processes.",
                f"As root: echo none > /sys/block/{device['disk']}/queue/scheduler (mq-deadline for disks).",
            )
        elif found != "none" and device.get("rotational") is False:
            yield Check(
                "scheduler",
                "warn",
                f"{name} is flash behind {found}, which costs CPU and merges requests.",
                f"As root: echo none > /sys/block/{device['disk']}/queue/scheduler.",
            )
        else:
            yield Check("scheduler", "ok", f"{name} uses {found}.")


def write_cache(examination: Examination) -> Iterator[Check]:
    """Whether writes are acknowledged from a volatile cache."""
    for device in examination.devices:
        found = known(device, "write_cache")
        if found == "write back":
            yield Check(
                "write_cache",
                "ok",
                f"{device['name']} acknowledges writes from a volatile cache (write back).",
                "Use dsync=true or flush_every when durable writes are the question.",
            )
        elif found is not None:
            yield Check("write_cache", "ok", f"{device['name']} acknowledges writes when they are durable ({found}).")


def other_io(examination: Examination) -> Iterator[Check]:
    """Whether something else uses the devices right now."""
    counters = examination.activity.get("devices") or {}
    for device in examination.devices:
        seen = counters.get(device["name"])
        if seen is None:
            yield Check("other_io", "unknown", f"The counters of {device['name']} cannot be seen in /proc/diskstats.")
            continue
        per_s = (seen["r_per_s"] or 0.0) + (seen["w_per_s"] or 0.0)
        if per_s > OTHER_IO_PER_S_MAX:
            yield Check(
                "other_io",
                "warn",
                f"Other processes are doing {seen['r_per_s']:.0f} reads/s and {seen['w_per_s']:.0f} writes/s on {device['name']}.",
                "Find it with 'iotop' or 'pidstat -d 1' and stop it; it is part of every number otherwise.",
            )
        else:
            yield Check("other_io", "ok", f"{device['name']} is quiet ({per_s:.0f} I/Os per second).")
