"""The lines of a file that another process is still writing: those that have come since the last look, and the newest of them.

tail = Tail("…/intervals.jsonl", Interval, keep=480)
tail.read()                      # what is new; a torn last line is waited for
tail.lines                       # the newest `keep`
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from plimsoll.store.document import line_value


class Tail:
    """The newest lines of a file that grows."""

    def __init__(self, path: str, kind: Any, keep: int) -> None:
        self._path = path
        self._kind = kind
        self._read_bytes = 0
        self._rest = b""
        self.lines: deque[Any] = deque(maxlen=keep)

    def read(self) -> list[Any]:
        """The lines that have come since the last time; a torn last one is waited for."""
        found = list(self._come())
        self.lines.extend(found)
        return found

    def _come(self) -> Iterator[Any]:
        with suppress(FileNotFoundError), open(self._path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as file:
            file.seek(self._read_bytes)
            come = file.read()
            self._read_bytes += len(come)
            *whole, self._rest = (self._rest + come).split(b"\n")
            for line in whole:
                yield line_value(line, self._path, self._kind)
