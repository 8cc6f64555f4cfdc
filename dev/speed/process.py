"""A child process: what it printed, how long it took, and what it used according to the kernel.

Limits: the peak of resident memory that the kernel reports includes that of this program at the fork, so this program
stays small. Output goes through files, because nobody reads a pipe while the usage is awaited.
"""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass
from typing import TextIO


class BenchError(Exception):
    """One sentence on why a measurement was impossible."""


@dataclass(frozen=True)
class Finished:
    """A process that has ended well. Instants are of CLOCK_MONOTONIC."""

    started_ns: int
    wall_ns: int
    cpu_ns: int
    rss_max_bytes: int
    stdout: str


class Child:
    """A running process."""

    def __init__(self, argv: list[str]) -> None:
        self._argv = argv
        self._stdout = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115 (closed by finish)
        self._stderr = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115 (closed by finish)
        self._started_ns = time.monotonic_ns()
        # As users have it: a command that may not keep its bytecode compiles itself at each start.
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        self._process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=self._stdout, stderr=self._stderr, env=environment)

    def stall(self, seconds: float) -> float:
        """Stop the process for about ``seconds``; the seconds it was stopped."""
        begin_ns = time.monotonic_ns()
        os.kill(self._process.pid, signal.SIGSTOP)
        time.sleep(seconds)
        os.kill(self._process.pid, signal.SIGCONT)
        return (time.monotonic_ns() - begin_ns) / 1e9

    def finish(self) -> Finished:
        """Wait for the end; an exit code other than 0 raises."""
        with self._stdout, self._stderr:
            _, status, usage = os.wait4(self._process.pid, 0)
            wall_ns = time.monotonic_ns() - self._started_ns
            self._process.returncode = os.waitstatus_to_exitcode(status)
            if self._process.returncode:
                last = _text(self._stderr).strip().rpartition("\n")[2]
                raise BenchError(f"{' '.join(self._argv)} ended with {self._process.returncode}: {last}")
            cpu_ns = int((usage.ru_utime + usage.ru_stime) * 1e9)
            return Finished(self._started_ns, wall_ns, cpu_ns, usage.ru_maxrss * 1024, _text(self._stdout))


def run(argv: list[str]) -> Finished:
    """Run to the end."""
    return Child(argv).finish()


def _text(file: TextIO) -> str:
    file.seek(0)
    return file.read()
