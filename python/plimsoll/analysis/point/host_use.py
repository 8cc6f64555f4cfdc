"""What a point cost the host: CPU time by state, blocks in and out, and the real time it took, as vmstat and time say it.

Model: CPU time is that of all CPUs together, of everything that ran; ``wait`` is idle time with I/O outstanding. Blocks have `BLOCK_BYTES`,
whatever the file system's are, and count everything that block devices moved. ``real_s`` is the measured phase: of a load that ends with
its amount the time that amount took. Rates and shares are means over the measured phase.
Limits: modelled points cost the host what the model costs, which says nothing of storage, so they have none.

    host_use(result)["wait_percent"]
"""

from __future__ import annotations

from typing import TypedDict

from plimsoll.result import Result

#: What a block in and out is (`plimsoll.monitor.counters`).
BLOCK_BYTES = 4096


class HostUse(TypedDict):
    """Percentages of CPU time, and blocks per second; None where the kernel does not count them."""

    user_percent: float | None
    system_percent: float | None
    idle_percent: float | None
    wait_percent: float | None
    steal_percent: float | None
    blocks_in_per_s: float | None
    blocks_out_per_s: float | None
    real_s: float | None


def host_use(result: Result) -> HostUse | None:
    """What the point cost; None where nothing was counted."""
    cpu, paging = result.monitor.get("cpu") or {}, result.monitor.get("paging") or {}
    if result.modelled or not (cpu or paging):
        return None
    return {
        "user_percent": cpu.get("user_percent"),
        "system_percent": cpu.get("system_percent"),
        "idle_percent": cpu.get("idle_percent"),
        "wait_percent": cpu.get("iowait_percent"),
        "steal_percent": cpu.get("steal_percent"),
        "blocks_in_per_s": paging.get("blocks_in_per_s"),
        "blocks_out_per_s": paging.get("blocks_out_per_s"),
        "real_s": real_s(result),
    }


def real_s(result: Result) -> float | None:
    """How long the measured phase was: the time over which rates are."""
    counted = max(result.totals.values(), key=lambda total: total.count, default=None)
    return counted.count / counted.iops if counted is not None and counted.iops else None
