"""What is said of a target that gives no answer before there is a run to say it.

plimsoll: no answer from /mnt/dead/file for 5 s
"""

from __future__ import annotations

import sys

from plimsoll.displayed import displayed_in_line

#: Seconds between two lines about one silence.
LINE_EVERY_S = 10.0


class Silence:
    """Says so on stderr: at once, and then now and then."""

    def __init__(self) -> None:
        self._last: tuple[str, float] = ("", 0.0)

    def __call__(self, target: str, seconds: float) -> None:
        last, said_s = self._last
        if target == last and said_s <= seconds < said_s + LINE_EVERY_S:
            return
        self._last = (target, seconds)
        print(f"plimsoll: no answer from {displayed_in_line(target)} for {seconds:.0f} s (Ctrl-C ends this)", file=sys.stderr, flush=True)
