"""Terminals at work: what each asks for and when, over whatever carries transactions out.

Model: one thread serves every terminal. Closed, a terminal asks, waits for its answer, and asks again, with the pauses of a user between
where there are any: he types the inputs in, asks, and thinks. Open, transactions are due at instants of their own (at random, or evenly),
and each goes to the terminal that has been free for longest; while none is, what is due waits, and its latency counts from when it was due.
Terminals stay at their warehouse: the first at the first, and on from the beginning once every warehouse has one.
Limits: what one thread can start is the bound of one process, some ten thousand transactions a second; its processor time is in the result.

    load = Terminals(plan, sessions)
    ended = course.run(load)
    load.counts["measure"]["committed new-order"]
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from math import log
from time import thread_time_ns
from typing import Literal, NamedTuple, Protocol

from plimsoll.apps.course import Course
from plimsoll.apps.databases.database import DatabaseError
from plimsoll.apps.recorder import Call, Due, Recorder
from plimsoll.orders.draws import Constants, Draws
from plimsoll.orders.population import SEED
from plimsoll.orders.requests import NEW_ORDER, Clerk, Deck, Request
from plimsoll.orders.scale import DISTRICTS, Scale

#: The stream that transactions are recorded under.
STREAM = "orders"
#: How long nothing is looked at besides, at most, in seconds.
_LOOK_S = 0.1
#: How long what is under way may take to end once a brake was pulled, in seconds.
GRACE_S = 5.0

Verdict = Literal["committed", "rolled back", "failed"]


class Ending(NamedTuple):
    """What became of a terminal's transaction; ``problem`` says why it failed."""

    terminal: int
    verdict: Verdict
    problem: DatabaseError | None = None


class Sessions(Protocol):
    """What carries transactions out, one at a time for each terminal. Used by one thread."""

    def submit(self, terminal: int, request: Request) -> None:
        """Begin a transaction; what it ends with comes from `wait`."""

    def wait(self, seconds: float) -> Sequence[Ending]:
        """The transactions that have ended, once there is one, or none after so long."""

    def abandon(self) -> None:
        """End what is under way without waiting for it."""


@dataclass(frozen=True)
class Plan:
    """What terminals do. ``pauses`` multiplies the keying and thinking times of the specification; ``rate_per_s`` new orders are due each
    second, None where terminals wait for their answers. ``on_error`` is the option of the job. ``first`` is the number of the first
    terminal where others have those before it, and ``constants_seed`` the seed that all of them have in common."""

    scale: Scale
    mix: Mapping[str, float]
    terminals: int
    seed: int
    pauses: float = 0.0
    arrival: str = "closed"
    rate_per_s: float | None = None
    on_error: str = "stop"
    first: int = 0
    constants_seed: int | None = None

    @property
    def constants(self) -> Constants:
        """What non-uniform draws have in common: of all terminals of a run, wherever they stand."""
        seed = self.seed if self.constants_seed is None else self.constants_seed
        return Constants.of_run(seed, Constants.of_database(SEED))

    @property
    def all_per_s(self) -> float:
        """Transactions of every kind that are due each second."""
        return (self.rate_per_s or 0.0) * sum(self.mix.values()) / self.mix[NEW_ORDER]


class Desk:
    """Where a terminal stands, and its draws: what it asks, in an order that depends on nothing but the seed."""

    __slots__ = ("clerk", "deck", "district", "kind", "warehouse")

    def __init__(self, plan: Plan, constants: Constants, number: int) -> None:
        self.warehouse = number % plan.scale.warehouses + 1
        self.district = number // plan.scale.warehouses % DISTRICTS + 1
        self.clerk = Clerk(plan.scale, constants, Draws(plan.seed, "terminal", number))
        self.deck = Deck(plan.mix, Draws(plan.seed, "deck", number), dealt=True)
        self.kind = ""

    def next(self, pauses: float) -> tuple[str, float]:
        """The next transaction, and for how many seconds its user thinks of the last answer and types before he asks."""
        thought_s = self.clerk.thinking_s(self.kind) if self.kind and pauses else 0.0
        self.kind = self.deck.next()
        return self.kind, pauses * (thought_s + self.clerk.keying_s(self.kind))

    def request(self, kind: str) -> Request:
        """What is asked for."""
        return self.clerk.request(kind, self.warehouse, self.district)


def desks(plan: Plan) -> list[Desk]:
    """Where each terminal of a plan stands."""
    constants = plan.constants
    return [Desk(plan, constants, plan.first + number) for number in range(plan.terminals)]


class Arrivals:
    """Which transactions are due when, in nanoseconds from the start of the job."""

    def __init__(self, plan: Plan) -> None:
        self._draws = Draws(plan.seed, "arrivals")
        self._deck = Deck(plan.mix, self._draws, dealt=False)
        self._per_s = plan.all_per_s
        self._drawn = plan.arrival == "poisson"
        self.next_ns = 0
        self._step()

    def next(self) -> tuple[int, str]:
        """The next: when, and of which kind."""
        due_ns, kind = self.next_ns, self._deck.next()
        self._step()
        return due_ns, kind

    def _step(self) -> None:
        gap = -log(1.0 - self._draws.random()) if self._drawn else 1.0
        self.next_ns += round(gap / self._per_s * 1e9)


