"""Terminals as threads of the engine (`crates/terminals`): requests are drawn here ahead of their time, and carried out and timed there.

Model: a thread of the interpreter takes some tens of microseconds for each transaction, which is more than pgbench takes, and terminals
whose answers it serves wait for its turn. So it only draws: of each terminal's requests, or of all that are due, some lie ready in the
engine, whose threads carry them out over connections that libpq has opened, and record what `plimsoll.apps.recorder` would. What terminals
ask is the same as of `plimsoll.apps.order_entry.terminals.Terminals`; arrivals take turns at the terminals' places.
Limits: calls of functions over connections without encryption, since the engine speaks to the server by itself.

    load = TerminalThreads(plan, connections, retries)
    course.recorder = load.recorder(course)
    ended = course.run(load)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from time import monotonic_ns, thread_time_ns
from typing import Protocol

from plimsoll import _core
from plimsoll.apps.course import Course
from plimsoll.apps.databases.database import DatabaseError
from plimsoll.apps.order_entry.terminals import GRACE_S, STREAM, Arrivals, Desk, Plan, desks
from plimsoll.apps.recorder import Cell, Due, Phase, Recorder, Slice
from plimsoll.apps.tally import Tally
from plimsoll.orders.functions import call
from plimsoll.orders.requests import KINDS, NewOrder, Request
from plimsoll.stored import Json

#: Requests that lie ready: together, and of each terminal at least and at most.
_READY, _READY_MIN, _READY_MAX = 4096, 4, 512
_LOOK_S = 0.02

#: A request as the engine takes it: kind, pause or due instant, whether it is rolled back, and the values of its call.
_Asked = tuple[int, int, bool, tuple[int | str, ...]]


class Connections(Protocol):
    """Open connections, one for each terminal, on which the calls are prepared."""

    @property
    def files(self) -> list[int]:
        """Their sockets."""

    def problem(self, state: str, message: str, *, alive: bool) -> DatabaseError:
        """What a server said, as a sentence with its kind; without a state nothing but whether the connection lives is known."""

    def cancel(self) -> None:
        """Ask the server to end what is under way."""


class TerminalThreads:
    """`plimsoll.apps.course.Load` of every terminal; see `plimsoll.apps.order_entry.terminals.Terminals`, whose figures it has.

    ``statements`` are the names of the prepared calls by kind. ``starved_ns`` is how long terminals waited for requests, added up.
    """

    def __init__(self, plan: Plan, connections: Connections, statements: dict[str, str], retries: Counter[str]) -> None:
        self._plan = plan
        self._connections = connections
        self._places = desks(plan)
        self._open = plan.rate_per_s is not None
        self._ready = min(max(_READY // plan.terminals, _READY_MIN), _READY_MAX)
        self._threads = _core.TerminalThreads(
            connections.files,
            [statements[kind] for kind in KINDS],
            by_instants=self._open,
            low=_READY // 2 if self._open else self._ready // 2,
            stop_on_error=plan.on_error != "continue",
        )
        self._interrupted = False
        self._retries = retries
        self.counts: dict[str, Counter[str]] = {"warmup": Counter(), "measure": Counter(), "drain": Counter()}
        self.busy_ns = 0
        self.starved_ns = 0
        self._queues = [_arriving(plan, self._places)] if self._open else [_asked(plan, place) for place in self._places]
        self._fill([0] * len(self._queues))

    def recorder(self, course: Course) -> Recorder:
        """What the course of this load asks for its intervals."""
        return _Recorder(self, course)

    def carry_out(self, course: Course) -> None:
        """Draw until nothing more is to be begun; what is under way then is waited for."""
        begun_ns = thread_time_ns()
        course.ended.offered_per_s = self._plan.rate_per_s
        self._threads.begin(monotonic_ns() - course.now_ns())
        try:
            while not course.stopped:
                self._fill(self._threads.wanted(_LOOK_S))
                self._tell(course)
            over_ns = course.now_ns()
            self._threads.stop()
            course.ended.unissued = self._threads.unissued(over_ns)
            self._finish(course, over_ns)
            self._tell(course)
        finally:
            if (began_ns := self._threads.began_ns) is not None:
                course.began(began_ns)
            self.busy_ns = thread_time_ns() - begun_ns

    def interrupt(self) -> None:
        """What is under way is given some seconds."""
        self._interrupted = True

    def close(self) -> None:
        """End the threads."""
        self._threads.close()

    def _fill(self, lengths: list[int]) -> None:
        """Draw for every queue that has become short."""
        ready = _READY if self._open else self._ready
        for number, length in enumerate(lengths):
            if length <= ready // 2:
                self._threads.put(number, list(islice(self._queues[number], ready - length)))

    def _tell(self, course: Course) -> None:
        """What failed meanwhile ends the job, unless it is to go on and can."""
        for kind, state, message, alive, damaged in self._threads.failures():
            problem = DatabaseError(f"{message}; the data are damaged.") if damaged else self._problem(state, message, alive=alive)
            if self._plan.on_error != "continue" or problem.trouble in ("lost", "full", "refused"):
                course.fail(KINDS[kind], str(problem), problem.trouble)

    def _problem(self, state: str, message: str, *, alive: bool) -> DatabaseError:
        return self._connections.problem(state, message, alive=alive)

    def _finish(self, course: Course, since_ns: int) -> None:
        """Wait for what is under way; after a brake no longer than it is worth."""
        while self._threads.under_way:
            self._threads.wanted(_LOOK_S)
            if (self._interrupted or course.ended.first_error) and course.now_ns() - since_ns > GRACE_S * 1e9:
                self._threads.give_up(course.now_ns())
                self._connections.cancel()
                return

    def cut(self, phase: Phase, now_ns: int) -> Slice:
        """What the threads did since they were asked last, which was in ``phase``."""
        told = self._threads.cut(now_ns)
        ended = Slice(phase, told["start_ns"], told["end_ns"], told["busy_ns"], told["age_ns"])
        ended.lag, ended.late, ended.behind_ns = Tally(told["lag"]), told["late"], told["behind_ns"]
        counts = self.counts[phase]
        for kind, cell, ages in zip(KINDS, told["cells"], told["waiting"], strict=True):
            self._count(counts, kind, cell)
            if cell["latency"].count or cell["errors"]:
                ended.cells[STREAM, kind] = self._cell(cell)
            if ages is not None:
                ended.waiting[STREAM, kind] = Tally(ages)
        self._retries.update(told["retries"])
        if phase == "measure":
            self.starved_ns += told["starved_ns"]
        return ended

    def _cell(self, cell: Json) -> Cell:
        service = None if cell["service"] is None else Tally(cell["service"])
        found = Cell(0, cell["latency_sum_ns"], cell["service_sum_ns"], Tally(cell["latency"]), service)
        for state, count in cell["errors"].items():
            found.errors[self._problem("", "", alive=False).trouble if state == "lost" else self._trouble(state)] += count
        return found

    def _trouble(self, state: str) -> str:
        return self._problem(state, "", alive=True).trouble

    def _count(self, counts: Counter[str], kind: str, cell: Json) -> None:
        for verdict, count in (
            ("committed", cell["committed"]),
            ("rolled back", cell["rolled_back"]),
            ("failed", sum(cell["errors"].values())),
        ):
            if count:
                counts[f"{verdict} {kind}"] += count

    @property
    def first_ns(self) -> int | None:
        """When the first transaction ended."""
        return self._threads.first_ns

    def waits(self, now_ns: int) -> tuple[int, int]:
        """For how long there was no answer, and how many wait for one."""
        return self._threads.waits(now_ns)

    def give_up(self, now_ns: int) -> None:
        """What is under way will have no answer."""
        self._threads.give_up(now_ns)


class _Recorder(Recorder):
    """Intervals of what the threads of the engine recorded."""

    def __init__(self, load: TerminalThreads, course: Course) -> None:
        super().__init__(course.now_ns, course.recorder.phase)
        self._load = load
        self._now = course.now_ns

    @property
    def first_ns(self) -> int | None:
        return self._load.first_ns

    def waits(self) -> tuple[int, int]:
        return self._load.waits(self._now())

    def abandon(self) -> None:
        self._load.give_up(self._now())

    def cut(self, next_phase: Phase | None = None, due: Iterable[Due] = ()) -> Slice:
        ended = self._load.cut(self.phase, self._now())
        self._slice = Slice(next_phase or ended.phase, ended.end_ns)
        return ended


def _asked(plan: Plan, place: Desk) -> Iterator[_Asked]:
    """What a terminal asks, and how long it pauses before."""
    while True:
        kind, pause_s = place.next(plan.pauses)
        yield _encoded(kind, round(pause_s * 1e9), place.request(kind))


def _arriving(plan: Plan, places: list[Desk]) -> Iterator[_Asked]:
    """What is due, and when."""
    arrivals = Arrivals(plan)
    number = 0
    while True:
        due_ns, kind = arrivals.next()
        yield _encoded(kind, due_ns, places[number % len(places)].request(kind))
        number += 1


def _encoded(kind: str, when_ns: int, request: Request) -> _Asked:
    _, values = call(request)
    return KINDS.index(kind), when_ns, isinstance(request, NewOrder) and request.unused, values
