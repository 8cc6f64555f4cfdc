"""CPU time of /proc/stat, in percent of all CPUs together.

Model: the first line holds clock ticks since boot in user, nice, system, idle, iowait, irq, softirq, steal (proc(5)); user includes nice,
system includes irq and softirq. Steal is time the hypervisor gave to others.
Limits: iowait is an idle CPU with I/O outstanding; it says nothing about how busy the storage is.

    shares(parse(before), parse(after))["user_percent"]
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class CpuTicks:
    """Clock ticks since boot, all CPUs together."""

    user: int
    system: int
    idle: int
    iowait: int
    steal: int


def parse(text: str) -> CpuTicks | None:
    """The total line of /proc/stat; None when there is none."""
    words = text.split("\n", 1)[0].split()
    if not words or words[0] != "cpu":
        return None
    ticks = [int(word) for word in words[1:]] + [0] * 8
    return CpuTicks(
        user=ticks[0] + ticks[1],
        system=ticks[2] + ticks[5] + ticks[6],
        idle=ticks[3],
        iowait=ticks[4],
        steal=ticks[7],
    )


def shares(before: CpuTicks, after: CpuTicks) -> dict[str, float] | None:
    """Percent of CPU time spent in each state in between; None when less than one tick passed."""
    deltas = {
        "user_percent": after.user - before.user,
        "system_percent": after.system - before.system,
        "idle_percent": after.idle - before.idle,
        "iowait_percent": max(0, after.iowait - before.iowait),
        "steal_percent": after.steal - before.steal,
    }
    total = sum(deltas.values())
    return {name: 100.0 * ticks / total for name, ticks in deltas.items()} if total > 0 else None
