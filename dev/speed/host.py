"""The machine the figures come from."""

from __future__ import annotations

import os
import platform
from pathlib import Path

from speed import process
from speed.setting import NO_FIO, Setting

IN_MEMORY = ("tmpfs", "ramfs", "overlay")


def facts(setting: Setting) -> dict[str, str]:
    """What to know when comparing figures."""
    folder = Path(setting.holes[0]).parent
    return {
        "machine": f"{_cpu_model()}, {len(os.sched_getaffinity(0))} cores",
        "kernel": platform.release(),
        "load average": " ".join(f"{load:.2f}" for load in os.getloadavg()),
        "files": f"{folder} on {file_system(folder)}",
        "plimsoll": process.run([setting.plimsoll.command, "--version"]).stdout.strip(),
        "python": platform.python_version(),
        "fio": setting.fio.version() if setting.fio else f"{NO_FIO}: rows beside it are missing",
        "t/io_uring": os.path.basename(setting.ring_loop.command) if setting.ring_loop else "not found: name it with T_IO_URING=",
        "rounds": f"{setting.rounds} of {setting.seconds:g} s each, interleaved; medians",
    }


def stolen() -> tuple[int, int]:
    """Ticks that the hypervisor gave to others, and all ticks; proc(5)."""
    ticks = [int(field) for field in Path("/proc/stat").read_text(encoding="utf-8").split("\n", 1)[0].split()[1:9]]
    return ticks[7], sum(ticks)


def stolen_share(before: tuple[int, int], after: tuple[int, int]) -> str:
    """What part of the processors' time between two readings went to others."""
    return f"{(after[0] - before[0]) / max(after[1] - before[1], 1):.1%} of the processors' time went to other machines meanwhile"


def file_system(folder: Path) -> str:
    """The type of the file system that ``folder`` is on."""
    inside = folder.resolve()
    mounts = [line.split()[1:3] for line in Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines()]
    above = [(point, kind) for point, kind in mounts if inside.is_relative_to(point)]
    # The last of the longest is what is visible.
    return max(enumerate(above), key=lambda item: (len(item[1][0]), item[0]))[1][1] if above else "an unknown file system"


def _cpu_model() -> str:
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()
