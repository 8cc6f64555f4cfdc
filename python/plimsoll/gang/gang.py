"""The gang: its whole interface to whoever measures with it, and the record of who is lost.

Model: `launch` brings the hosts up, `ready` hands each its part and waits until all could begin, `clock` compares clocks, `start` names the
common instant, `progress` tells what the hosts say until all have ended, `collect` brings copies of what they stored, `abort` ends at once.
A thread for each host asks its relay for news all the time, which is the heartbeat in both directions: a host that has not answered for
`NO_ANSWER_S` is lost. What carries the calls is the launcher's matter.
Limits: one thing at a time is asked of a gang; a host that is lost stays lost.

    gang.launch()
    gang.ready({"db1": part, "db2": part}, hear)
    gang.start(at_ns)
    for host, event in gang.progress(): ...
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any, Protocol

from plimsoll import errors
from plimsoll.errors import EngineError, PlimsollError
from plimsoll.gang.copies import fetch, fetch_files
from plimsoll.gang.line import Line, LineLost
from plimsoll.stored import Json

Hear = Callable[[str, Json], None]
#: How long a relay waits for news before it answers that there are none; each answer costs the host a millisecond and a half.
PATIENCE_S = 2.0
#: A host that has not answered for so long is lost: a load may keep every processor of a host busy for seconds.
NO_ANSWER_S = 7.0
ROUND_TRIPS = 60
_LOOK_S = 0.1


@dataclass(frozen=True)
class Offset:
    """How far a host's clock is ahead of ours, and its wall clock's distance from its monotonic one."""

    offset_ns: int
    bound_ns: int
    agree: bool
    wall_ns: int


@dataclass(frozen=True)
class Lost:
    """``why`` nothing more is heard of a host, since when on our clock."""

    why: str
    at_ns: int


class Launcher(Protocol):
    """Brings hosts up and takes them down."""

    @property
    def hosts(self) -> tuple[str, ...]:
        """Their names."""

    def launch(self) -> dict[str, Line]:
        """A line to each. Raises `EngineError` when one cannot be had."""

    def serve(self, run: str) -> Json:
        """Note the run that is measured; what run.json says of the gang."""

    def close(self, *, keep: bool) -> None:
        """Take everything down that was brought up; with ``keep`` what hosts stored stays where it is."""


def _unheard(_host: str, _event: Json) -> None:
    """Nobody listens."""


class Gang:
    """See the module."""

    def __init__(self, launcher: Launcher) -> None:
        self.hosts = launcher.hosts
        self.lost: dict[str, Lost] = {}
        self._launcher = launcher
        self._lines: dict[str, Line] = {}
        self._news: SimpleQueue[tuple[str, Json]] = SimpleQueue()
        self._numbers = itertools.count(1)
        self._closing = threading.Event()
        self._threads: list[threading.Thread] = []

    def launch(self) -> dict[str, Json]:
        """Bring the hosts up; what each says of itself."""
        self._lines = self._launcher.launch()
        for host, line in self._lines.items():
            thread = threading.Thread(target=self._listen, args=(host, line), name=f"plimsoll-host-{host}", daemon=True)
            thread.start()
            self._threads.append(thread)
        return self.ask({host: {"ask": "introduce"} for host in self.hosts})

    def ask(self, requests: Mapping[str, Json], hear: Hear = _unheard, stopped: Callable[[], bool] = bool) -> dict[str, Any]:
        """The answer of each host to its request. Raises what the first refused with, or `EngineError` for one that is lost.

        ``stopped`` is asked now and then; once it says so, the hosts are told to stop.
        """
        waiting = {host: self._send(host, request) for host, request in requests.items()}
        answers: dict[str, Any] = {}
        told_to_stop = False
        while waiting:
            self._check_lost(waiting)
            if not told_to_stop and stopped():
                told_to_stop = True
                self.abort()
            found = self._next()
            if found is None:
                continue
            host, event = found
            if event.get("id") != waiting.get(host) or event["say"] not in ("answer", "refused"):
                hear(host, event)
                continue
            del waiting[host]
            if event["say"] == "refused":
                raise refusal(host, event)
            answers[host] = event.get("value")
        return answers

    def ready(self, parts: Mapping[str, Json], hear: Hear, stopped: Callable[[], bool]) -> bool:
        """Hand each host its part; whether all of them could begin. False where one has ended, is lost, or it was stopped."""
        waiting = set(parts)
        for host, part in parts.items():
            self._send(host, part)
        while waiting:
            if stopped() or self.lost.keys() & parts.keys():
                return False
            found = self._next()
            if found is None:
                continue
            host, event = found
            if event["say"] == "ready":
                waiting.discard(host)
                continue
            hear(host, event)
            if event["say"] in ("result", "refused"):
                return False
        return True

    def hand(self, host: str, request: Json) -> int:
        """A request to one host, whose answer is `heard`, by the number that it gets here."""
        return self._send(host, request)

    def heard(self, within_s: float) -> tuple[str, Json] | None:
        """What a host says next; None where none says anything in time."""
        try:
            return self._news.get(timeout=within_s)
        except Empty:
            return None

    def serve(self, run: str) -> Json:
        """Note the run that is measured; what run.json says of the gang."""
        return self._launcher.serve(run)

    def clock(self) -> dict[str, Offset]:
        """Each host's clock against ours; hosts that are lost are left out."""
        found = {host: self._offset(host) for host in self.hosts if host not in self.lost}
        return {host: offset for host, offset in found.items() if offset is not None}

    def start(self, at_ns: int, offsets: Mapping[str, Offset]) -> None:
        """Every host begins at this instant of our clock, which each is told on its own."""
        for host, offset in offsets.items():
            told = {"at_ns": at_ns + offset.offset_ns, "offset_ns": offset.offset_ns, "offset_bound_ns": offset.bound_ns}
            self._send(host, {"ask": "begin", **told})

    def progress(self, hosts: Iterator[str] | set[str], stopped: Callable[[], bool]) -> Iterator[tuple[str, Json]]:
        """What these hosts say until each has ended or is lost; ``lost`` is said of one that is."""
        going, told_to_stop = set(hosts), False
        for host in sorted(going & self.lost.keys()):
            going.discard(host)
            yield host, {"say": "lost"}
        while going:
            if not told_to_stop and stopped():
                told_to_stop = True
                self.abort()
            found = self._next()
            if found is None:
                continue
            host, event = found
            if event["say"] in ("result", "refused", "lost"):
                going.discard(host)
            yield host, event

    def collect(self, host: str, point: str, into: str) -> None:
        """Copy what ``host`` stored of a point, its run.json among it, to the directory ``into``; `StoreError` when it cannot be kept."""
        line = self._lines[host]
        with suppress(LineLost):
            fetch(lambda verb, *arguments: line.call(verb, *arguments, within_s=NO_ANSWER_S), point, into)

    def fetch(self, host: str, folder: str, into: str) -> bool:
        """Copy the files of a directory of ``host``, below where it stores, to ``into``; whether that could be done."""
        line = self._lines[host]
        try:
            return fetch_files(lambda verb, *arguments: line.call(verb, *arguments, within_s=NO_ANSWER_S), folder, into)
        except LineLost:
            return False

    def abort(self) -> None:
        """Every host issues nothing more, waits for what is outstanding, and keeps what it measured."""
        for host in self.hosts:
            self._send(host, {"ask": "stop"})

    def close(self, *, keep: bool) -> None:
        """Let the hosts go, and take everything down."""
        for host in self.hosts:
            if host in self._lines and host not in self.lost:
                self._send(host, {"ask": "leave"})
        until_s = time.monotonic() + NO_ANSWER_S
        for thread in self._threads:
            thread.join(max(0.0, until_s - time.monotonic()))
        self._closing.set()
        for line in self._lines.values():
            line.close()
        self._launcher.close(keep=keep)

    def _send(self, host: str, request: Json) -> int:
        number = next(self._numbers)
        line = self._lines.get(host)
        if line is not None and host not in self.lost:
            with suppress(LineLost):
                line.call("send", {**request, "id": number}, within_s=NO_ANSWER_S)
        return number

    def _next(self) -> tuple[str, Json] | None:
        try:
            return self._news.get(timeout=_LOOK_S)
        except Empty:
            return None

    def _check_lost(self, hosts: Mapping[str, Any]) -> None:
        for host in hosts:
            if host in self.lost:
                raise EngineError(f"{host} is lost: {self.lost[host].why}.")

    def _offset(self, host: str) -> Offset | None:
        from plimsoll import _core

        line = self._lines[host]
        try:
            trips = line.trips(ROUND_TRIPS)
            monotonic_ns, wall_ns = line.call("clock", within_s=NO_ANSWER_S)
        except LineLost:
            return None
        found = _core.clock_offset(trips)
        return None if found is None else Offset(*found, wall_ns=int(wall_ns) - int(monotonic_ns))

    def _listen(self, host: str, line: Line) -> None:
        """The host's news into the queue, for as long as there are some."""
        seen = 0
        while not self._closing.is_set():
            try:
                found = line.call("events", seen, PATIENCE_S, within_s=NO_ANSWER_S)
            except LineLost as lost:
                self._lose(host, str(lost))
                return
            seen += len(found["events"])
            for event in found["events"]:
                self._news.put((host, event))
            if found["gone"] is not None:
                if not found["left"]:
                    self._lose(host, str(found["gone"]))
                return

    def _lose(self, host: str, why: str) -> None:
        if not self._closing.is_set():
            self.lost[host] = Lost(why, time.monotonic_ns())
            self._news.put((host, {"say": "lost"}))


def refusal(host: str, event: Json) -> PlimsollError:
    """What a host refused with, in the same kind, its name in front."""
    kind = getattr(errors, str(event.get("kind")), EngineError)
    return kind(f"{host}: {event.get('message')}") if issubclass(kind, PlimsollError) else EngineError(f"{host}: {event.get('message')}")
