"""Goals for memory: it depends neither on the length of a run nor on the number of its I/Os, and it is little."""

from __future__ import annotations

from statistics import median

from speed import process
from speed.row import Row
from speed.setting import Setting

MIB = 1 << 20


def rows(setting: Setting) -> list[Row]:
    """All goals of this group, from peaks of resident memory of the whole command."""
    short_s, long_s = (1.0, 4.0) if setting.quick else (2.0, 10.0)
    contestants = {"short": lambda _: _rss_mib(setting, short_s), "long": lambda _: _rss_mib(setting, long_s)}
    found = setting.interleaved("memory", contestants, setting.long_rounds)
    short, long = median(found["short"]), median(found["long"])
    detail = f"{long:.0f} MiB in {long_s:.0f} s, {short:.0f} MiB in {short_s:.0f} s of null at full speed"
    return [
        Row("memory of a run", "at most", 150.0, "MiB", long, detail),
        Row(f"memory, {long_s / short_s:.0f} times as long", "at most", 1.05, "× the short one", long / short, detail),
    ]


def _rss_mib(setting: Setting, seconds: float) -> float:
    return process.run(setting.plimsoll.argv("null:", seconds=seconds, queue_depth=32)).rss_max_bytes / MIB
