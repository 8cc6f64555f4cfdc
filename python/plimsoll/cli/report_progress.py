"""What is said while a report is drawn: of hundreds of points that takes seconds, in which nothing else is to be seen.

Model: on a terminal, one line that is written anew and removed at the end; elsewhere nothing, since the report's name follows.

    with DrawnPoints() as heard:
        html.write(runs, path, heard=heard)
"""

from __future__ import annotations

import sys
import time

from plimsoll.cli.streams import bare

#: What is drawn sooner is not announced.
_AFTER_S = 0.5
_EVERY_S = 0.2


class DrawnPoints:
    """Counts points on stderr."""

    def __init__(self) -> None:
        self._shows = sys.stderr.isatty()
        self._next_s = time.monotonic() + _AFTER_S
        self._width = 0

    def __enter__(self) -> DrawnPoints:
        return self

    def __call__(self, drawn: int, total: int) -> None:
        now_s = time.monotonic()
        if not self._shows or now_s < self._next_s:
            return
        self._next_s = now_s + _EVERY_S
        text = f"drawing the report: {drawn:,} of {total:,} points"
        self._width = len(text)
        self._write(f"\r{text}")

    def __exit__(self, *_: object) -> None:
        if self._width:
            self._write(f"\r{' ' * self._width}\r")

    def _write(self, text: str) -> None:
        stream = bare(sys.stderr)
        stream.write(text)
        stream.flush()
