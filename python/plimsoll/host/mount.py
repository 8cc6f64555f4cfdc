"""The file system a path lies on: type, source, options, free space.

Model: the longest mount point of /proc/self/mounts that the real path starts with (fstab(5) escapes such as ``\\040`` undone).

    mount_of("/data/file").fs_type      # "ext4"
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from plimsoll.host.facts import Absent, text


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
