"""The loop of a file copy: read a block, write it, and when all are written, make the copy durable; again until it is time.

Model: plain ``read`` and ``write`` calls through one buffer, as cp does on file systems that cannot share blocks. ``copy_file_range`` and
reflinks are left out on purpose: they would hand the work to the file system, which may then copy nothing. Every pass writes the whole
file anew (it is cut to nothing first) and ends with fsync, so that a pass is not over before its data is safe. Time is looked at between
two calls; a phase never ends inside one.
A request that transfers less than was asked for is followed by one for the remainder, as in cp, and counted; the remainder of a direct one
that is no longer aligned cannot be asked for, so that the copy fails.
Limits: one thread. The rest of a file that fills no block is copied, too, but left out of the figures, where a shorter request would make
sizes and rates disagree. What the last pass has written when the time is up is made durable in the drain.

    ending = Copier(task, "copy", course).run()
"""

from __future__ import annotations

import errno
import fcntl
import mmap
import os
import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Protocol

from plimsoll.apps.recorder import Call, Recorder, Slice
from plimsoll.records import dataclass
from plimsoll.stored import Json

#: What the remainder of a direct request is aligned to at least.
_SECTOR_BYTES = 512


@dataclass(frozen=True)
class Task:
    """What is to be copied, and for how long.

    ``passes`` whole passes are measured, but no longer than the duration; 0 is as many as fit. With whole passes, the warm-up goes on until
    its last pass is over.
    """

    source: int
    destination: int
    size_bytes: int
    block_bytes: int
    passes: int
    warmup_ns: int
    duration_ns: int


@dataclass
class Ending:
    """How it went.

    ``stopped_by`` is one of the engine's words: duration, amount, signal, error. ``first_error`` is (operation, offset, errno). ``short``
    counts requests that transferred a part.
    """

    stopped_by: str = "duration"
    passes: int = 0
    first_error: tuple[str, int, int] | None = None
    short: int = 0
    first_done_ns: int | None = None
    user_ns: int = 0
    system_ns: int = 0


@contextmanager
def _buffered(file: int) -> Iterator[None]:
    """Without direct I/O on an open file."""
    flags = fcntl.fcntl(file, fcntl.F_GETFL)
    fcntl.fcntl(file, fcntl.F_SETFL, flags & ~os.O_DIRECT)
    try:
        yield
    finally:
        fcntl.fcntl(file, fcntl.F_SETFL, flags)


class _Failed(Exception):
    """A call failed; the ending says which."""


class Way(Protocol):
    """What a copy needs of the course of its job."""

    @property
    def recorder(self) -> Recorder: ...

    @property
    def stopped(self) -> bool: ...

    def hand_over(self, ended: Slice) -> None: ...


