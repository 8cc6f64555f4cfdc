"""Plimsoll as a contestant: its command line, and the load that its result JSON describes.

The count is the sum over streams, and CPU time that of the engine's worker threads, which equals the measured phase
because there is no warm-up.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from speed import process
from speed.load import Load
from speed.process import BenchError, Finished

WORKLOAD = "random-read-4k"


@dataclass(frozen=True)
class Plimsoll:
    """The command under test and where it may keep runs."""

    command: str
    out: Path

    def argv(self, target: str, *, seconds: float, **options: object) -> list[str]:
        """The command line of one run of 4 KiB random reads."""
        sets = [f"--set={key}={value}" for key, value in options.items()]
        times = [f"--duration={seconds * 1000:.0f}ms", "--warmup=0s"]
        return [self.command, "run", WORKLOAD, f"--target={target}", *times, f"--out={self.out}", "--json", *sets]

    def run(self, target: str, *, seconds: float, **options: object) -> Load:
        """One run."""
        return self.load(process.run(self.argv(target, seconds=seconds, **options)))

    def load(self, finished: Finished) -> Load:
        """The load of a finished run."""
        result = self.result(finished)
        cpu = result["engine"]["cpu_ns"]
        streams = [stream["read"] for stream in result["streams"].values()]
        return Load(
            count=sum(stream["count"] for stream in streams),
            seconds=result["job"]["duration_s"],
            user_ns=cpu["user"],
            system_ns=cpu["system"],
            latency_p99_ns=max(stream["latency_ns"]["p99"] for stream in streams),
            command_cpu_ns=finished.cpu_ns,
        )

    def result(self, finished: Finished) -> dict[str, Any]:
        """The one result that a finished run printed."""
        result: dict[str, Any] = json.loads(finished.stdout)["results"][0]
        if result["status"] != "complete":
            raise BenchError(f"Plimsoll's run is {result['status']}: {result['error']}")
        return result
