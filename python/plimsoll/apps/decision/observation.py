"""What storage and processors did while a query ran: counters of the kernel at its two ends, and what their difference says.

Model: a `Glance` is taken between two queries; the counters of the target's devices, the processors' states, the time that some task stood
waiting for I/O (pressure stall information, /proc/pressure/io) and the processor time and bytes of the engine's own processes are read as
text and parsed later. What device and host did belongs to everything that ran then: to the query where it runs alone, to all streams
together otherwise. Bytes are those of the devices where the target has some that count, else those that the engine's processes moved
(/proc/PID/io), which leaves out what they left to the kernel to write.
Limits: what the kernel does not say is None, never 0. A process that has ended is in nothing any more.

    before = observer.glance(); session.run(...); seen(before, observer.glance(), observer.devices)["bytes_read"]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from plimsoll.engine import Json
from plimsoll.monitor import counters
from plimsoll.monitor.sampler import Sampler, Snapshot

_PRESSURE = "/proc/pressure/io"


@dataclass(frozen=True)
class Glance:
    """Counters at one instant. ``engine`` has (processor seconds, bytes read, bytes written) of each process of the engine."""

    snapshot: Snapshot
    stalled_us: int | None
    engine: dict[int, tuple[float, int | None, int | None]] = field(default_factory=dict)


class Observer:
    """Reads the counters; ``devices`` are kernel names of the target's devices, ``processes`` says which belong to the engine now."""

    def __init__(self, devices: Sequence[str], processes: Callable[[], Sequence[int]]) -> None:
        self.devices = tuple(devices)
        self._processes = processes
        self._sampler = Sampler()

    def glance(self) -> Glance:
        """The counters now; some 0.2 ms."""
        engine = {pid: found for pid in self._processes() if (found := _process(pid)) is not None}
        return Glance(self._sampler.snapshot(), _stalled_us(), engine)

    def close(self) -> None:
        """Close the files."""
        self._sampler.close()


def seen(before: Glance, after: Glance, devices: Sequence[str]) -> Json:
    """What happened in between; the keys are those of a stored query (docs/decision-support.md)."""
    elapsed_s = (after.snapshot.monotonic_ns - before.snapshot.monotonic_ns) / 1e9
    if elapsed_s <= 0:
        return {}
    storage = _of_devices(before, after, devices, elapsed_s) or _of_processes(before, after)
    stalled = None if before.stalled_us is None or after.stalled_us is None else (after.stalled_us - before.stalled_us) / 1e6 / elapsed_s
    return {
        **storage,
        "waiting_share": None if stalled is None else min(max(stalled, 0.0), 1.0),
        "cpu": _cpu(before.snapshot, after.snapshot),
        "engine_cpu_s": _engine_cpu_s(before, after),
    }


def _of_devices(before: Glance, after: Glance, devices: Sequence[str], elapsed_s: float) -> Json:
    """Bytes, request sizes, waits and queue of the devices together; empty where none of them counts."""
    olds, news = (counters.parse_diskstats(glance.snapshot.texts.get("diskstats", "")) for glance in (before, after))
    pairs = [(olds[name], news[name]) for name in devices if name in olds and name in news]
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
    """One counter of all processes that are there at the end; one that began in between counts from 0."""
    found: list[int] = []
    for pid, now in after.engine.items():
        value, earlier = now[which], before.engine.get(pid, (0.0, 0, 0))[which]
        if value is None or earlier is None:
            return None
        found.append(int(value) - int(earlier))
    return sum(found) if found else None


def _engine_cpu_s(before: Glance, after: Glance) -> float | None:
    if not after.engine:
        return None
    return sum(now[0] - before.engine.get(pid, (0.0, 0, 0))[0] for pid, now in after.engine.items())


def _cpu(before: Snapshot, after: Snapshot) -> Json | None:
    """Percent of all processors of the host together, by state; None when less than a tick passed."""
    old, new = (counters.parse_cpu(snapshot.texts.get("stat", "")) for snapshot in (before, after))
    shares = counters.cpu_shares(old, new) if old is not None and new is not None else None
    return None if shares is None else {name: shares[name] for name in ("user_percent", "system_percent", "iowait_percent", "idle_percent")}


def _stalled_us() -> int | None:
    """For how long some task stood waiting for I/O since boot."""
    try:
        with open(_PRESSURE, encoding="ascii") as file:
            line = file.readline()
        return int(line.rpartition("total=")[2]) if line.startswith("some ") else None
    except (OSError, ValueError):
        return None


def _process(pid: int) -> tuple[float, int | None, int | None] | None:
    """Processor seconds, bytes read and bytes written of one process; None when it is gone."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            words = file.read().rpartition(")")[2].split()
        cpu_s = (int(words[11]) + int(words[12])) / counters.TICKS_PER_S
    except (OSError, ValueError, IndexError):
        return None
    return (cpu_s, *_moved(pid))


def _moved(pid: int) -> tuple[int | None, int | None]:
    try:
        with open(f"/proc/{pid}/io", encoding="ascii") as file:
            found = dict(line.split(": ") for line in file.read().splitlines())
        return int(found["read_bytes"]), int(found["write_bytes"]) - int(found.get("cancelled_write_bytes", 0))
    except (OSError, ValueError, KeyError):
        return None, None
