"""Issues and completions of a trace brought together, in the order of the issues.

Model: an issue waits for the completion at the same target, sector and length, and for those issued before it; it passes on when all of
them are done, or when `MOST_WAITING` stand in line, since some requests never complete: those that were merged into others, and those under
way when the trace ended.
Limits: of two equal requests outstanding at once, the first to complete is taken for the first issued.

    yield from pairs.issued(request)
    yield from pairs.completed(at_ns, key)
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from plimsoll.formats.traces.request import TraceRequest

MOST_WAITING = 16_384
Key = tuple[str, int, int]


class _Waiting:
    __slots__ = ("done", "request")

    def __init__(self, request: TraceRequest) -> None:
        self.request = request
        self.done = False


class Pairs:
    """Requests whose completion is awaited. A trace that has shown no completion among so many is not kept waiting."""

    def __init__(self) -> None:
        self._line: deque[_Waiting] = deque()
        self._awaited: dict[Key, deque[_Waiting]] = {}
        self._hopeless = False
        self._seen_completion = False

    def issued(self, request: TraceRequest) -> Iterator[TraceRequest]:
        """A request went to the device; whatever may pass on now."""
        if self._hopeless:
            yield request
            return
        waiting = _Waiting(request)
        self._line.append(waiting)
        if request.op == "flush":
            # A flush has no address to find its completion by; it only keeps its place.
            waiting.done = True
            yield from self._pass_on()
        else:
            self._awaited.setdefault(_key(request), deque()).append(waiting)
        if len(self._line) > MOST_WAITING:
            self._hopeless = not self._seen_completion
            yield from self.ended() if self._hopeless else self._first_gives_up()

    def completed(self, at_ns: int, key: Key) -> Iterator[TraceRequest]:
        """A request came back; whatever may pass on now."""
        self._seen_completion = True
        queue = self._awaited.get(key)
        if queue:
            waiting = queue.popleft()
            if not queue:
                del self._awaited[key]
            issued_ns = waiting.request.at_ns or 0
            waiting.request = waiting.request._replace(service_ns=max(0, at_ns - issued_ns))
            waiting.done = True
            yield from self._pass_on()

    def ended(self) -> Iterator[TraceRequest]:
        """The trace is over."""
        while self._line:
            yield self._line.popleft().request
        self._awaited.clear()

    def _first_gives_up(self) -> Iterator[TraceRequest]:
        first = self._line[0]
        queue = self._awaited.get(_key(first.request))
        if queue and queue[0] is first:
            queue.popleft()
            if not queue:
                del self._awaited[_key(first.request)]
        first.done = True
        yield from self._pass_on()

    def _pass_on(self) -> Iterator[TraceRequest]:
        while self._line and self._line[0].done:
            yield self._line.popleft().request


def _key(request: TraceRequest) -> Key:
    return request.target, request.offset, request.length
