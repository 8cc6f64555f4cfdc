"""One workflow as a process of the operating system: started, heard, looked at from outside, waited for.

Model: the process writes a line of JSON for whatever happens (`crates/analytics/src/teller.rs`); it begins its first step at the instant
that it is sent. Before it ends it waits for a line, so that its greatest memory can be read from outside (VmHWM of /proc/PID/status, which
counts from its exec; what wait4(2) says begins with the memory of whoever started it). Processor time is what wait4 says. A process that
ends without having said how was killed, or failed in a way of its own; what it said last is in the sentence.

    process = Process.started(Order(1, command, folder, cap))
    process.begin(at_ns); message = process.read(); process.wait()
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from plimsoll.stored import Json

#: Bytes of what a process said besides its messages that are kept.
_SAID_MAX = 2000
_AT_ONCE = 1 << 16


@dataclass(frozen=True)
class Order:
    """A workflow to be started: its number, the command, the directory that it works in, and its cap of memory in bytes."""

    number: int
    command: Sequence[str]
    folder: str
    memory_bytes: int


class Process:
    """See the module. ``messages`` come from `read`; the rest is what is known of it by then."""

    def __init__(self, order: Order, child: subprocess.Popen[bytes]) -> None:
        self.order = order
        self._child = child
        self._rest = b""
        self._said = ""
        self.user_s = 0.0
        self.system_s = 0.0
        self.max_rss_bytes = 0
        self._status: int | None = None

    @classmethod
    def started(cls, order: Order) -> Process:
        """Of an order. Raises `OSError` where there can be no further process."""
        child = subprocess.Popen(
            order.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=order.folder,
            # A signal to the group of a terminal is for us.
            start_new_session=True,
        )
        assert child.stdout is not None
        os.set_blocking(child.stdout.fileno(), False)
        return cls(order, child)

    @property
    def number(self) -> int:
        """Of the workflow."""
        return self.order.number

    @property
    def pid(self) -> int:
        """Its process."""
        return self._child.pid

    def fileno(self) -> int:
        """Where its messages come from."""
        assert self._child.stdout is not None
        return self._child.stdout.fileno()

    def begin(self, at_ns: int) -> None:
        """Tell it when to begin, an instant of CLOCK_MONOTONIC; one that is gone does not hear it."""
        self._send(f"{at_ns}\n")

    def read(self) -> Iterator[Json] | None:
        """The messages that have come; None when there will be no more."""
        try:
            found = os.read(self.fileno(), _AT_ONCE)
        except BlockingIOError:
            return iter(())
        if not found:
            return None
        *lines, self._rest = (self._rest + found).split(b"\n")
        return self._messages(lines)

    def look(self) -> None:
        """Read from outside how much memory it ever had."""
        with suppress(OSError, ValueError, StopIteration), open(f"/proc/{self.pid}/status", encoding="utf-8", errors="replace") as file:
            line = next(line for line in file if line.startswith("VmHWM:"))
            self.max_rss_bytes = max(self.max_rss_bytes, int(line.split()[1]) << 10)

    def let_go(self) -> None:
        """It has said how it ended: it may remove its files and go."""
        self.look()
        self._send("\n")

    def kill(self) -> None:
        """End it at once."""
        if self._status is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)

    def wait(self) -> int:
        """Wait for its end; its exit code, negative for the signal that ended it."""
        if self._status is None:
            _, status, usage = os.wait4(self.pid, 0)
            self._status = self._child.returncode = os.waitstatus_to_exitcode(status)
            self.user_s, self.system_s = usage.ru_utime, usage.ru_stime
            for pipe in (self._child.stdin, self._child.stdout):
                with suppress(OSError):
                    if pipe is not None:
                        pipe.close()
        return self._status

    def end_told(self, step: str | None) -> str:
        """The sentence of a process that ended without saying how, in a step or before the first."""
        code = self.wait()
        where = f" in step {step}" if step else " before its first step"
        if code >= 0:
            said = " ".join(self._said.split())
            return f"its process ended with code {code}{where}{f': {said}' if said else ''}."
        name = signal.Signals(-code).name if -code in signal.valid_signals() else f"signal {-code}"
        hint = "; the kernel does so when memory runs out, as its log then says" if -code == signal.SIGKILL else ""
        return f"its process was killed by {name}{where}{hint}."

    def _messages(self, lines: Sequence[bytes]) -> Iterator[Json]:
        for line in lines:
            if line.startswith(b"{"):
                with suppress(ValueError):
                    yield json.loads(line)
                    continue
            self._said = (self._said + line.decode(errors="replace") + "\n")[-_SAID_MAX:]

    def _send(self, text: str) -> None:
        pipe = self._child.stdin
        with suppress(OSError, ValueError):
            assert pipe is not None
            pipe.write(text.encode())
            pipe.flush()
