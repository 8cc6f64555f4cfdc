"""What storage and processors did while a query ran: counters of the kernel at its two ends, and what their difference says.

Model: a `Glance` is taken between two queries; the counters of the target's devices, the processors' states, the time that some task stood
waiting for I/O (pressure stall information, /proc/pressure/io) and the processor time and bytes of the engine's own processes are read as
text from files that stay open, and parsed later. What device and host did belongs to everything that ran then: to the query where it runs
alone, to all streams together otherwise. Bytes are those of the devices where the target has some that count, else those that the engine's
processes moved (/proc/PID/io), which leaves out what they left to the kernel to write. A process counts with those of its children that
have ended, so that servers of parallel queries, which come and go, are in the sum of an engine whose first process is their parent.
Limits: what the kernel does not say is None, never 0.

    before = observer.glance(); session.run(...); seen(before, observer.glance())["bytes_read"]
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import cast

from plimsoll.monitor import counters
from plimsoll.monitor.counters import CpuTicks, DiskCounters
from plimsoll.records import dataclass
from plimsoll.stored import Json

#: More than the kernel says of one device or process, or in the first line of /proc/stat.
_TEXT_BYTES = 1024


@dataclass(eq=False)
class Glance:
    """Counters at one instant of the monotonic clock, parsed when they are asked for. ``devices`` has the text of each one's
    /sys/class/block/NAME/stat, ``stat`` the first line of /proc/stat and ``pressure`` that of /proc/pressure/io; ``processes`` has
    /proc/PID/stat and /proc/PID/io of each process of the engine. A file that cannot be read is empty."""

    monotonic_ns: int
    devices: Mapping[str, bytes] = field(default_factory=dict)
    stat: bytes = b""
    pressure: bytes = b""
    processes: Mapping[int, tuple[bytes, bytes]] = field(default_factory=dict)

    @cached_property
    def disks(self) -> dict[str, DiskCounters]:
        """Those of the devices that count."""
        parsed = {name: counters.parse_block_stat(text.decode("ascii", "replace")) for name, text in self.devices.items()}
        return {name: found for name, found in parsed.items() if found is not None}

    @cached_property
    def cpu(self) -> CpuTicks | None:
        """The processors' states."""
        return counters.parse_cpu(self.stat.decode("ascii", "replace"))

    @cached_property
    def stalled_us(self) -> int | None:
        """For how long some task stood waiting for I/O since boot."""
        return _stalled_us(self.pressure)

    @cached_property
    def engine(self) -> dict[int, tuple[float, int | None, int | None]]:
        """Processor seconds, bytes read and bytes written of each process of the engine and of its children that have ended."""
        parsed = {pid: _process(*texts) for pid, texts in self.processes.items()}
        return {pid: found for pid, found in parsed.items() if found is not None}


class Observer:
    """Reads the counters; ``devices`` are kernel names of the target's devices, ``processes`` says which belong to the engine now. Files
    stay open from one glance to the next, those of a process for as long as it belongs to the engine."""

    def __init__(self, devices: Sequence[str], processes: Callable[[], Sequence[int]]) -> None:
        self._processes = processes
        self._devices = {name: _opened(f"/sys/class/block/{name}/stat") for name in devices}
        self._stat, self._pressure = _opened("/proc/stat"), _opened("/proc/pressure/io")
        self._files: dict[int, tuple[int | None, int | None]] = {}
        self._lock = threading.Lock()

    def glance(self) -> Glance:
        """The counters now; some 0.02 ms, several times that where all caches are the engine's."""
        with self._lock:
            devices = {name: text for name, file in self._devices.items() if (text := _text(file))}
            return Glance(time.monotonic_ns(), devices, _text(self._stat), _text(self._pressure), self._texts(self._processes()))

    def _texts(self, pids: Sequence[int]) -> dict[int, tuple[bytes, bytes]]:
        for pid in self._files.keys() - pids:
            _close(*self._files.pop(pid))
        texts: dict[int, tuple[bytes, bytes]] = {}
        for pid in pids:
            if pid not in self._files:
                self._files[pid] = _opened(f"/proc/{pid}/stat"), _opened(f"/proc/{pid}/io")
            stat, moved = map(_text, self._files[pid])
            if stat:
                texts[pid] = stat, moved
        return texts

    def close(self) -> None:
        """Close the files."""
        _close(self._stat, self._pressure, *self._devices.values(), *(file for files in self._files.values() for file in files))
        self._stat = self._pressure = None
        self._devices, self._files = {}, {}


