"""How long this machine's disk stands still: what tests that need its progress are held against.

Model: a process of its own writes a block past the page cache every few milliseconds, and notes how long that took. Where the disk completed
nothing for it either, nobody else's requests have to have been completed.

    with DiskReference(tmp_path) as disk:
        ...
    disk.spoiled(1.0)             # 2: so many measurements of a second can have fallen into standstills
"""

from __future__ import annotations

import json
import mmap
import os
import subprocess
import sys
import time
from pathlib import Path

PAUSE_S = 0.02
BLOCK = 4096


class DiskReference:
    """Writes again and again as long as the block runs; afterwards it is known for how long the disk stood still."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "reference.dat"
        self._took_s: list[float] = []

    def __enter__(self) -> DiskReference:
        command = [sys.executable, __file__, str(self._path)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        return self

    def __exit__(self, *_: object) -> None:
        told, _nothing = self._process.communicate()
        self._took_s = json.loads(told)
        self._path.unlink(missing_ok=True)

    @property
    def slow_s(self) -> float:
        """The time of all writes that took longer than `PAUSE_S`."""
        return sum(self._took_s)

    def spoiled(self, seconds: float) -> int:
        """How many measurements of so many seconds, one after the other, had a standstill for half of their time at least."""
        return sum(int(took_s / seconds) + 1 for took_s in self._took_s if took_s >= seconds / 2)


def opened(path: str) -> int:
    """A file that is written past the page cache; in memory there is nothing else."""
    flags = os.O_CREAT | os.O_WRONLY | os.O_DSYNC
    try:
        return os.open(path, flags | os.O_DIRECT, 0o600)
    except OSError:
        return os.open(path, flags, 0o600)


def main(path: str) -> None:
    """Until standard input is closed."""
    os.set_blocking(0, False)
    # Direct writes take aligned memory, which a map of its own is.
    file, block = opened(path), mmap.mmap(-1, BLOCK)
    took_s: list[float] = []
    while sys.stdin.buffer.raw.read(1) is None:  # type: ignore[attr-defined]
        before = time.monotonic()
        os.pwrite(file, block, 0)
        took_s.append(time.monotonic() - before)
        time.sleep(PAUSE_S)
    print(json.dumps([one for one in took_s if one > PAUSE_S]))


if __name__ == "__main__":
    main(sys.argv[1])
