"""What carries a gang is kept away from the load, and what it costs is told."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from plimsoll.gang.keeper import MARK, divided
from plimsoll.gang.own_cost import Meter
from support.patience import wait_until

#: Works for a while, says so, and waits.
_BUSY = "import sys,time\nuntil=time.process_time()+0.2\nwhile time.process_time()<until: pass\nprint('done',flush=True)\nsys.stdin.read()"


def test_what_carries_calls_is_kept_off_the_cores_of_the_load() -> None:
    assert divided({0, 1, 2, 5}, carried=True) == ({0, 1, 2}, {5})
    assert divided({0, 1}, carried=True) == ({0, 1}, {0, 1}), "two cores are too few to give one away"
    assert divided({0, 1, 2, 5}, carried=False) == ({0, 1, 2, 5}, {0, 1, 2, 5}), "nothing carries calls"


@pytest.fixture
def carrier(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A process with the mark of a gang, not working yet."""
    command = [sys.executable, "-c", f"input()\n{_BUSY}"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, MARK: str(tmp_path)}
    ) as process:
        yield process
        process.kill()


def test_time_and_memory_of_what_carries_a_gang_are_told(tmp_path: Path, carrier: subprocess.Popen[str]) -> None:
    meter = Meter(str(tmp_path))
    wait_until(lambda: Path(f"/proc/{carrier.pid}/environ").read_bytes() != b"", "it runs under its own name")
    meter.begin()
    assert carrier.stdin is not None
    assert carrier.stdout is not None
    carrier.stdin.write("go\n")
    carrier.stdin.flush()
    assert carrier.stdout.readline() == "done\n"
    cost = meter.end()
    # A tick of the kernel's counters is missing at either end.
    assert cost["cpu_ns"] >= 180_000_000
    assert cost["processes"] == 1
    assert cost["memory_bytes"] > 1 << 20
    assert cost["cores"] == sorted(os.sched_getaffinity(0))
    assert cost["seconds"] > 0
