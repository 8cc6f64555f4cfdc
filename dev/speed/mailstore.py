"""Goals for mail stores: operations of one core where storage costs nothing, and how long the 20 ms ramp of a modelled array takes.

Model: on `null:` every request is answered at once, so what is left is the store's own work and the worker loop; operations per second of
processor time, because other load on the machine does not change those. The ramp is the suite as shipped on one RAID level, by the clock.
Limits: the ramp is carried out once.
"""

from __future__ import annotations

from statistics import median
from typing import Any

from speed import process
from speed.row import Row
from speed.setting import Setting

ARRAY = "msa50-sas-10k-72g-raid5-10"
OPERATIONS_GOAL, RAMP_GOAL_S = 200.0, 20.0


def rows(setting: Setting) -> list[Row]:
    """All goals of this group."""
    found = setting.interleaved("mail store", {"plimsoll": lambda _: _operations_per_cpu_s(setting)})["plimsoll"]
    detail = f"8 threads, generation 2003: {min(found) / 1e3:,.0f} to {max(found) / 1e3:,.0f} thousand in {len(found)} rounds"
    return [
        Row("mail store on null", "at least", OPERATIONS_GOAL, "thousand operations per CPU-second", median(found) / 1e3, detail),
        _ramp(setting),
    ]


def _operations_per_cpu_s(setting: Setting) -> float:
    words = ["run", "mailstore-2003", "--target=null:", f"--duration={setting.seconds:g}s", "--warmup=0s", "--set=threads=8"]
    argv = [setting.plimsoll.command, *words, f"--out={setting.plimsoll.out}", "--json"]
    engine: dict[str, Any] = setting.plimsoll.result(process.run(argv))["engine"]
    operations: int = sum(sum(database["counts"]["operations"].values()) for database in engine["mailstore"]["databases"])
    cpu_ns: int = sum(engine["cpu_ns"].values())
    return operations / max(cpu_ns, 1) * 1e9


def _ramp(setting: Setting) -> Row:
    words = ["suite", "mailstore", f"--target=array:{ARRAY}", f"--out={setting.plimsoll.out}", "--quiet", "--json"]
    finished = process.run([setting.plimsoll.command, *words])
    return Row(
        "mail store: the 20 ms ramp of one RAID level",
        "at most",
        RAMP_GOAL_S,
        "s",
        finished.wall_ns / 1e9,
        f"{ARRAY}, from the command line to its report; processor time {finished.cpu_ns / 1e9:.1f} s",
    )
