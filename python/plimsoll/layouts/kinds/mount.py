"""Where file systems are mounted, and with what options.

Model: each volume's file system is mounted in a directory of its own below one directory; the directories that were not there are removed
again, when they are empty. ZFS mounts its pool itself. Sources: mount(8), zfs-set(8).
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Any

from plimsoll.displayed import quoted
from plimsoll.errors import InputError
from plimsoll.experiments.forms import Form
from plimsoll.experiments.option import Option
from plimsoll.layouts.kinds.kind import BUSY_S, Host, Kind, Laid, Options, unlike
from plimsoll.layouts.step import Command, Facts, Named, Step, Volume

#: Where layouts are mounted when nothing else is said.
BELOW = "/mnt/plimsoll"
_OPTIONS = re.compile(r"[A-Za-z0-9_.=:/-]+(,[A-Za-z0-9_.=:/-]+)*")


def _words(value: Any) -> str:
    if isinstance(value, str) and _OPTIONS.fullmatch(value):
        return value
    raise InputError(f"{quoted(value)} is not a list of mount options; write for example 'noatime,nodiratime'.")


def _point(value: Any) -> str:
    if isinstance(value, str) and os.path.isabs(value) and os.path.normpath(value) == value and value != "/":
        return value
    raise InputError(f"{quoted(value)} is not a directory to mount in; write an absolute path, for example '/mnt/sas'.")


OPTIONS = (
    Option(
        "options",
        Form("mount options", '`"noatime,nodiratime"`, as mount(8) has them.', _words, {"type": "string"}),
        "How it is mounted.",
        "noatime",
        default="defaults",
    ),
    Option(
        "at",
        Form("directory", "an absolute path.", _point, {"type": "string", "pattern": "^/"}),
        "The directory; with several volumes they are mounted in directories below it that are called like them.",
        "/mnt/sas",
        absent=f"`{BELOW}/NAME`",
    ),
)


def _lay(options: Options, volumes: Sequence[Volume], named: Named) -> Laid:
    top = str(options["at"] or os.path.join(BELOW, named.name))
    steps, made = [], []
    for volume in volumes:
        point = os.path.join(top, volume.name) if len(volumes) > 1 else top
        if volume.path.startswith("/"):
            commands = [Command(("mount", "-o", str(options["options"]), volume.path, point))]
        else:
            commands = [Command(("zfs", "set", f"mountpoint={point}", volume.path))]
        facts = {"device": volume.path, "point": point}
        make = Command(("mkdir", "--parents", point))
        steps.append(Step("mount", f"mount it at {point}", f"Options: {options['options']}.", (make, *commands), facts))
        made.append(Volume(point, volume.name, volume.size_bytes, volume.stripe))
    return Laid(tuple(steps), tuple(made))


def _unmake(host: Host, facts: Facts) -> None:
    point, device = str(facts["point"]), str(facts["device"])
    mounted = host.mounted_at(point)
    if mounted is not None:
        if mounted != device and not host.same_device(mounted, device):
            raise unlike(point, f"the file system of {mounted}", "file system")
        host.act(Command(("umount", point), patience_s=BUSY_S))
    for directory in facts.get("directories", ()):
        host.remove_directory(str(directory))


KIND = Kind("mount", "Where it is mounted.", OPTIONS, _lay, {"mount": _unmake})
