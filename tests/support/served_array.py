"""A ``plimsoll serve-array`` that runs beside a test, and fio on what it serves."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from support.patience import HANGS_S

COMMAND = str(Path(sys.executable).with_name("plimsoll"))


def missing_of_fio(engine: str) -> str | None:
    """Why fio cannot be used with an engine."""
    if shutil.which("fio") is None:
        return "fio is not installed"
    known = subprocess.run(["fio", "--enghelp"], capture_output=True, text=True, check=False).stdout.split()
    return None if engine in known else f"this fio has no engine {engine}"


def missing_for_mount() -> str | None:
    """Why nothing can be mounted here."""
    if not os.path.exists("/dev/fuse"):
        return "/dev/fuse is missing"
    if os.geteuid() and shutil.which("fusermount3") is None:
        return "mounting takes root or fusermount3"
    return None


@dataclass
class Served:
    """A server: where it is, and what it said at its end."""

    process: subprocess.Popen[str]
    addresses: list[str]
    report: dict[str, Any] = field(default_factory=dict)

    def stop(self, number: int = signal.SIGINT) -> dict[str, Any]:
        """End it and keep its report."""
        if not self.report:
            self.process.send_signal(number)
            out, told = self.process.communicate(timeout=HANGS_S)
            assert self.process.returncode == 0, told
            self.report = json.loads(out)
        return self.report


@contextmanager
def served(array: str, *arguments: str, places: int = 1) -> Iterator[Served]:
    """Serve an array at so many places until the block is left."""
    command = [COMMAND, "serve-array", array, "--json", *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    addresses: list[str] = []
    try:
        assert process.stderr is not None
        while len(addresses) < places:
            line = process.stderr.readline()
            assert line, process.communicate()
            if line.startswith("at "):
                addresses.append(line.split(maxsplit=1)[1].strip())
        server = Served(process, addresses)
        yield server
        server.stop()
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()


def fio(*options: str, first: bool = False) -> subprocess.CompletedProcess[str]:
    """Run fio with one job; ``first`` schedules it ahead of ordinary programs where that is allowed."""
    ahead = ["chrt", "-f", "2"] if first and not os.geteuid() and shutil.which("chrt") else []
    command = [*ahead, "fio", "--name=x", "--output-format=json", *options]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=HANGS_S)
