"""Sessions of order entry, scripted, in virtual time: a database with so many servers, each of which takes so long for a transaction.

Model: a `VirtualCourse` stands for the course of a job; its clock goes on only while a session is waited for. It ends by itself after its
duration. A transaction that finds every server of `ScriptedSessions` taken waits for the first that gets free.

    course = VirtualCourse(seconds=10.0)
    sessions = ScriptedSessions(course, service_s=0.010, servers=4)
    Terminals(plan, sessions).carry_out(course)
    course.cell("new-order").latency.mean
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from plimsoll.apps.course import Ended
from plimsoll.apps.databases.database import DatabaseError
from plimsoll.apps.order_entry.terminals import STREAM, Ending
from plimsoll.apps.recorder import Cell, Due, Recorder, Slice
from plimsoll.orders.requests import NewOrder, Request


class VirtualCourse:
    """`plimsoll.apps.course.Course` as terminals see it."""

    def __init__(self, seconds: float) -> None:
        self.at_ns = 0
        self.end_ns = round(seconds * 1e9)
        self.ended = Ended()
        self.due: Callable[[], Iterable[Due]] = tuple
        self.brake = False
        self.recorder = Recorder(self.now_ns, "measure")
        self._slice: Slice | None = None

    def now_ns(self) -> int:
        return self.at_ns

    @property
    def stopped(self) -> bool:
        return self.brake or self.at_ns >= self.end_ns

    def began(self, at_ns: int | None = None) -> None:
        self.ended.began_ns = self.at_ns if at_ns is None else at_ns

    def fail(self, op: str, sentence: str, code: str | None = None) -> None:
        if self.ended.first_error is None:
            self.ended.first_error = {"op": op, "message": sentence, "errno": code}
        self.brake = True

    @property
    def slice(self) -> Slice:
        """Everything that was recorded."""
        if self._slice is None:
            self._slice = self.recorder.cut(None, self.due())
        return self._slice

    def cell(self, kind: str) -> Cell:
        return self.slice.cells[STREAM, kind]


@dataclass
class ScriptedSessions:
    """``late_s`` is how much longer than asked every waiting takes; ``fail`` says which transaction fails, and how; between both ends of
    ``stall_s`` the database does nothing."""

    course: VirtualCourse
    service_s: float = 0.010
    servers: int = 10**6
    late_s: float = 0.0
    stall_s: tuple[float, float] = (0.0, 0.0)
    fail: Callable[[int, Request], DatabaseError | None] = lambda _number, _request: None
    #: What every terminal asked for, in order.
    asked: list[tuple[int, Request]] = field(default_factory=list)
    under_way: Counter[int] = field(default_factory=Counter)
    abandoned: bool = False
    _ends: list[tuple[int, Ending]] = field(default_factory=list)
    _free_ns: list[int] = field(default_factory=list)

    def submit(self, terminal: int, request: Request) -> None:
        assert not self.under_way[terminal], "a terminal has one transaction at a time"
        self.under_way[terminal] += 1
        problem = self.fail(len(self.asked), request)
        self.asked.append((terminal, request))
        begin_ns = self.course.at_ns
        self._free_ns = [free_ns for free_ns in self._free_ns if free_ns > begin_ns]
        if len(self._free_ns) >= self.servers:
            begin_ns = max(begin_ns, self._free_ns.pop(0))
        end_ns = begin_ns + round(self.service_s * 1e9)
        stopped_ns, on_ns = (round(each * 1e9) for each in self.stall_s)
        if begin_ns < on_ns and end_ns > stopped_ns:
            end_ns += on_ns - max(begin_ns, stopped_ns)
        self._free_ns = sorted([*self._free_ns, end_ns])
        unused = isinstance(request, NewOrder) and request.unused
        verdict = "failed" if problem else "rolled back" if unused else "committed"
        self._ends.append((end_ns, Ending(terminal, verdict, problem)))

    def wait(self, seconds: float) -> Sequence[Ending]:
        until_ns = self.course.at_ns + round((seconds + self.late_s) * 1e9)
        first_ns = min((at_ns for at_ns, _ in self._ends), default=until_ns)
        self.course.at_ns = max(self.course.at_ns, min(until_ns, first_ns + round(self.late_s * 1e9)))
        done = [ending for at_ns, ending in self._ends if at_ns <= self.course.at_ns]
        self._ends = [(at_ns, ending) for at_ns, ending in self._ends if at_ns > self.course.at_ns]
        for ending in done:
            self.under_way[ending.terminal] -= 1
        return done

    def abandon(self) -> None:
        self.abandoned = True
