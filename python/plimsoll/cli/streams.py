"""stdout and stderr while a command runs: never a reason to end it, and nothing unsafe reaches a terminal.

Model: a command writes as if both were well. A write that fails (a full disk, a reader that left, a descriptor that was closed) is
remembered and what follows is dropped, so that measuring, storing and the exit code go on; `lost` says so at the end. Text passes
`displayed`; what draws on a terminal with control sequences of ours writes to `bare`, and bytes to the stream's ``buffer``. Descriptors 0
to 2 that are closed are opened on /dev/null first, since the next file opened, a disk under test perhaps, would become stdout.
Limits: what was lost is lost; the results of a run are in its directory.

    with Streams() as streams:
        print("…")
    streams.lost        # "stdout could not be written (no space left on device)"
"""

from __future__ import annotations

import errno
import io
import os
import select
import sys
from contextlib import suppress
from typing import Any, TextIO, cast

from plimsoll.displayed import displayed


class _Drain(io.RawIOBase):
    """Passes bytes on until that fails; swallows them from then on."""

    def __init__(self, target: Any) -> None:
        super().__init__()
        self._target = target
        self.failure: OSError | ValueError | None = None

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return bool(self._target.isatty())

    def fileno(self) -> int:
        number: int = self._target.fileno()
        return number

    def write(self, content: Any, /) -> int:
        size = memoryview(content).nbytes
        if self.failure is not None:
            return size
        try:
            written = self._target.write(content)
            if written is None:
                # A terminal or pipe that does not block is full for now.
                select.select([], [self._target.fileno()], [])
                return self.write(content)
            if not isinstance(self._target, io.RawIOBase):
                self._target.flush()
        except (OSError, ValueError) as problem:
            self.failure = problem
            return size
        return int(written)


class _Shown(io.TextIOWrapper):
    """Text as it may be shown."""

    def write(self, text: str, /) -> int:
        super().write(displayed(text))
        return len(text)


class Streams:
    """Stand in for ``sys.stdout`` and ``sys.stderr`` within the block."""

    def __init__(self) -> None:
        self._kept: tuple[TextIO, TextIO] = (sys.stdout, sys.stderr)
        self._drains: dict[str, _Drain] = {}
        self._closed: set[str] = set()

    def __enter__(self) -> Streams:
        _reserve_descriptors()
        for name, stream in zip(("stdout", "stderr"), self._kept, strict=True):
            setattr(sys, name, self._standing_in(name, stream))
        return self

    def __exit__(self, *_: object) -> None:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        sys.stdout, sys.stderr = self._kept

    @property
    def lost(self) -> str | None:
        """Why what belongs to stdout did not get there; None when it did, or its reader had seen enough and left."""
        with suppress(OSError, ValueError):
            sys.stdout.flush()
        if "stdout" in self._closed:
            return "stdout is closed"
        drain = self._drains.get("stdout")
        if drain is None or drain.failure is None or self.left:
            return None
        reason = getattr(drain.failure, "strerror", None) or str(drain.failure)
        return f"stdout could not be written ({reason.lower()})"

    @property
    def left(self) -> bool:
        """Whether the reader of stdout left before the end."""
        drain = self._drains.get("stdout")
        return drain is not None and isinstance(drain.failure, OSError) and drain.failure.errno == errno.EPIPE

    def _standing_in(self, name: str, stream: TextIO | None) -> TextIO:
        if stream is None:
            self._closed.add(name)
            return _wrapped(_Drain(io.BytesIO()), None)
        target = getattr(stream, "buffer", None)
        if target is None:
            return stream
        with suppress(OSError, ValueError):
            stream.flush()
        # Past its buffer: one that could not be written would be written once more while Python ends, and complain.
        drain = self._drains[name] = _Drain(getattr(target, "raw", target))
        return _wrapped(drain, stream)


def bare(stream: TextIO) -> TextIO:
    """The stream without the guard of `displayed`, for control sequences of our own."""
    return cast(TextIO, _Bare(stream)) if isinstance(stream, _Shown) else stream


def is_lost(stream: TextIO) -> bool:
    """Whether something could not be written to it."""
    raw = getattr(getattr(stream, "buffer", None), "raw", None)
    return isinstance(raw, _Drain) and raw.failure is not None


class _Bare:
    """Everything of the stream but its writing."""

    def __init__(self, stream: _Shown) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        return io.TextIOWrapper.write(self._stream, text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _wrapped(drain: _Drain, stream: TextIO | None) -> TextIO:
    encoding = getattr(stream, "encoding", None) or "utf-8"
    if encoding.lower() in ("ascii", "us-ascii", "ansi_x3.4-1968"):
        encoding = "utf-8"
    # Who reads a pipe has each line when it is whole; the rest of a block need not come at once.
    lines = stream is None or bool(getattr(stream, "line_buffering", True))
    return _Shown(io.BufferedWriter(drain), encoding, "backslashreplace", newline="\n", line_buffering=lines)


def _reserve_descriptors() -> None:
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            # The lowest free one is taken, which is this.
            os.open(os.devnull, os.O_RDWR)
