"""Kills private servers while users work, and starts them again: what is under way then is cut off, as by the kernel's killer or a crash.

Model: from the start of the load on, a server is killed with all its processes (SIGKILL) after a pause, and started again at once. With
both, it is now one, now the other. What lies in Postfix's queue at that instant is noted: its delivery may have been done without
anybody knowing, so such a letter may come once more.
Limits: the host goes on, so what was written and not synced survives; docs/power-cut.md is about the rest.

    killing = Killing(server, "both", every_s=3.0, run="18c9f2")
    killing.begin()
    killing.end()                    # raises what went wrong
    killing.kills, killing.again     # [{"server": "postfix", "at_s": 3.0, "down_s": 0.4, "queued": 2}], {17: 1}
"""

from __future__ import annotations

import os
import re
import threading
import time
from collections import Counter
from contextlib import suppress
from itertools import cycle
from typing import Protocol

from plimsoll.engine.mail import native_mail
from plimsoll.errors import PlimsollError
from plimsoll.stored import Json

_HEAD_BYTES = 262_144


class Killable(Protocol):
    """A server of which parts can be killed and started again."""

    @property
    def queue(self) -> str: ...

    @property
    def names(self) -> list[str]: ...

    def kill(self, name: str) -> None: ...

    def revive(self, name: str) -> None: ...


class Killing:
    """See the module. ``which`` is one of the words of the option ``kill``."""

    def __init__(self, server: Killable, which: str, every_s: float, run: str) -> None:
        self.kills: list[Json] = []
        #: How often a letter lay in the queue when a server was killed.
        self.again: Counter[int] = Counter()
        self._server, self._which, self._every_s, self._run = server, which, every_s, run
        self._over = threading.Event()
        self._thread: threading.Thread | None = None
        self._failed: PlimsollError | None = None

    def begin(self) -> None:
        """The load has begun."""
        self._thread = threading.Thread(target=self._work, args=(time.monotonic(),), name="plimsoll-killing", daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Kill no more; all servers run. Raises where one did not come back."""
        self._over.set()
        if self._thread is not None:
            self._thread.join()
        if self._failed is not None:
            raise self._failed

    def _work(self, begun: float) -> None:
        running = self._server.names
        # Without Postfix, letters are taken by Dovecot.
        names = cycle([name for name in running if self._which in (name, "both")] or running)
        while not self._over.wait(self._every_s):
            name, at_s = next(names), time.monotonic() - begun
            try:
                self._server.kill(name)
                queued = queued_letters(self._server.queue, self._run)
                self.again.update(queued)
                self._server.revive(name)
            except PlimsollError as problem:
                self._failed = problem
                return
            down_s = time.monotonic() - begun - at_s
            self.kills.append({"server": name, "at_s": at_s, "down_s": down_s, "queued": len(queued)})


def queued_letters(queue: str, run: str) -> set[int]:
    """The numbers of the letters of ``run`` that lie in a queue of Postfix; none where there is no queue."""
    marked, found = re.compile(re.escape(native_mail().mark).encode() + rb": " + run.encode() + rb" (\d+) "), set()
    for part in ("maildrop", "incoming", "active", "deferred", "hold"):
        for folder, _, names in os.walk(os.path.join(queue, part)):
            for name in names:
                with suppress(OSError), open(os.path.join(folder, name), "rb") as file:
                    letter = marked.search(file.read(_HEAD_BYTES))
                    if letter is not None:
                        found.add(int(letter[1]))
    return found
