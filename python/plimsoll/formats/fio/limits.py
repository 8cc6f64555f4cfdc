"""How large the value of an option may be here, where fio takes larger ones.

Model: a table from option to the largest value that our own option takes, in the unit its value is read in, and as it would be written. It
is looked at for every line, so that the sentence names the line.
Limits: what several options make together (offset and size, rate and block size) is checked where it is put together.

    check_limit("iodepth", 70_000)        # InputError: 70000 is more than 65536, the most that …
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plimsoll.errors import InputError

_DAY_NS = 86_400 * 10**9

#: The largest value, and how fio's line would say it.
LIMITS: Mapping[str, tuple[int, str]] = {
    "iodepth": (65_536, "65536"),
    "runtime": (1000 * _DAY_NS, "1000d"),
    "ramp_time": (1000 * _DAY_NS, "1000d"),
    "startdelay": (_DAY_NS, "1d"),
    "thinktime": (_DAY_NS, "1d"),
    "latency_window": (1000 * _DAY_NS, "1000d"),
    "steadystate_duration": (1000 * _DAY_NS, "1000d"),
    "log_avg_msec": (_DAY_NS, "1d"),
    "rate_iops": (10**9, "1000000000"),
    "number_ios": (10**15, "1000000000000000"),
    "fsync": (10**12, "1000000000000"),
}


def check_limit(name: str, value: Any) -> None:
    """Raise `InputError` without a place for a value, or one of several, beyond the limit of its option."""
    if name not in LIMITS:
        return
    most, written = LIMITS[name]
    if any(number > most for number in _numbers(value)):
        raise InputError(f"it is more than {written}, the most that is taken here; write {written} or less.")


def _numbers(value: Any) -> list[int]:
    if isinstance(value, (list, tuple)):
        return [number for part in value for number in _numbers(part)]
    if isinstance(value, Mapping):
        return _numbers(list(value.values()))
    return [value] if isinstance(value, int) and not isinstance(value, bool) else []
