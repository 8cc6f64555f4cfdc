"""What one contestant did in one run, in the same units for all of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True)
class Load:
    """I/Os over some seconds. CPU time is that of the threads that make the load; ``command_cpu_ns`` is that of the whole command."""

    count: int
    seconds: float
    user_ns: float
    system_ns: float
    latency_p99_ns: float
    command_cpu_ns: float

    @property
    def cpu_ns(self) -> float:
        """User and system time of the threads that make the load."""
        return self.user_ns + self.system_ns

    @property
    def per_cpu_s(self) -> float:
        """I/Os per CPU-second of one core."""
        return self.count / max(self.cpu_ns, 1.0) * 1e9

    @property
    def rate_per_s(self) -> float:
        """I/Os per second of wall-clock time."""
        return self.count / self.seconds

    @property
    def core_share(self) -> float:
        """Cores in use by the threads that make the load."""
        return self.cpu_ns / 1e9 / self.seconds


def per_cpu_s(loads: Iterable[Load]) -> float:
    """Median I/Os per CPU-second."""
    return median(load.per_cpu_s for load in loads)


def user_ns_per_io(loads: Iterable[Load]) -> float:
    """Nanoseconds of user time per I/O over all loads together, because the kernel splits CPU time by sampling at its ticks."""
    found = list(loads)
    return sum(load.user_ns for load in found) / max(sum(load.count for load in found), 1)
