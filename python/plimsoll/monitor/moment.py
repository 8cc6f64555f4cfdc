"""The kernel's counters of this host at one instant, read before anything is imported.

Model: the files are read whole and parsed by whoever compares two of them. Only `os` and `time` are imported here, because a command takes
its first look before the imports that it waits for.

    begun = moment()
    begun.texts["diskstats"], begun.own_io
"""

from __future__ import annotations

import os
import time

#: At most so many bytes of each: only the first line of stat is of interest, and a thousand devices fit the first.
SOURCES = {"diskstats": 1 << 18, "stat": 512, "vmstat": 1 << 15}
_OWN_IO_BYTES = 512
_CHUNK_BYTES = 1 << 14


class Moment:
    """Counter files as text at one instant of the monotonic clock, the time that this process had used by then, in the kernel too, and the
    lines on what it has read from and written to storage; None where the kernel does not count that."""

    __slots__ = ("monotonic_ns", "own_io", "own_s", "texts")

    def __init__(self, monotonic_ns: int, texts: dict[str, str], own_s: float, own_io: str | None) -> None:
        self.monotonic_ns = monotonic_ns
        self.texts = texts
        self.own_s = own_s
        self.own_io = own_io


def moment(proc: str = "/proc") -> Moment:
    """The counters now; those whose file cannot be read are absent."""
    texts = {name: text for name, size in SOURCES.items() if (text := _opened_and_read(f"{proc}/{name}", size)) is not None}
    used = os.times()
    own = _opened_and_read(f"{proc}/self/io", _OWN_IO_BYTES)
    counted = None if own is None else "\n".join(line for line in own.split("\n") if line.startswith(("read_bytes", "write_bytes")))
    return Moment(time.monotonic_ns(), texts, used.user + used.system, counted)


def _opened_and_read(path: str, size: int) -> str | None:
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        return read_from_start(file, size)
    finally:
        os.close(file)


def read_from_start(file: int, size: int) -> str:
    """Up to ``size`` bytes from the start; the kernel hands such files out a page at a time."""
    chunks: list[bytes] = []
    length = 0
    while length < size:
        # Memory for more than is there is dearer than what is there.
        chunk = os.pread(file, min(size - length, _CHUNK_BYTES), length)
        if not chunk:
            break
        chunks.append(chunk)
        length += len(chunk)
    return b"".join(chunks).decode("ascii", "replace")
