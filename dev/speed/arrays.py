"""Goals for modelled arrays: I/Os of drives that are modelled per second of one core, through the engine with statistics on.

Model: two arrays as TOML, written for the run, and the catalog's NVMe drive; I/Os are those at the drives, of which a small write of
RAID 5 makes several, and time is the user time of the worker thread. There is no warm-up. The seconds of a run are those of the model.
Limits: without a peer in the same run; a busy machine shows in these rows, so each says how far its rounds lie apart.
"""

from __future__ import annotations

from pathlib import Path
from statistics import median
from typing import Any

from speed import process
from speed.row import Row, millions
from speed.setting import Setting

_DISK = """
[[devices]]
name = "disk"
count = {disks}
[devices.model]
kind = "disk"
capacity_bytes = 146_815_737_856
rotation_rpm = 10_000
heads = 4
outer_rate_bytes_per_s = 89_000_000
inner_rate_bytes_per_s = 53_000_000
command_overhead_us = 200
read_seek = {{ single_track_us = 200, average_us = 3800, full_stroke_us = 7800 }}
write_seek = {{ single_track_us = 500, average_us = 4400, full_stroke_us = 8300 }}
buffer = {{ segments = 16, segment_bytes = 1_048_576, prefetch_bytes = 524_288, interface_rate_bytes_per_s = 300_000_000 }}
queue = {{ policy = "sptf", window = 32 }}
"""
_GROUP = """
[[group]]
name = "{name}"
controller = "a"
members = ["disk[{first}-{last}]"]
raid = {{ level = "{level}", devices = {devices} }}
"""
_REST = """
[[link]]
name = "bus"
rate_bytes_per_s = {rate}
duplex = "{duplex}"
overhead_ns = 1000
[[volumes]]
name = "lun"
groups = [{groups}]
links = ["bus"]
"""
_CONTROLLER = '[[controller]]\nname = "a"\nrequest_ns = 5000\n'
_CACHE = "cores = 4\ncache = { size_bytes = 1_073_741_824, read_percent = 50, write_percent = 50 }\n"


def rows(setting: Setting) -> list[Row]:
    """All goals of this group."""
    folder = Path(setting.holes[0]).parent
    raid0, raid5 = folder / "raid0.toml", folder / "raid5.toml"
    raid0.write_text(_CONTROLLER + _disks("raid0", 1, 10) + _rest(1, 1_066_000_000, "half"), encoding="utf-8")
    raid5.write_text(_CONTROLLER + _CACHE + _disks("raid5", 4, 12) + _rest(4, 1_600_000_000, "full"), encoding="utf-8")
    times = (150, 50) if setting.quick else (600, 200)
    contestants = {
        "raid0": lambda _: _per_user_s(setting, raid0, times[0], queue_depth=64, block_size="8k"),
        "raid5": lambda _: _per_user_s(setting, raid5, times[1], queue_depth=256, block_size="8k", read_percent=70),
        "nvme": lambda _: _per_user_s(setting, "nvme", times[1] / 20, queue_depth=32),
    }
    found = setting.interleaved("arrays", contestants)
    return [
        _row("array: 10 disks, RAID 0, SPTF, queue depth 64", 8.0, found["raid0"]),
        _row("array: 48 disks, RAID 5, cache, 70/30", 5.0, found["raid5"]),
        _row("array: one NVMe drive, queue depth 32", 10.0, found["nvme"]),
    ]


def _row(what: str, goal: float, per_s: list[float]) -> Row:
    spread = f"{millions(min(per_s))} to {millions(max(per_s))} in {len(per_s)} rounds"
    return Row(what, "at least", goal, "M I/Os of drives per s of user time", median(per_s) / 1e6, spread)


def _disks(level: str, groups: int, devices: int) -> str:
    each = (
        _GROUP.format(name=f"g{number}", first=number * devices, last=(number + 1) * devices - 1, level=level, devices=devices)
        for number in range(groups)
    )
    return _DISK.format(disks=groups * devices) + "".join(each)


def _rest(groups: int, rate: int, duplex: str) -> str:
    names = ", ".join(f'"g{number}"' for number in range(groups))
    return _REST.format(rate=rate, duplex=duplex, groups=names)


def _per_user_s(setting: Setting, array: Path | str, seconds: float, **options: object) -> float:
    finished = process.run(setting.plimsoll.argv(f"array:{array}", seconds=seconds, **options))
    engine: dict[str, Any] = setting.plimsoll.result(finished)["engine"]
    drives = (entry["operations"] for entry in engine["engine"]["components"] if entry["kind"] in ("disk", "flash"))
    operations: int = sum(drives)
    user_ns: int = engine["cpu_ns"]["user"]
    return operations / max(user_ns, 1) * 1e9
