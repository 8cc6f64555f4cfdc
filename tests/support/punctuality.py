"""How late this machine lets a program be that has nothing to do but to wake up in time: what tests in real time are held against.

Model: a process of its own, ahead of other programs where that is allowed, sleeps for milliseconds at a time and notes how much later it
was woken. What a server is late beyond that is its own fault. For what runs at the priority of the tests themselves there is
``ahead=False``. A machine that is in time nearly always and then stands still for a second
has a small 99th percentile, and yet a single request of that second outweighs all others in a root mean square: so there are both.

    with Reference() as reference:
        ...
    reference.p50_us              # 61.6: what every wake-up costs here, also those of who asks and who is asked
    reference.p99_us              # 74.1
    reference.lost_share(0.012)   # 0.004: requests of 12 ms, one after the other, would have been 0.4 % late in the root mean square
"""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import sys
import time

SLEEP_S = 0.005


class Reference:
    """Wakes up again and again as long as the block runs; afterwards it is known how late, in microseconds."""

    p50_us = math.inf
    p99_us = math.inf
    #: Of the time of the block, how much it was woken too late by, all in all.
    late_share = 1.0
    _squares_us2 = math.inf
    _seconds = 1.0

    def __init__(self, *, ahead: bool = True) -> None:
        self._ahead = ahead

    def __enter__(self) -> Reference:
        ahead = ["chrt", "-f", "2"] if self._ahead and not os.geteuid() and shutil.which("chrt") else []
        command = [*ahead, sys.executable, __file__]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        return self

    def __exit__(self, *_: object) -> None:
        told, _nothing = self._process.communicate()
        late_us = json.loads(told)
        if late_us:
            self.p50_us, self.p99_us = (sorted(late_us)[int(len(late_us) * share)] for share in (0.5, 0.99))
            self._squares_us2 = sum(late**2 for late in late_us)
            self._seconds = len(late_us) * SLEEP_S + sum(late_us) / 1e6
            self.late_share = sum(late_us) / 1e6 / self._seconds

    def lost_share(self, request_s: float) -> float:
        """Root mean square of the lateness of requests that each take so long and leave no pause, as a share of that time."""
        return math.sqrt(self._squares_us2 / (self._seconds / request_s)) / (request_s * 1e6)


def _woken_late_us() -> float:
    before = time.monotonic()
    time.sleep(SLEEP_S)
    return (time.monotonic() - before - SLEEP_S) * 1e6


def main() -> None:
    """Until standard input is closed."""
    os.set_blocking(0, False)
    late_us: list[float] = []
    while sys.stdin.buffer.raw.read(1) is None:  # type: ignore[attr-defined]
        late_us.append(_woken_late_us())
    print(json.dumps(late_us))


if __name__ == "__main__":
    main()
