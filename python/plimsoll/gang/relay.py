"""Beside a worker on its host: hands requests on to it, and keeps what it says until that is asked for.

Model: the engine that carries a gang moves calls, one question and one answer; a worker speaks when it has something to say. A relay is
between them: `events` waits a moment for news, so that being asked all the time is also how both ends know of each other. It reads
the host's clocks, which are the worker's, too. Every question is noted in a file (`LEASE`), by whose age the host knows for how long nobody
has asked.
Limits: a relay imports nothing that measures. What ended a worker is read from the file that its keeper writes (`ENDED`).

    relay = Relay("/home/u/.local/state/plimsoll/gangs/x/db1")
    relay.send({"ask": "leave"})
    relay.events(0, 0.5)                  # {"events": [{"say": "left"}], "gone": None}
"""

from __future__ import annotations

import json
import os
import threading
import time
from contextlib import suppress

from plimsoll.gang.copies import files_of, piece_of
from plimsoll.gang.exposure import open_to_strangers
from plimsoll.gang.nest import ENDED, LEASE, SOCKET, SPECIFICATION
from plimsoll.gang.wire import connected
from plimsoll.stored import Json

#: How long a keeper may take to say what ended a worker.
_SAID_S = 1.0


class Relay:
    """See the module; ``folder`` is the worker's."""

    def __init__(self, folder: str, patience_s: float = 30.0) -> None:
        self._folder = folder
        self._wire = connected(os.path.join(folder, SOCKET), patience_s)
        self._news = threading.Condition()
        self._events: list[Json] = []
        self._dropped = 0
        self._gone: str | None = None
        self._left = False
        threading.Thread(target=self._listen, name="plimsoll-relay", daemon=True).start()

    def send(self, request: Json) -> None:
        """Hand a request on; one for a worker that is gone is lost, which `events` tells."""
        self._renew()
        with suppress(OSError):
            self._wire.send(request)

    def events(self, after: int, patience_s: float) -> Json:
        """What the worker has said since its first ``after`` messages; at once when there is some, else when ``patience_s`` are over."""
        self._renew()
        with self._news:
            del self._events[: max(0, after - self._dropped)]
            self._dropped = max(self._dropped, after)
            if not self._events and self._gone is None:
                self._news.wait(patience_s)
            return {"events": list(self._events), "gone": self._gone, "left": self._left}

    def clock(self) -> tuple[int, int]:
        """The host's monotonic clock and its wall clock, in nanoseconds."""
        return time.monotonic_ns(), time.time_ns()

    def files(self, path: str) -> list[tuple[str, int]]:
        """The files in a directory below where the worker stores, with their sizes."""
        return files_of(self._store(), path)

    def piece(self, path: str, offset: int) -> str:
        """A piece of one of them, in base64."""
        self._renew()
        return piece_of(self._store(), path, offset)

    def open_to_strangers(self) -> list[str]:
        """Where this host would answer somebody who has no certificate of the gang."""
        name = os.uname().nodename
        return [f"{address} of {name}" for address in open_to_strangers(os.path.dirname(self._folder))]

    def close(self) -> None:
        """Let the worker go."""
        self._wire.close()

    def _listen(self) -> None:
        while (message := self._wire.received()) is not None:
            with self._news:
                self._events.append(message)
                self._left = self._left or message.get("say") == "left"
                self._news.notify_all()
        why = "it left" if self._left else ended(self._folder)
        with self._news:
            self._gone = why
            self._news.notify_all()

    def _store(self) -> str:
        with open(os.path.join(self._folder, SPECIFICATION), encoding="utf-8") as file:
            return str(json.load(file)["store"])

    def _renew(self) -> None:
        with suppress(OSError):
            os.utime(os.path.join(self._folder, LEASE))


def ended(folder: str) -> str:
    """What ended the worker of ``folder``, as its keeper saw it."""
    until_s = time.monotonic() + _SAID_S
    while time.monotonic() < until_s:
        with suppress(OSError, ValueError, KeyError), open(os.path.join(folder, ENDED), encoding="utf-8") as file:
            return str(json.load(file)["how"])
        time.sleep(0.01)
    return "its worker ended, and nobody saw how"
