"""What a gang costs the host that it measures on: processor time and memory of the processes that carry it, and the cores left to the load.

Model: the processes of a gang bear its mark (`plimsoll.gang.nest`); workers are the load, all others are its cost. Processor time is
what those that live have used between two readings. Where a host has more than two cores and something carries calls, that is kept on the
last one and workers on the others (`divided`).
Limits: a process that ended in between is not counted. What goes over the network is not known by process. Workers on one machine have one
gang, whose cost each of them tells whole.

    meter = Meter("/tmp/plimsoll-gang-x1")
    meter.begin()
    meter.end()          # {"cpu_ns": 31000000, "seconds": 10.2, "memory_bytes": 210763776, "processes": 5, "cores": [3]}
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from typing import Any

from plimsoll.gang.nest import marked

_TICK_NS = 1_000_000_000 // os.sysconf("SC_CLK_TCK")
_WORKER = b"plimsoll.worker"


class Meter:
    """See the module; ``nest`` is the directory of the gang."""

    def __init__(self, nest: str) -> None:
        self._nest = nest
        self._cpu_ns: dict[int, int] = {}
        self._since_s = 0.0

    def begin(self) -> None:
        """From here on it counts."""
        self._cpu_ns = {process: _cpu_ns(process) for process in self._carriers()}
        self._since_s = time.monotonic()

    def end(self) -> dict[str, Any]:
        """What it cost since."""
        seconds = time.monotonic() - self._since_s
        carriers = self._carriers()
        cores = {core for process in carriers for core in _cores(process)}
        return {
            "cpu_ns": sum(max(0, _cpu_ns(process) - self._cpu_ns.get(process, 0)) for process in carriers),
            "seconds": round(seconds, 3),
            "memory_bytes": sum(map(_memory_bytes, carriers)),
            "processes": len(carriers),
            "cores": sorted(cores),
        }

    def _carriers(self) -> list[int]:
        return [process for process in marked(self._nest) if not _is_worker(process)]


def _is_worker(process: int) -> bool:
    with suppress(OSError), open(f"/proc/{process}/cmdline", "rb") as file:
        return _WORKER in file.read().split(b"\0")
    return False


def _cpu_ns(process: int) -> int:
    """User and system time. Format: proc(5), /proc/PID/stat; the name in brackets may hold anything."""
    with suppress(OSError, ValueError, IndexError), open(f"/proc/{process}/stat", encoding="utf-8", errors="replace") as file:
        fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) * _TICK_NS
    return 0


def _memory_bytes(process: int) -> int:
    """Its share of what it holds in memory, where that may be asked for; else all that it holds."""
    with suppress(OSError, ValueError), open(f"/proc/{process}/smaps_rollup", encoding="ascii") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("Pss:"))
    with suppress(OSError, ValueError, IndexError), open(f"/proc/{process}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0


def _cores(process: int) -> set[int]:
    with suppress(OSError):
        return set(os.sched_getaffinity(process))
    return set()
