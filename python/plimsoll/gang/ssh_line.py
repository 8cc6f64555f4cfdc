"""A line through ssh alone: calls to what attends on the host (`plimsoll.gang.attendant`), several at a time, over one connection.

Model: requests are numbered; a thread reads answers and hands each to who waits for it. When ssh ends, whoever waits hears of it at once;
where a cable was cut, nobody says so, and every call has its time.

    line = SshLine(talk)
    line.call("events", 0, 0.25, within_s=7.0)
"""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Any

from plimsoll.gang.line import LineLost, Trip, round_trips
from plimsoll.gang.talk import Talk
from plimsoll.stored import Json

_ENDED = "the connection to it ended"


class SshLine:
    """See the module; ``why`` is asked when the connection has ended, for what is known of that."""

    def __init__(self, talk: Talk, why: Callable[[], str | None] = lambda: None) -> None:
        self._talk = talk
        self._why = why
        self._numbers = itertools.count(1)
        self._waiting: dict[int, SimpleQueue[Json | None]] = {}
        self._lock = threading.Lock()
        self._ended = False
        threading.Thread(target=self._listen, name=f"plimsoll-line-{talk.seat.name}", daemon=True).start()

    def call(self, verb: str, *arguments: Any, within_s: float) -> Any:
        answers: SimpleQueue[Json | None] = SimpleQueue()
        number = next(self._numbers)
        with self._lock:
            self._waiting[number] = answers
        try:
            if self._ended:
                raise LineLost(self._why() or _ENDED)
            self._send({"id": number, "verb": verb, "arguments": arguments})
            answer = answers.get(timeout=within_s)
        except Empty:
            raise LineLost(f"it has not answered for {within_s:.0f} s") from None
        finally:
            with self._lock:
                self._waiting.pop(number, None)
        if answer is None:
            raise LineLost(self._why() or _ENDED)
        if "failed" in answer:
            raise OSError(answer["failed"])
        return answer["value"]

    def trips(self, count: int) -> list[Trip]:
        return round_trips(lambda: self.call("clock", within_s=7.0), count)

    def close(self) -> None:
        self._talk.close()

    def _send(self, request: Json) -> None:
        data = json.dumps(request, separators=(",", ":")).encode() + b"\n"
        with self._lock:
            try:
                self._talk.write(data)
            except OSError:
                raise LineLost(self._why() or _ENDED) from None

    def _listen(self) -> None:
        while (line := self._talk.line()) is not None:
            answer = json.loads(line)
            with self._lock:
                waiting = self._waiting.get(answer["id"])
            if waiting is not None:
                waiting.put(answer)
        with self._lock:
            self._ended = True
            for waiting in self._waiting.values():
                waiting.put(None)
