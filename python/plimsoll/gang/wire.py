"""Messages between the processes of a gang on one host: a line of JSON each, over a socket that only its user can open.

with connected("/run/x/worker.sock") as wire:
    wire.send({"ask": "leave"})
    wire.received()          # the next message, None when the other end has gone
"""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from contextlib import suppress
from types import TracebackType
from typing import Self

from plimsoll.stored import Json

#: How often somebody who is not there yet is tried again.
_TRY_S = 0.02
#: Who waits for a message hears of the end at once.
_HEARD_S = 5.0


class Wire:
    """One end of a connection; any thread may send, one receives."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._lines = connection.makefile("rb")
        self._sending = threading.Lock()
        self._receiving = threading.Lock()

    def send(self, message: Json) -> None:
        """Raises `OSError` when the other end has gone."""
        with self._sending:
            self._connection.sendall(json.dumps(message, separators=(",", ":")).encode() + b"\n")

    def received(self, within_s: float | None = None) -> Json | None:
        """The next message; None when the other end has gone. Raises `TimeoutError` when none comes ``within_s``."""
        with self._receiving:
            try:
                self._connection.settimeout(within_s)
                line = self._lines.readline()
            except TimeoutError:
                raise
            except (OSError, ValueError):
                return None
            if not line.endswith(b"\n"):
                # The connection is given back once what reads from it is closed, too.
                self._lines.close()
                return None
        message: Json = json.loads(line)
        return message

    def close(self) -> None:
        """Whoever waits here or there hears of it."""
        with suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR)
        # Only whoever reads may close what reads; that one has just heard of the end.
        if self._receiving.acquire(timeout=_HEARD_S):
            with suppress(OSError):
                self._lines.close()
            self._receiving.release()
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _kind: type[BaseException] | None, _problem: BaseException | None, _trace: TracebackType | None) -> None:
        self.close()


def listening(path: str) -> socket.socket:
    """A socket at ``path`` that connections come to; nobody but its user can open it."""
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)
    try:
        server.bind(path)
    finally:
        os.umask(before)
    server.listen(16)
    return server


def connected(path: str, patience_s: float = 30.0) -> Wire:
    """A connection to who listens at ``path``, or will within ``patience_s``."""
    until_s = time.monotonic() + patience_s
    while True:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.connect(path)
        except OSError:
            connection.close()
            if time.monotonic() >= until_s:
                raise
            time.sleep(_TRY_S)
        else:
            return Wire(connection)
