"""Loop devices of a test's own: made, counted by the kernel, and taken away.

with loops(tmp_path, ["h1", "h2"], 64 << 20) as device_of:
    before = seen(device_of["h1"])
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def loops(place: Path, names: Sequence[str], size_bytes: int) -> Iterator[dict[str, str]]:
    """A device of each name, on a file of its own."""
    made: dict[str, str] = {}
    try:
        for name in names:
            image = place / f"{name}.img"
            with image.open("wb") as file:
                file.truncate(size_bytes)
            done = subprocess.run(
                ["losetup", "--find", "--show", "--direct-io=off", str(image)], capture_output=True, text=True, check=False
            )
            if done.returncode:
                pytest.skip(f"no loop devices here: {done.stderr.strip()}")
            made[name] = done.stdout.strip()
        yield made
    finally:
        for device in made.values():
            subprocess.run(["losetup", "--detach", device], check=False)


def seen(device: str) -> tuple[int, int]:
    """Bytes that a device has read and written. Format: proc(5), /proc/diskstats."""
    for line in Path("/proc/diskstats").read_text().splitlines():
        words = line.split()
        if words[2] == os.path.basename(device):
            return int(words[5]) * 512, int(words[9]) * 512
    raise AssertionError(f"{device} is not counted")
