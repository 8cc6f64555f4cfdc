"""Our own bare ring loop, ``bare_ring.rs``, as a contestant: a limit wherever there are a compiler and a kernel with rings."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from speed import process
from speed.load import Load
from speed.process import BenchError

_SOURCE = Path(__file__).with_name("bare_ring.rs")


@dataclass(frozen=True)
class BareRing:
    """The program, as built in a folder."""

    command: str

    @classmethod
    def built(cls, folder: Path) -> BareRing:
        """Compile it; without a compiler `BenchError`."""
        if shutil.which("rustc") is None:
            raise BenchError("there is no rustc to build the bare ring loop with")
        command = str(folder / "bare_ring")
        process.run(["rustc", "--edition", "2024", "-O", "-o", command, str(_SOURCE)])
        return cls(command)

    def run(self, *, seconds: float, depth: int, path: str | None = None) -> Load:
        """One run of NOPs, or of 4 KiB random reads of a file."""
        done = process.run([self.command, str(depth), f"{seconds:g}", *([path] if path else [])])
        count, wall_s, user_ns, system_ns = done.stdout.split()
        return Load(int(count), float(wall_s), float(user_ns), float(system_ns), latency_p99_ns=0, command_cpu_ns=done.cpu_ns)
