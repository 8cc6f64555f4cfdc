"""fio as a contestant: one job in one thread, and the load that its JSON describes.

CPU time is that of the job's thread: fio gives it in percent of ``job_runtime``.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from speed import process
from speed.load import Load
from speed.process import Finished

JOB = {"name": "bench", "thread": 1, "rw": "randread", "bs": "4k", "size": "1g", "time_based": 1}
#: As fast as it gets while it still knows the latency of each I/O.
TUNED = {"fixedbufs": 1, "registerfiles": 1, "iodepth_batch_submit": 16, "iodepth_batch_complete_max": 32, "norandommap": 1}


@dataclass(frozen=True)
class Fio:
    """The fio that was found."""

    command: str

    def version(self) -> str:
        """As it says itself."""
        return process.run([self.command, "--version"]).stdout.strip()

    def argv(self, *, seconds: float, **options: object) -> list[str]:
        """The command line of one run of 4 KiB random reads; what ``options`` do not say is fio's default."""
        job = {**JOB, "runtime": f"{seconds * 1000:.0f}ms", **options}
        return [self.command, "--output-format=json", *(f"--{key}={value}" for key, value in job.items())]

    def run(self, *, seconds: float, **options: object) -> Load:
        """One run."""
        return self.load(process.run(self.argv(seconds=seconds, **options)))

    def load(self, finished: Finished) -> Load:
        """The load of a finished run."""
        # Notices may stand before the document.
        job = json.loads(finished.stdout[finished.stdout.index("{") :])["jobs"][0]
        read, runtime_ns = job["read"], job["job_runtime"] * 1e6
        return Load(
            count=read["total_ios"],
            seconds=read["runtime"] / 1e3,
            user_ns=job["usr_cpu"] / 100 * runtime_ns,
            system_ns=job["sys_cpu"] / 100 * runtime_ns,
            latency_p99_ns=read["clat_ns"]["percentile"]["99.000000"],
            command_cpu_ns=finished.cpu_ns,
        )


def on_file(path: str, *, depth: int) -> dict[str, object]:
    """Options of direct reads through io_uring."""
    return {"ioengine": "io_uring", "filename": path, "direct": 1, "iodepth": depth}
