"""Goal for many streams: 64 threads over 8 files lose nothing against one thread per core."""

from __future__ import annotations

import os
from statistics import median

from speed.load import per_cpu_s
from speed.row import Row, millions
from speed.setting import Setting


def rows(setting: Setting) -> list[Row]:
    """By CPU time, which is steady, and by the clock, which would show waiting."""
    target = f"stripe:{','.join(setting.holes)}"
    cores = len(os.sched_getaffinity(0))
    what = f"64 threads × 32 against {cores} × 32"
    contestants = {
        "many": lambda _: setting.plimsoll.run(target, seconds=setting.seconds, queue_depth=32, threads=64),
        "few": lambda _: setting.plimsoll.run(target, seconds=setting.seconds, queue_depth=32, threads=cores),
    }
    loads = setting.interleaved(what, contestants)
    cpu = {name: per_cpu_s(found) for name, found in loads.items()}
    clock = {name: median(load.rate_per_s for load in found) for name, found in loads.items()}
    return [
        Row(what, "at least", 0.97, "× by CPU", cpu["many"] / cpu["few"], _against(cpu, "per CPU-second")),
        Row(what, "at least", 0.97, "× by the clock", clock["many"] / clock["few"], _against(clock, "per second")),
    ]


def _against(rates: dict[str, float], unit: str) -> str:
    return f"{millions(rates['many'])} against {millions(rates['few'])} {unit}"
