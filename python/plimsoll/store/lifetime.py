"""Whether the process that wrote a run is still alive, so that an abandoned run is told from one that is going on.

Model: a process id is reused, so it counts only with the boot it belongs to and the tick it started at (proc_pid_stat(5), field 22).
Limits: across hosts (a shared directory) the boot differs, and the run counts as abandoned even while it goes on elsewhere.

    identity = own_identity()        # stored in run.json
    is_alive(identity)
"""

from __future__ import annotations

import os
from typing import Any

Json = dict[str, Any]


def own_identity() -> Json:
    """What tells this process from every other."""
    return {"pid": os.getpid(), "boot_id": _boot_id(), "start_ticks": _start_ticks(os.getpid())}


def is_alive(identity: Json | None) -> bool:
    """Whether the process of ``identity`` still runs on this machine."""
    if not identity or identity.get("boot_id") != _boot_id():
        return False
    pid = identity.get("pid")
    ticks = _start_ticks(pid) if isinstance(pid, int) else None
    return ticks is not None and ticks == identity.get("start_ticks")


def _boot_id() -> str | None:
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        return None


def _start_ticks(pid: int) -> int | None:
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return None
    # Counted after the command name: state is field 3, the start time field 22. A zombie has ended.
    return None if fields[0] in "ZX" else int(fields[19])
