"""What lies in Postfix's queue while users work, and how long letters were on their way.

Model: the queue is counted several times a second. Postfix writes to its log of every delivery how long it took from the letter's first
byte to Dovecot's answer that it is in the mailbox, in microseconds, and of what: until it was queued, in the queue, connecting, and
handing over. A file that Postfix still writes is no letter that it has taken: only when all of it is on the disk does Postfix let its owner
execute it, and then it says so to the sender. A Postfix that is killed in between leaves such a file for ever.
Limits: deliveries that a killed Postfix could not write down are in the mailbox and not here.

    taken("/mnt/array/mail/mail/postfix/queue")        # 3
    watch = QueueWatch(server.queued); watch.begin(); watch.end()
    watch.to_json()                                    # {"mean": 3.1, "max": 12, "course": [[0.25, 2], …]}
    deliveries("/mnt/array/mail/mail/postfix/maillog").to_json(60.0)
"""

from __future__ import annotations

import os
import re
import stat
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import field

from plimsoll.records import dataclass
from plimsoll.stored import Json

#: Where letters lie, from taken to put off.
_FOLDERS = ("maildrop", "incoming", "active", "deferred", "hold")
_EVERY_S = 0.25
#: Counts that are kept; when there are as many, every other one goes.
_COUNTS_MAX = 400
_SENT = re.compile(rb" delay=([\d.]+), delays=([\d.]+)/([\d.]+)/([\d.]+)/([\d.]+), dsn=[\d.]+, status=(\w+)")
_PUT_OFF = re.compile(rb" status=deferred \((.*)\)")
_PERCENTILES = {"p50": 0.50, "p95": 0.95, "p99": 0.99, "max": 1.0}


def taken(queue: str) -> int:
    """How many letters are in a queue of Postfix's, without those that it is still writing or never wrote to their end."""
    count = 0
    for name in _FOLDERS:
        for folder, _, files in os.walk(os.path.join(queue, name)):
            count += sum(_whole(os.path.join(folder, file)) for file in files)
    return count


def _whole(path: str) -> bool:
    """Whether all of a letter is there; one that moved on since it was seen was whole."""
    try:
        return bool(os.stat(path).st_mode & stat.S_IXUSR)
    except FileNotFoundError:
        return True


class QueueWatch:
    """Counts what ``queued`` says, in a thread of its own."""

    def __init__(self, queued: Callable[[], int]) -> None:
        self._queued = queued
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._work, name="plimsoll-queue", daemon=True)
        self._course: list[tuple[float, int]] = []
        self._sum = self._count = self._max = 0

    def begin(self) -> None:
        """Users begin to work."""
        self._thread.start()

    def end(self) -> None:
        """They have ended."""
        self._over.set()
        if self._thread.is_alive():
            self._thread.join()

    def to_json(self) -> Json:
        """Mean and maximum, and the course: seconds from the start, letters."""
        mean = self._sum / self._count if self._count else 0.0
        return {"mean": mean, "max": self._max, "course": [list(each) for each in self._course]}

    def _work(self) -> None:
        begun, every = time.monotonic(), 1
        while not self._over.wait(_EVERY_S):
            count = self._queued()
            self._sum, self._count, self._max = self._sum + count, self._count + 1, max(self._max, count)
            if self._count % every == 0:
                self._course.append((round(time.monotonic() - begun, 3), count))
            if len(self._course) == _COUNTS_MAX:
                del self._course[::2]
                every *= 2


@dataclass
class Deliveries:
    """How long deliveries took, in seconds, and what they spent it on, summed; attempts that were put off, and letters sent back."""

    seconds: list[float] = field(default_factory=list)
    parts: list[float] = field(default_factory=lambda: [0.0] * 4)
    deferred: int = 0
    bounced: int = 0

    def to_json(self, seconds: float) -> Json:
        """``seconds`` is how long they came."""
        found = sorted(self.seconds)
        if not found:
            return {"count": 0, "per_s": 0.0, "deferred": self.deferred, "bounced": self.bounced}
        at = {name: found[min(len(found) - 1, round(share * len(found)))] * 1e3 for name, share in _PERCENTILES.items()}
        names = ("taking", "queued", "connecting", "storing")
        return {
            "count": len(found),
            "per_s": len(found) / seconds if seconds > 0 else 0.0,
            "delay_ms": {"mean": sum(found) / len(found) * 1e3, **at},
            "mean_ms": {name: part / len(found) * 1e3 for name, part in zip(names, self.parts, strict=True)},
            "deferred": self.deferred,
            "bounced": self.bounced,
        }


def put_off(log: str) -> str | None:
    """Why Postfix put the last delivery off that it put off, in its own words; None where it did not."""
    reason = None
    with suppress(FileNotFoundError), open(log, "rb") as file:
        for line in file:
            said = _PUT_OFF.search(line)
            reason = said[1].decode("utf-8", "replace") if said is not None else reason
    return reason


def deliveries(log: str, start: int = 0) -> Deliveries:
    """What Postfix's log says from a byte on."""
    found = Deliveries()
    with suppress(FileNotFoundError), open(log, "rb") as file:
        file.seek(start)
        for line in file:
            said = _SENT.search(line)
            if said is None:
                continue
            if said[6] == b"sent":
                found.seconds.append(float(said[1]))
                found.parts = [part + float(said[place]) for place, part in enumerate(found.parts, start=2)]
            elif said[6] == b"deferred":
                found.deferred += 1
            elif said[6] == b"bounced":
                found.bounced += 1
    return found