class Copier:
    """Copies ``task`` in the calling thread; slices that end with a phase are handed over to the course of the job."""

    def __init__(self, task: Task, stream: str, course: Way) -> None:
        self._task = task
        self._stream = stream
        self._course = course
        self._recorder = course.recorder
        # Anonymous mappings start at a page, as direct I/O asks for.
        self._buffer = memoryview(mmap.mmap(-1, task.block_bytes))
        self._due_ns = task.warmup_ns if self._recorder.phase == "warmup" else task.duration_ns
        self._now_ns = 0
        self._direct = bool(fcntl.fcntl(task.source, fcntl.F_GETFL) & os.O_DIRECT)
        self._over = self._unfinished = False
        self.ending = Ending()

    def run(self) -> Ending:
        """Copy until the time or the passes are over, the brake is pulled, or a call fails."""
        try:
            while not self._over:
                self._pass()
        except _Failed:
            self.ending.stopped_by = "error"
        self._course.hand_over(self._recorder.cut("drain"))
        if self._unfinished and self.ending.stopped_by == "duration":
            self._settle()
        used = resource.getrusage(resource.RUSAGE_THREAD)
        self.ending.user_ns, self.ending.system_ns = int(used.ru_utime * 1e9), int(used.ru_stime * 1e9)
        return self.ending

    def _pass(self) -> None:
        task = self._task
        self._empty()
        whole = task.size_bytes - task.size_bytes % task.block_bytes
        for offset in range(0, whole, task.block_bytes):
            if self._over:
                return
            self._transfer("read", offset)
            self._transfer("write", offset)
        if self._over:
            return
        self._copy_rest(whole, task.size_bytes - whole)
        self._check_length()
        warming = self._recorder.phase == "warmup"
        self._flush()
        if not warming:
            self.ending.passes += 1
            if self.ending.passes == task.passes and not self._over:
                self.ending.stopped_by = "amount"
                self._over = True
        elif task.passes and self._now_ns >= self._due_ns:
            self._measure_from_now()

    def _empty(self) -> None:
        """Cut the copy to nothing, as cp does with a file that exists."""
        try:
            os.ftruncate(self._task.destination, 0)
        except OSError as problem:
            raise self._failed("write", 0, problem.errno or errno.EIO) from None
        self._unfinished = True

    def _transfer(self, op: str, offset: int) -> None:
        """Read or write one block; a call that does less is followed by one for the remainder."""
        task, done = self._task, 0
        call, file = (os.preadv, task.source) if op == "read" else (os.pwritev, task.destination)
        while done < task.block_bytes:
            done += self._call(op, offset + done, partial(call, file, [self._buffer[done:]], offset + done))
            if done < task.block_bytes:
                self.ending.short += 1
                if self._direct and done % _SECTOR_BYTES:
                    raise self._failed(op, offset, 0)

    def _copy_rest(self, offset: int, length: int) -> None:
        """The bytes after the last whole block, without direct I/O, whose alignment they do not have."""
        for op, file in (("read", self._task.source), ("write", self._task.destination)):
            done = 0
            try:
                with _buffered(file):
                    while done < length:
                        part, at = [self._buffer[done:length]], offset + done
                        transferred = os.preadv(file, part, at) if op == "read" else os.pwritev(file, part, at)
                        if not transferred:
                            raise self._failed(op, at, 0)
                        done += transferred
            except OSError as problem:
                raise self._failed(op, offset + done, problem.errno or errno.EIO) from None

    def _check_length(self) -> None:
        """A copy that something cut short behind our back is none."""
        try:
            found = os.fstat(self._task.destination).st_size
        except OSError as problem:
            raise self._failed("write", 0, problem.errno or errno.EIO) from None
        if found != self._task.size_bytes:
            raise self._failed("write", found, 0)

    def _flush(self) -> None:
        self._call("flush", 0, self._synchronise)
        self._unfinished = False

    def _synchronise(self) -> int:
        os.fsync(self._task.destination)
        return 0

    def _call(self, op: str, offset: int, call: Callable[[], int]) -> int:
        """One call of the kernel, recorded; what it transferred."""
        begun = self._recorder.begin(op, self._stream)
        try:
            transferred = call()
        except OSError as problem:
            raise self._failed(op, offset, problem.errno or errno.EIO, begun) from None
        if op != "flush" and transferred == 0:
            raise self._failed(op, offset, 0, begun)
        self._now_ns = self._recorder.complete(begun, transferred)
        if self.ending.first_done_ns is None:
            self.ending.first_done_ns = self._now_ns
        self._look_at_the_time(self._now_ns)
        return transferred

    def _failed(self, op: str, offset: int, code: int, begun: Call | None = None) -> _Failed:
        self._recorder.fail(begun or self._recorder.begin(op, self._stream), errno_name(code))
        self.ending.first_error = (op, offset, code)
        return _Failed()

    def _look_at_the_time(self, now_ns: int) -> None:
        if self._course.stopped:
            self.ending.stopped_by = "signal"
            self._over = True
        elif now_ns >= self._due_ns and not self._over:
            if self._recorder.phase != "warmup":
                self._over = True
            elif not self._task.passes:
                self._measure_from_now()

    def _measure_from_now(self) -> None:
        self._course.hand_over(self._recorder.cut("measure"))
        self._due_ns = self._recorder.start_ns + self._task.duration_ns

    def _settle(self) -> None:
        """After the measured time: what an unfinished pass has written, made durable."""
        try:
            self._flush()
        except _Failed:
            self.ending.stopped_by = "error"
        self._course.hand_over(self._recorder.cut())


def errno_name(code: int) -> str:
    """The name of an errno; ``SHORT`` for 0, a transfer that ended early."""
    return errno.errorcode.get(code, f"E{code}") if code else "SHORT"


def first_error(ending: Ending) -> Json | None:
    """The first failure as stored: operation, offset, name and sentence."""
    if ending.first_error is None:
        return None
    op, offset, code = ending.first_error
    what = (
        f"failed with {errno_name(code)} ({os.strerror(code)})."
        if code
        else "transferred less than was asked for; is the file shorter than it was?"
    )
    return {"op": op, "offset": offset, "errno": errno_name(code), "message": f"{op} at byte {offset} of the copy {what}"}
