"""How long each fdatasync of some processes took, told by the kernel: for a server that adds its flushes up and keeps no single one.

Model: a private instance of the kernel's tracing file system, apart from everybody else's tracing, records when processes, and those that
they start, enter fdatasync(2) and return. What is recorded is read as text now and then, and each return is paired with the entry of the
same thread. An instance goes when it is closed; those of processes that are gone go with the next.
Limits: needs root and a mounted tracefs with the events of system calls. Where events were lost the times are not all (`is_whole`), and
whoever asks has to compare their number with what the server says of itself: in a container of its own processes have other numbers.
Times are in whole microseconds.

    with suppress(OSError):
        times = FlushTimes([process.pid for process in Family([server]).look()])
        times.read()                       # several times a second
        times.took_ns, times.is_whole
        times.close()
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from contextlib import suppress

INSTANCES = "/sys/kernel/tracing/instances"
_NAME = "plimsoll-flushes-"
_EVENTS = ("sys_enter_fdatasync", "sys_exit_fdatasync")
#: Of each processor, for what comes between two reads.
_BUFFER_KIB = 1024
_READ_BYTES = 1 << 18
#: "postgres-2431    [001] ..... 59323.561383: sys_fdatasync(fd: 1)", and as much with " -> 0x0" at the return; or a line of lost events.
_LINE = re.compile(rb"-(\d+) +\[\d+\][^:\n]* (\d+)\.(\d+): sys_fdatasync( -> (0x[0-9a-f]+))?|(LOST)")


class FlushTimes:
    """Records from now on; raises `OSError` where the kernel does not let us. ``took_ns`` are the nanoseconds of each that has returned."""

    def __init__(self, pids: Iterable[int], instances: str = INSTANCES) -> None:
        _sweep(instances)
        self._home = os.path.join(instances, f"{_NAME}{os.getpid()}")
        self.took_ns: list[int] = []
        #: Whether nothing was lost.
        self.is_whole = True
        self._entered: dict[bytes, int] = {}
        self._rest = b""
        self._pipe = -1
        os.mkdir(self._home)
        try:
            # What comes when the buffer is full is lost, and not what was there before; lines name threads and instants alone.
            self._write("trace_clock", "mono")
            self._write("options/overwrite", "0")
            self._write("options/event-fork", "1")
            self._write("buffer_size_kb", str(_BUFFER_KIB))
            self._write("set_event_pid", " ".join(map(str, pids)))
            self._pipe = os.open(os.path.join(self._home, "trace_pipe"), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            for event in _EVENTS:
                self._write(f"events/syscalls/{event}/enable", "1")
        except BaseException:
            self.close()
            raise

    def read(self) -> None:
        """Take what was recorded meanwhile."""
        with suppress(BlockingIOError):
            while text := os.read(self._pipe, _READ_BYTES):
                whole, _, self._rest = (self._rest + text).rpartition(b"\n")
                self._take(whole)

    def _take(self, lines: bytes) -> None:
        for thread, seconds, fraction, returned, result, lost in _LINE.findall(lines):
            if lost:
                self.is_whole = False
                continue
            at_ns = int(seconds) * 1_000_000_000 + int(fraction.ljust(9, b"0"))
            if not returned:
                self._entered[thread] = at_ns
            elif (entered_ns := self._entered.pop(thread, None)) is not None and result == b"0x0":
                self.took_ns.append(at_ns - entered_ns)

    def stop(self) -> None:
        """Record no more, and take what there is. A flush that is under way then is not in the times."""
        for event in _EVENTS:
            self._write(f"events/syscalls/{event}/enable", "0")
        self.read()
        # With a full buffer the kernel leaves events away and says so here.
        self.is_whole = self.is_whole and not self._overrun()

    def _overrun(self) -> int:
        folder = os.path.join(self._home, "per_cpu")
        found = 0
        for name in os.listdir(folder):
            with open(os.path.join(folder, name, "stats"), "rb") as file:
                found += sum(map(int, re.findall(rb"(?:overrun|dropped events): (\d+)", file.read())))
        return found

    def close(self) -> None:
        """Take the instance away."""
        if self._pipe >= 0:
            os.close(self._pipe)
            self._pipe = -1
        with suppress(OSError):
            os.rmdir(self._home)

    def _write(self, name: str, value: str) -> None:
        with open(os.path.join(self._home, name), "w", encoding="ascii") as file:
            file.write(value)


def _sweep(instances: str) -> None:
    """Take instances away whose process is gone: the kernel would go on recording for nobody."""
    for name in os.listdir(instances):
        if name.startswith(_NAME) and not os.path.exists(f"/proc/{name.removeprefix(_NAME)}"):
            with suppress(OSError):
                os.rmdir(os.path.join(instances, name))
