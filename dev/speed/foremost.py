"""Processes that nobody else on the machine keeps from a processor: the bench with what it starts, and a server.

Model: real-time scheduling (SCHED_RR, the lowest priority of its kind) comes before every ordinary process, and children inherit it. What
takes less than a millisecond is otherwise mostly when the kernel lets which process run, and where sessions share processors as groups
(autogroup) a nice value does not reach the server, which has a session of its own.
Limits: only root may, or who has CAP_SYS_NICE; elsewhere everything runs as it did. Disks are shared as before.

    with foremost(server.pid) as alone:
        ...                                 # alone: whether it could be done
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress


@contextmanager
def foremost(pid: int) -> Iterator[bool]:
    """Inside, this process, process ``pid`` and all descendants of that come first."""
    ours = os.getpid()
    try:
        os.sched_setscheduler(ours, os.SCHED_RR, os.sched_param(os.sched_get_priority_min(os.SCHED_RR)))
    except PermissionError:
        yield False
        return
    try:
        _set(pid, os.SCHED_RR, os.sched_get_priority_min(os.SCHED_RR))
        yield True
    finally:
        _set(pid, os.SCHED_OTHER, 0)
        os.sched_setscheduler(ours, os.SCHED_OTHER, os.sched_param(0))


def _set(pid: int, policy: int, priority: int) -> None:
    # A process may end meanwhile.
    for process in _descendants(pid):
        with suppress(ProcessLookupError):
            os.sched_setscheduler(process, policy, os.sched_param(priority))


def _descendants(pid: int) -> Iterator[int]:
    """The process itself first, so that what it starts meanwhile inherits."""
    yield pid
    with suppress(FileNotFoundError, ProcessLookupError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children", encoding="ascii") as file:
                for child in file.read().split():
                    yield from _descendants(int(child))
