"""Checks of block devices: scheduler, write cache, other I/O going on."""

from __future__ import annotations

from collections.abc import Iterator

from plimsoll.doctor.examination import Check, Examination
from plimsoll.host.facts import known, why_absent

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
        per_s = seen["r_per_s"] + seen["w_per_s"]
        if per_s > OTHER_IO_PER_S_MAX:
            yield Check(
                "other_io",
                "warn",
                f"Something else does {seen['r_per_s']:.0f} reads and {seen['w_per_s']:.0f} writes per second on {device['name']} "
                "right now.",
                "Find it with 'iotop' or 'pidstat -d 1' and stop it; it is part of every number otherwise.",
            )
        else:
            yield Check("other_io", "ok", f"{device['name']} is quiet ({per_s:.0f} I/Os per second).")
