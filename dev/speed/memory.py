"""Goals for memory: it depends neither on the length of a run nor on the number of its I/Os, and it is little.

Model: the length of a run counts twice, in I/Os and in intervals of its record; a short run with the intervals of a long
one stands for hours that nobody wants to wait for.
"""

from __future__ import annotations

from statistics import median

from speed import process
from speed.row import Row
from speed.setting import Setting

MIB = 1 << 20
#: Two equal runs differ by this much at most.
NOISE_MIB = 4.0
FINE = "2ms"


def rows(setting: Setting) -> list[Row]:
    """All goals of this group, from peaks of resident memory of the whole command, with the report it draws."""
    short_s, long_s = (1.0, 4.0) if setting.quick else (2.0, 10.0)
    contestants = {
        "short": lambda _: _rss_mib(setting, short_s),
        "long": lambda _: _rss_mib(setting, long_s),
        "fine": lambda _: _rss_mib(setting, short_s, interval=FINE),
    }
    found = setting.interleaved("memory", contestants, setting.long_rounds)
    short, long, fine = (median(found[name]) for name in ("short", "long", "fine"))
    before = f"{short:.0f} MiB in {short_s:.0f} s of null at full speed"
    return [
        Row("memory of a run", "at most", 150.0, "MiB", max(long, fine), f"the most of the runs below; {before}"),
        Row("memory of a longer run", "at most", NOISE_MIB, "MiB more", long - short, f"{long:.0f} MiB in {long_s:.0f} s; {before}"),
        Row(
            "memory of more intervals", "at most", NOISE_MIB, "MiB more", fine - short, f"{fine:.0f} MiB with intervals of {FINE}; {before}"
        ),
    ]


def _rss_mib(setting: Setting, seconds: float, **options: object) -> float:
    return process.run(setting.plimsoll.argv("null:", seconds=seconds, queue_depth=32, **options)).rss_max_bytes / MIB
