"""A session of serving, as the command sees it: started, asked for reports, stopped.

Model: two pipes lead to whatever runs the array, one for orders and one for its words, a JSON object per line
(`crates/serve/src/session.rs`). When the pipe for orders closes, the session ends, so nothing is left behind when this process dies.
Limits: its words are read when they are asked for; the pipe holds some hundred reports.

    serving = Serving.start(Wanted(document, {"kind": "derived"}, sockets=[unix_socket("./array.sock")]))
    serving.report()
    final = serving.stop()
"""

from __future__ import annotations

import json
import os
import select
import socket
import subprocess
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from plimsoll.engine import native
from plimsoll.errors import EngineError, InputError, TargetError
from plimsoll.serving.endpoints import guarded

Json = dict[str, Any]

#: Building a large array and mounting it takes less.
_START_S = 60.0
#: Answers that are due within this are still given; syncing a file may take longer and is waited for.
_STOP_S = 120.0


@dataclass(frozen=True)
class Wanted:
    """What is to be served, and where."""

    array: Json
    data: Json
    seed: int = 1
    mount: str | None = None
    sockets: Sequence[socket.socket] = ()
    #: How many requests of one connection the array sees at once.
    depth: int = 64


@dataclass
class Serving:
    """A session that runs."""

    orders: int
    words: int
    _alive: int
    _thread: threading.Thread
    size_bytes: int = 0
    _read: bytes = b""
    _heard: list[Json] = field(default_factory=list)
    _guard: subprocess.Popen[bytes] | None = None

    @classmethod
    def start(cls, wanted: Wanted) -> Serving:
        """Start it and wait until it serves; a `PlimsollError` in one sentence when it cannot."""
        orders_read, orders = os.pipe()
        words, words_write = os.pipe()
        server, alive = os.pipe()
        request = {"array": wanted.array, "seed": wanted.seed, "data": wanted.data, "mount": wanted.mount, "depth": wanted.depth}
        # These descriptors belong to the engine from here on.
        request |= {"sockets": [os.dup(bound.fileno()) for bound in wanted.sockets], "orders_fd": orders_read, "words_fd": words_write}
        thread = threading.Thread(target=native().serve_array, args=(request,), name="plimsoll-serve", daemon=True)
        thread.start()
        serving = cls(orders, words, alive, thread)
        serving._await_ready()
        if wanted.mount is not None:
            serving._guard = guarded(wanted.mount, server)
        os.close(server)
        return serving

    def report(self) -> Json:
        """What was served so far."""
        self._order(b"report\n")
        word = self._next(_START_S)
        self._check(word)
        report: Json = word["report"]
        return report

    def stop(self) -> Json:
        """End it, unmount, and give the last report."""
        self._order(b"stop\n")
        word = self._next(_STOP_S)
        while word.get("kind") == "report":
            word = self._next(_STOP_S)
        self._check(word)
        self._close()
        report: Json = word["report"]
        return report

    def has_ended(self) -> bool:
        """Whether it has ended by itself."""
        return not self._thread.is_alive()

    def _order(self, line: bytes) -> None:
        # Where it has ended already, what it said last is still to be read.
        with suppress(BrokenPipeError):
            os.write(self.orders, line)

    def _await_ready(self) -> None:
        word = self._next(_START_S)
        self._check(word)
        self.size_bytes = word["size_bytes"]

    def _check(self, word: Json) -> None:
        if word.get("kind") == "error":
            self._close()
            raise (InputError if word.get("input") else TargetError)(word["text"])
        if not word:
            self._close()
            raise EngineError("the server has ended without a word; start it again, and report it if it does so twice.")

    def _next(self, seconds: float) -> Json:
        """The next thing it says; empty when it has ended, or says nothing for so long."""
        if not self._heard:
            self._hear(seconds)
        return self._heard.pop(0) if self._heard else {}

    def _hear(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while not self._heard and (left := until - time.monotonic()) > 0:
            if not select.select([self.words], [], [], left)[0]:
                return
            piece = os.read(self.words, 1 << 16)
            if not piece:
                return
            *lines, self._read = (self._read + piece).split(b"\n")
            self._heard += map(json.loads, lines)

    def _close(self) -> None:
        os.close(self.orders)
        os.close(self.words)
        os.close(self._alive)
        if self._guard is not None:
            self._guard.wait()