class _Terminal:
    """One terminal: its place, and what it does."""

    __slots__ = ("call", "free_ns", "place")

    def __init__(self, place: Desk) -> None:
        self.place = place
        self.call: Call | None = None
        self.free_ns = 0


class Terminals:
    """`plimsoll.apps.course.Load` of every terminal. ``counts`` are what transactions ended with, by phase; ``busy_ns`` the processor time
    of the thread that serves them."""

    def __init__(self, plan: Plan, sessions: Sessions) -> None:
        self._plan = plan
        self._sessions = sessions
        self._terminals = [_Terminal(desk) for desk in desks(plan)]
        self._under_way = 0
        self._interrupted = False
        self.counts: dict[str, Counter[str]] = {"warmup": Counter(), "measure": Counter(), "drain": Counter()}
        self.busy_ns = 0
        #: Nobody waits for requests here: they are drawn when they are due.
        self.starved_ns = 0

    def recorder(self, course: Course) -> Recorder:
        """The course's own, which is told of each transaction."""
        return course.recorder

    def carry_out(self, course: Course) -> None:
        """Ask until nothing more is to be begun; what is under way then is waited for."""
        begun_ns = thread_time_ns()
        course.began()
        if self._plan.rate_per_s is None:
            self._closed(course)
        else:
            self._open(course)
        self._finish(course)
        self.busy_ns = thread_time_ns() - begun_ns

    def interrupt(self) -> None:
        """What is under way is given some seconds."""
        self._interrupted = True

    def _closed(self, course: Course) -> None:
        due: list[tuple[int, int]] = []
        for number in range(len(self._terminals)):
            self._next(course, number, due)
        while not course.stopped:
            now_ns = course.now_ns()
            while due and due[0][0] <= now_ns:
                due_ns, number = heappop(due)
                self._submit(course, number, self._terminals[number].place.kind, due_ns)
            left_s = (due[0][0] - course.now_ns()) / 1e9 if due else _LOOK_S
            for ending in self._sessions.wait(min(max(left_s, 0.0), _LOOK_S)):
                self._end(course, ending)
                self._next(course, ending.terminal, due)

    def _next(self, course: Course, number: int, due: list[tuple[int, int]]) -> None:
        """What a terminal does after an answer, or first of all: think, type, ask."""
        if course.stopped:
            return
        kind, pause_s = self._terminals[number].place.next(self._plan.pauses)
        if not self._plan.pauses:
            self._submit(course, number, kind)
            return
        heappush(due, (course.now_ns() + round(pause_s * 1e9), number))

    def _open(self, course: Course) -> None:
        arrivals, waiting = Arrivals(self._plan), deque[tuple[int, str]]()
        course.due = lambda: [Due(STREAM, kind, due_ns) for due_ns, kind in list(waiting)]
        course.ended.offered_per_s = self._plan.rate_per_s
        free = deque(range(len(self._terminals)))
        while not course.stopped:
            now_ns = course.now_ns()
            while arrivals.next_ns <= now_ns:
                waiting.append(arrivals.next())
            while free and waiting:
                due_ns, kind = waiting.popleft()
                self._submit(course, free.popleft(), kind, due_ns)
            left_s = (arrivals.next_ns - course.now_ns()) / 1e9
            for ending in self._sessions.wait(min(max(left_s, 0.0), _LOOK_S)):
                self._end(course, ending)
                free.append(ending.terminal)
        course.ended.unissued = len(waiting)

    def _finish(self, course: Course) -> None:
        """Wait for what is under way; after a brake no longer than it is worth."""
        since_ns = course.now_ns()
        while self._under_way:
            for ending in self._sessions.wait(_LOOK_S):
                self._end(course, ending)
            if (self._interrupted or course.ended.first_error) and course.now_ns() - since_ns > GRACE_S * 1e9:
                self._sessions.abandon()
                return

    def _submit(self, course: Course, number: int, kind: str, due_ns: int | None = None) -> None:
        terminal = self._terminals[number]
        request = terminal.place.request(kind)
        queued = due_ns is not None and terminal.free_ns > due_ns
        terminal.call = course.recorder.begin(kind, STREAM, due_ns, queued=queued)
        self._under_way += 1
        self._sessions.submit(number, request)

    def _end(self, course: Course, ending: Ending) -> None:
        terminal = self._terminals[ending.terminal]
        call, terminal.call = terminal.call, None
        assert call is not None, "a transaction ended that had not begun"
        self._under_way -= 1
        counts = self.counts[course.recorder.phase]
        counts[f"{ending.verdict} {call.op}"] += 1
        if ending.problem is None:
            terminal.free_ns = course.recorder.complete(call)
            return
        terminal.free_ns = course.recorder.fail(call, ending.problem.trouble)
        if self._plan.on_error != "continue" or ending.problem.trouble in ("lost", "full", "refused"):
            course.fail(call.op, str(ending.problem), ending.problem.trouble)
