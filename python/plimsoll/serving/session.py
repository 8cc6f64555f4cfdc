"""A session of serving, as the command sees it: started, asked for reports, stopped.

Model: two pipes lead to whatever runs the array, one for commands and one for its replies, a JSON object per line
(`crates/serve/src/session.rs`). When the pipe for commands closes, the session ends, so nothing is left behind when this process dies.
Limits: its replies are read when they are asked for; the pipe holds some hundred reports.

    serving = Serving.start(ServedArray(document, {"kind": "derived"}, sockets=[unix_socket("./array.sock")]))
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

from plimsoll.engine.block import native
from plimsoll.errors import EngineError, InputError, TargetError
from plimsoll.serving.endpoints import guarded, tell_guard
from plimsoll.stored import Json

#: Building a large array and mounting it takes less.
_START_S = 60.0
#: Answers that are due within this are still given; syncing a file may take longer and is waited for.
_STOP_S = 120.0


@dataclass(frozen=True)
class ServedArray:
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

    commands: int
    replies: int
    _alive: int
    _thread: threading.Thread
    size_bytes: int = 0
    _read: bytes = b""
    _received: list[Json] = field(default_factory=list)
    _guard: subprocess.Popen[bytes] | None = None

    @classmethod
    def start(cls, wanted: ServedArray) -> Serving:
        """Start it and wait until it serves; a `PlimsollError` in one sentence when it cannot."""
        commands_read, commands = os.pipe()
        replies, replies_write = os.pipe()
        server, alive = os.pipe()
        request = {"array": wanted.array, "seed": wanted.seed, "data": wanted.data, "mount": wanted.mount, "depth": wanted.depth}
        # These descriptors belong to the engine from here on.
        request |= {"sockets": [os.dup(bound.fileno()) for bound in wanted.sockets], "orders_fd": commands_read, "words_fd": replies_write}
        guard = None if wanted.mount is None else guarded(wanted.mount, server)
        os.close(server)
        thread = threading.Thread(target=native().serve_array, args=(request,), name="plimsoll-serve", daemon=True)
        thread.start()
        serving = cls(commands, replies, alive, thread, _guard=guard)
        serving._await_ready()
        if wanted.mount is not None:
            tell_guard(wanted.mount, alive)
        return serving

    def report(self) -> Json:
        """What was served so far."""
        self._command(b"report\n")
        reply = self._next(_START_S)
        self._check(reply)
        report: Json = reply["report"]
        return report

    def stop(self) -> Json:
        """End it, unmount, and give the last report."""
        self._command(b"stop\n")
        reply = self._next(_STOP_S)
        while reply.get("kind") == "report":
            reply = self._next(_STOP_S)
        self._check(reply)
        self._close()
        report: Json = reply["report"]
        return report

    def has_ended(self) -> bool:
        """Whether it has ended by itself."""
        return not self._thread.is_alive()

    def _command(self, line: bytes) -> None:
        # Where it has ended already, what it said last is still to be read.
        with suppress(BrokenPipeError):
            os.write(self.commands, line)

    def _await_ready(self) -> None:
        reply = self._next(_START_S)
        self._check(reply)
        self.size_bytes = reply["size_bytes"]

    def _check(self, reply: Json) -> None:
        if reply.get("kind") == "error":
            self._close()
            raise (InputError if reply.get("input") else TargetError)(reply["text"])
        if not reply:
            self._close()
            raise EngineError("the server has ended without a word; start it again, and report it if it does so twice.")

    def _next(self, seconds: float) -> Json:
        """The next reply; empty when it has ended, or sends none for so long."""
        if not self._received:
            self._receive(seconds)
        return self._received.pop(0) if self._received else {}

    def _receive(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while not self._received and (left := until - time.monotonic()) > 0:
            if not select.select([self.replies], [], [], left)[0]:
                return
            piece = os.read(self.replies, 1 << 16)
            if not piece:
                return
            *lines, self._read = (self._read + piece).split(b"\n")
            self._received += map(json.loads, lines)

    def _close(self) -> None:
        os.close(self.commands)
        os.close(self.replies)
        os.close(self._alive)
        if self._guard is not None:
            self._guard.wait()
