"""Traces that gzip compressed, as many are handed on: unpacked while they are read.

Model: a stream of what the compressed file holds, in one pass, without a copy on disk.
Limits: it can only be read forwards, so a compact trace has to be unpacked by hand.

    file = io.BufferedReader(unpacked(file, "hm_0.csv.gz"))
"""

from __future__ import annotations

import gzip
import io
import zlib
from typing import Any, BinaryIO

from plimsoll.errors import InputError

#: How such a file begins.
GZIP = b"\x1f\x8b"


class unpacked(io.RawIOBase):  # noqa: N801 (used like a function)
    """What ``file`` holds; damage is an error that names ``source``."""

    def __init__(self, file: BinaryIO, source: str) -> None:
        self._inside = gzip.GzipFile(fileobj=file, mode="rb")
        self._source = source

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            content = self._inside.read(len(buffer))
        except (EOFError, zlib.error, gzip.BadGzipFile) as problem:
            reason = "it ends too early" if isinstance(problem, EOFError) else "its content does not fit together"
            raise InputError(f"{self._source}: the gzip file is damaged ({reason}); fetch or pack it again.") from None
        buffer[: len(content)] = content
        return len(content)
