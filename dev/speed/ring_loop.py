"""fio's bare ring loop ``t/io_uring`` as a contestant: no job model, no statistics, the practical limit of a ring.

It prints one line per second; the count is their sum, and CPU time that of the whole program, which does nothing else.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from speed import process
from speed.load import Load
from speed.process import BenchError

SECOND = re.compile(r"^IOPS=([\d.]+)([KM]?)", re.MULTILINE)
UNITS = {"": 1, "K": 1_000, "M": 1_000_000}


@dataclass(frozen=True)
class RingLoop:
    """The t/io_uring that was found."""

    command: str

    def run(self, *, seconds: float, depth: int, path: str) -> Load:
        """One run of NOPs, in whole seconds. Newer versions want a file even then, and leave it alone."""
        batch = min(depth, 32)
        whole_s = max(2, round(seconds))
        done = process.run([self.command, "-N1", f"-d{depth}", f"-s{batch}", f"-c{batch}", "-n1", f"-r{whole_s}", path])
        if not SECOND.search(done.stdout):
            raise BenchError(f"{self.command} says no rate: {done.stdout.strip().rpartition(chr(10))[2] or 'nothing at all'}")
        rates = [float(number) * UNITS[unit] for number, unit in SECOND.findall(done.stdout)]
        wall_s = done.wall_ns / 1e9
        count = int(sum(rates) / max(len(rates), 1) * wall_s)
        return Load(count, wall_s, user_ns=0, system_ns=done.cpu_ns, latency_p99_ns=0, command_cpu_ns=done.cpu_ns)
