"""Snapshots of the kernel's counters, and the sample that the difference of two makes.

Model: files of /proc stay open and are read again from their start, so that a snapshot at an interval boundary is three system calls;
parsing waits until the sample is made, outside the engine's callback.
Limits: devices that did nothing and belong to no target are left out of a sample.

    with Sampler() as sampler:
        before = sampler.snapshot()
        ...
        sample(before, sampler.snapshot(), always=["sda"])["devices"]["sda"]["util_percent"]
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from plimsoll.monitor import counters
from plimsoll.monitor.moment import SOURCES, read_from_start
from plimsoll.records import dataclass

if TYPE_CHECKING:
    from plimsoll.stored import Sample


@dataclass(frozen=True)
class Snapshot:
    """Counter files as text at one instant of the monotonic clock, and the time in user mode that the load had used by then: this process,
    and the servers that work for it."""

    monotonic_ns: int
    texts: dict[str, str]
    own_user_s: float | None = None


class Sampler:
    """Keeps the counter files open; those that cannot be opened are absent from every snapshot, as is what is not in ``sources``."""

    def __init__(self, proc: str = "/proc", sources: Iterable[str] = tuple(SOURCES)) -> None:
        self._files: dict[str, int] = {}
        for name in sources:
            try:
                self._files[name] = os.open(f"{proc}/{name}", os.O_RDONLY | os.O_CLOEXEC)
            except OSError:
                continue
        self._own_user_s: Callable[[], float] = lambda: os.times().user

    def include(self, servers: Iterable[int]) -> None:
        """From here on these processes, and all that they or this one start, are part of the load."""
        from plimsoll.monitor.processes import UserTime

        self._own_user_s = UserTime((os.getpid(), *servers)).seconds

    def snapshot(self) -> Snapshot:
        """The counters now."""
        texts = {name: read_from_start(file, SOURCES[name]) for name, file in self._files.items()}
        return Snapshot(time.monotonic_ns(), texts, self._own_user_s())

    def close(self) -> None:
        """Close the files."""
        for file in self._files.values():
            os.close(file)
        self._files = {}

    def __enter__(self) -> Sampler:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def sample(before: Snapshot, after: Snapshot, always: Iterable[str] = ()) -> Sample:
    """What the host did between two snapshots: ``devices`` (active ones and those in ``always``), ``cpu``, ``paging``."""
    elapsed_s = (after.monotonic_ns - before.monotonic_ns) / 1e9
    made: Sample = {"seconds": elapsed_s}
    if elapsed_s <= 0:
        return made
    if "diskstats" in before.texts and "diskstats" in after.texts:
        made["devices"] = _devices(before, after, elapsed_s, frozenset(always))
    ticks = counters.parse_cpu(before.texts.get("stat", "")), counters.parse_cpu(after.texts.get("stat", ""))
    if ticks[0] is not None and ticks[1] is not None:
        own = None if before.own_user_s is None or after.own_user_s is None else after.own_user_s - before.own_user_s
        made["cpu"] = counters.cpu_shares(ticks[0], ticks[1], own)
    blocks = counters.paging_rates(
        counters.parse_paging(before.texts.get("vmstat", "")), counters.parse_paging(after.texts.get("vmstat", "")), elapsed_s
    )
    if blocks is not None:
        made["paging"] = blocks
    return made


def _devices(before: Snapshot, after: Snapshot, elapsed_s: float, always: frozenset[str]) -> dict[str, Any]:
    earlier, later = (counters.diskstats_lines(snapshot.texts["diskstats"]) for snapshot in (before, after))
    looked_at = [name for name, line in later.items() if name in earlier and (name in always or line != earlier[name])]
    old, new = (counters.parse_diskstats("\n".join(lines[name] for name in looked_at)) for lines in (earlier, later))
    return {
        name: counters.disk_rates(old[name], now, elapsed_s)
        for name, now in new.items()
        if name in old and (name in always or counters.did_something(old[name], now))
    }