def seen(before: Glance, after: Glance) -> Json:
    """What happened in between; the keys are those of a stored query (docs/decision-support.md)."""
    elapsed_s = (after.monotonic_ns - before.monotonic_ns) / 1e9
    if elapsed_s <= 0:
        return {}
    storage = _of_devices(before, after, elapsed_s) or _of_processes(before, after)
    stalled = None if before.stalled_us is None or after.stalled_us is None else (after.stalled_us - before.stalled_us) / 1e6 / elapsed_s
    return {
        **storage,
        "waiting_share": None if stalled is None else min(max(stalled, 0.0), 1.0),
        "cpu": _cpu(before, after),
        "engine_cpu_s": _engine_cpu_s(before, after),
    }


def _of_devices(before: Glance, after: Glance, elapsed_s: float) -> Json:
    """Bytes, request sizes, waits and queue of the devices together; empty where none of them counts."""
    pairs = [(before.disks[name], after.disks[name]) for name in before.disks if name in after.disks]
    if not pairs:
        return {}
    total = {name: sum(getattr(new, name) - getattr(old, name) for old, new in pairs) for name in _SUMMED}
    read, written = total["sectors_read"] * counters.SECTOR_BYTES, total["sectors_written"] * counters.SECTOR_BYTES
    return {
        "bytes_read": read,
        "bytes_written": written,
        "bytes_of": "devices",
        "read_request_bytes": read / total["reads"] if total["reads"] else None,
        "write_request_bytes": written / total["writes"] if total["writes"] else None,
        "r_await_ms": total["read_ms"] / total["reads"] if total["reads"] else None,
        "w_await_ms": total["write_ms"] / total["writes"] if total["writes"] else None,
        "queue_mean": total["weighted_ms"] / (elapsed_s * 1e3),
    }


_SUMMED = ("reads", "sectors_read", "read_ms", "writes", "sectors_written", "write_ms", "weighted_ms")


def _of_processes(before: Glance, after: Glance) -> Json:
    """Bytes that the engine's processes moved; requests and waits are not known then."""
    moved = [_between(before, after, which) for which in (1, 2)]
    return {
        "bytes_read": moved[0],
        "bytes_written": moved[1],
        "bytes_of": None if moved == [None, None] else "engine",
        **dict.fromkeys(("read_request_bytes", "write_request_bytes", "r_await_ms", "w_await_ms", "queue_mean")),
    }


def _between(before: Glance, after: Glance, which: int) -> int | None:
    """One counter of all processes together; what one has counted that ended in between is its parent's."""
    earlier, now = ([process[which] for process in glance.engine.values()] for glance in (before, after))
    if not now or None in (*earlier, *now):
        return None
    return max(sum(cast("list[int]", now)) - sum(cast("list[int]", earlier)), 0)


def _engine_cpu_s(before: Glance, after: Glance) -> float | None:
    if not after.engine:
        return None
    return max(sum(process[0] for process in after.engine.values()) - sum(process[0] for process in before.engine.values()), 0.0)


def _cpu(before: Glance, after: Glance) -> Json | None:
    """Percent of all processors of the host together, by state; None when less than a tick passed."""
    shares = counters.cpu_shares(before.cpu, after.cpu) if before.cpu is not None and after.cpu is not None else None
    return None if shares is None else {name: shares[name] for name in ("user_percent", "system_percent", "iowait_percent", "idle_percent")}


def _stalled_us(text: bytes) -> int | None:
    line = text.partition(b"\n")[0]
    try:
        return int(line.rpartition(b"total=")[2]) if line.startswith(b"some ") else None
    except ValueError:
        return None


def _process(stat: bytes, moved: bytes) -> tuple[float, int | None, int | None] | None:
    """Processor seconds, bytes read and bytes written of one process and its children that have ended; None when it is gone."""
    try:
        # Format: proc(5): utime, stime, cutime and cstime, fields 14 to 17. /proc/PID/io has the children in it anyway.
        cpu_s = sum(map(int, stat.rpartition(b")")[2].split()[11:15])) / counters.TICKS_PER_S
    except ValueError:
        return None
    return (cpu_s, *_moved(moved))


def _moved(text: bytes) -> tuple[int | None, int | None]:
    try:
        found = dict(line.split(b": ") for line in text.splitlines())
        return int(found[b"read_bytes"]), int(found[b"write_bytes"]) - int(found.get(b"cancelled_write_bytes", 0))
    except (ValueError, KeyError):
        return None, None


def _opened(path: str) -> int | None:
    try:
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None


def _text(file: int | None) -> bytes:
    """The beginning of a small file of the kernel; empty where it is not there, as of a process that has ended."""
    if file is None:
        return b""
    try:
        return os.pread(file, _TEXT_BYTES, 0)
    except OSError:
        return b""


def _close(*files: int | None) -> None:
    for file in files:
        if file is not None:
            os.close(file)
