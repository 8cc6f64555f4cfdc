"""Targets that several hosts reach: which of them do, how they share, and what each may touch of it.

Model: hosts reach one target when a path is the same file for all of them (workers on one machine), when it is the same file or device
by its numbers on one machine, or one device by its serial number on several. Wherever hosts name the same target and the user says how it
is shared, it is taken for one as well. `slices` divide it, `full` gives each all of it, and regions are the user's, one for each host. The
engine divides (`plimsoll_workload::share`); this asks it for each host's part.
Limits: only block requests can be divided; trees of files and mail stores need a place of their own on every host. A network file system of
several machines is one only where the user says so.

    sharing = Sharing("slices", group, inspection)
    sharing.part_of(workload, "db2", ("db1", "db2"))        # the workload of db2, and the bytes that it may touch
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from plimsoll.engine.shares import check_share, share_workload
from plimsoll.errors import InputError
from plimsoll.host.target import target_identity, target_paths
from plimsoll.stored import Definition, Inspection

Ranges = list[tuple[int, int]]
#: Kinds of target that hold nothing which hosts could share.
_EMPTY = ("null", "queue", "array")
_BOOT = "/proc/sys/kernel/random/boot_id"


@dataclass(frozen=True)
class Sharing:
    """How hosts ``group``, in their order, share a target of this inspection."""

    how: str
    group: tuple[str, ...]
    inspection: Inspection

    def part_of(self, workload: Definition, host: str, taking_part: Sequence[str]) -> tuple[Definition, Ranges]:
        """The workload of one host of those that take part, and the bytes of the target that it may touch."""
        hosts = [one for one in self.group if one in taking_part]
        size_bytes, block_bytes = int(self.inspection.get("size_bytes") or 0), int(self.inspection.get("logical_block_bytes") or 512)
        rank = (hosts.index(host), len(hosts))
        return share_workload(workload, self.how, rank, (size_bytes, block_bytes), _part_ends(self.inspection))

    def check(self, workload: Definition) -> None:
        """Raise `InputError` where hosts cannot share a target in this way; what has no size yet is not looked at."""
        check_share(self.how)
        regions = self.how.split(",") if ".." in self.how else None
        if regions is not None and len(regions) != len(self.group):
            count = "1 region" if len(regions) == 1 else f"{len(regions)} regions"
            raise InputError(f"--share {self.how}: {count} for {len(self.group)} hosts; name one for each of them.")
        if self.inspection.get("size_bytes"):
            for host in self.group:
                self.part_of(workload, host, self.group)


def groups_of(
    hosts: Sequence[str], targets: Mapping[str, str], storages: Mapping[str, Sequence[str]], *, declared: bool
) -> list[list[str]]:
    """The hosts that reach the same target, in their order; one that has its own is a group by itself.

    ``storages`` say what each host's target is; ``declared`` means that one name is one target.
    """
    groups: list[list[str]] = []
    for host in hosts:

        def is_same(other: str, host: str = host) -> bool:
            named = declared and targets[other] == targets[host]
            return named or bool(set(storages[other]) & set(storages[host]))

        found = next((group for group in groups if any(map(is_same, group))), None)
        if found is None:
            groups.append([host])
        else:
            found.append(host)
    return groups


def boot_id() -> str:
    """What tells this machine, as it runs now, from every other."""
    with open(_BOOT, encoding="ascii") as file:
        return file.read().strip()


def reach() -> str:
    """What is equal for two processes where one can hand the other an open file: one machine, and no container between them."""
    spaces = [os.stat(f"/proc/self/ns/{kind}").st_ino for kind in ("mnt", "pid")]
    return f"{boot_id()} {' '.join(map(str, spaces))}"


def storage_of(inspection: Inspection) -> list[str]:
    """What the files and devices of a target are, in words that are equal for the same one only: on this machine, of a device on any."""
    found, boot = [], boot_id()
    for path in target_paths(inspection):
        try:
            status = os.stat(path)
        except OSError:
            found.append(f"{boot} {os.path.realpath(path)}")
            continue
        if stat.S_ISBLK(status.st_mode):
            found.append(f"{boot} device {status.st_rdev}")
        else:
            found.append(f"{boot} inode {status.st_dev}:{status.st_ino}")
    if not inspection.get("parts"):
        found += [identity for identity in target_identity(inspection) if identity.startswith("serial ")]
    return found


def refusal_unshared(text: str, lineup: str, group: Sequence[str], driver: str | None) -> InputError:
    """Nobody has said how hosts share what they all reach."""
    if driver is not None:
        return InputError(
            f"--target {text}: {_listed(group)} of {lineup} reach the same place, and each host needs its own for {driver}; write {{host}} "
            "where their names make it different."
        )
    return InputError(
        f"--target {text}: {_listed(group)} of {lineup} reach the same file or device; say how they share it with --share slices "
        "or --share full, or write {host} where their names make it different."
    )


def check_sharable(how: str, text: str, kind: str, driver: str | None, groups: Sequence[Sequence[str]]) -> None:
    """Raise `InputError` for a target that hosts cannot share, or do not."""
    if driver is not None:
        raise InputError(
            f"--share {how}: only block requests can share a target, and this workload is of the driver {driver}; give each host its own "
            "with {host} in --target, and leave --share out."
        )
    if kind in _EMPTY:
        raise InputError(f"--share {how}: {text} holds nothing that hosts could share; leave --share out.")
    if sum(map(len, groups)) > 1 and all(len(group) == 1 for group in groups):
        raise InputError(f"--share {how}: every host has a target of its own behind {text}; leave --share out.")


def _listed(group: Sequence[str]) -> str:
    return group[0] if len(group) == 1 else f"{', '.join(group[:-1])} and {group[-1]}"


def _part_ends(inspection: Inspection) -> list[int]:
    """Where the parts of a concatenation end."""
    if inspection.get("kind") != "concat":
        return []
    ends, end = [], 0
    for part in inspection.get("parts") or []:
        end += int(cast("dict[str, Any]", part).get("size_bytes") or 0)
        ends.append(end)
    return ends
