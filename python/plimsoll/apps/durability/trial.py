"""The trial: rounds of refreshes, each ended by a kill at a moment that the seed says, and a look at the database after each.

Model: a round commits one refresh after the other, RF1 and RF2 in turn. Its kill comes so many milliseconds after its first
acknowledgement, from another thread, wherever the refresh that is under way then is. The database is opened again, which takes its
recovery, and everything that was ever acknowledged is looked for (`plimsoll.apps.durability.account`). The first loss does not end the
trial: how often it happens is worth knowing.
Limits: one refresh is under way at a time, since the sets of the specification follow each other.

    trial = Trial(Plan(kills=10, spread_s=1.0, scale=0.01, seed=1), holder)
    ended = course.run(trial)
    trial.section()
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass

from plimsoll.apps.course import Course
from plimsoll.apps.databases.database import DatabaseError
from plimsoll.apps.decision.refresh import Sets
from plimsoll.apps.durability.account import Account, Op, Refresh, Verdict, contents_of
from plimsoll.apps.durability.holder import Holder, broken_promises
from plimsoll.decision import data
from plimsoll.errors import PlimsollError
from plimsoll.stored import Json

STREAM = "refreshes"
#: No kill comes earlier after the first acknowledgement of its round.
_EARLIEST_S = 0.02


@dataclass(frozen=True)
class Plan:
    """How often the server is killed, how long at most after the first acknowledgement of a round, and with which data."""

    kills: int
    spread_s: float
    scale: float
    seed: int

    def moments_s(self) -> list[float]:
        """The moments, from the first acknowledgement of each round; the same for the same seed."""
        draws = random.Random(f"durability {self.seed}")  # noqa: S311  # no secret
        return [_EARLIEST_S + draws.random() * max(self.spread_s - _EARLIEST_S, 0.0) for _ in range(self.kills)]


class Trial:
    """`plimsoll.apps.course.Load`; see the module."""

    def __init__(self, plan: Plan, holder: Holder) -> None:
        self._plan = plan
        self._holder = holder
        self._account: Account | None = None
        self._rounds: list[Json] = []
        self._facts: Mapping[str, str] = {}
        self._killed = threading.Event()
        self._killed_ns = 0
        self._under_way: Refresh | None = None
        self._sets = Sets(0, 0)

    @property
    def facts(self) -> Mapping[str, str]:
        """Version and settings of the engine."""
        return self._facts

    def carry_out(self, course: Course) -> None:
        """All rounds, as long as the database opens again."""
        try:
            with data.kept():
                for moment_s in self._plan.moments_s():
                    if course.stopped or not self._round(course, moment_s):
                        return
        except PlimsollError as problem:
            if not course.stopped:
                course.fail("trial", str(problem), problem.trouble if isinstance(problem, DatabaseError) else None)
            return
        course.stop("amount")

    def interrupt(self) -> None:
        """Nobody waits for a commit that does not return."""
        self._kill()

    def _round(self, course: Course, moment_s: float) -> bool:
        """Refreshes until the kill, then the look; whether the next round can come."""
        self._killed.clear()
        account = self._account = self._account or self._begun()
        self._facts = self._holder.begin()
        before, begun_ns = account.acknowledged, course.now_ns()
        self._work(course, account, moment_s)
        if course.stopped:
            return False
        entry: Json = {
            "moment_s": moment_s,
            "begin_s": begun_ns / 1e9,
            "kill_s": self._killed_ns / 1e9,
            "seconds": (course.now_ns() - begun_ns) / 1e9,
            "acknowledged": account.acknowledged - before,
            "under_way": None if self._under_way is None else str(self._under_way),
        }
        self._rounds.append(entry)
        return self._look(course, account, entry)

    def _begun(self) -> Account:
        """What the database has counted already is where its account begins."""
        with self._holder.reopened() as session:
            self._sets = Sets.of(session)
        return Account(self._plan.scale, self._sets)

    def _work(self, course: Course, account: Account, moment_s: float) -> None:
        """Refreshes, one after the other, until the kill."""
        timer: threading.Timer | None = None
        most = max(data.REFRESH_SETS // self._plan.kills, 2)
        try:
            for turn in range(2 * most):
                if course.stopped:
                    return
                refresh = self._next("rf1" if turn % 2 == 0 else "rf2")
                self._under_way = refresh
                call = course.recorder.begin(refresh.op, STREAM)
                try:
                    self._holder.carry_out(refresh.op)
                except PlimsollError:
                    course.recorder.forget(call)
                    if self._killed.is_set():
                        return
                    raise
                course.recorder.complete(call)
                self._acknowledged(account, refresh)
                if timer is None:
                    timer = threading.Timer(moment_s, self._kill, (course,))
                    timer.start()
            self._kill(course)
        finally:
            if timer is not None:
                timer.cancel()
                timer.join()

    def _next(self, op: Op) -> Refresh:
        """What comes next is what the database counts next."""
        return Refresh((self._sets.inserted if op == "rf1" else self._sets.deleted) + 1, op)

    def _acknowledged(self, account: Account, refresh: Refresh) -> None:
        account.acknowledge(refresh)
        self._count(refresh)
        self._under_way = None

    def _count(self, refresh: Refresh) -> None:
        came, went = refresh.op == "rf1", refresh.op == "rf2"
        self._sets = Sets(self._sets.inserted + came, self._sets.deleted + went)

    def _kill(self, course: Course | None = None) -> None:
        if course is not None:
            self._killed_ns = course.now_ns()
        self._killed.set()
        self._holder.kill()

    def _look(self, course: Course, account: Account, entry: Json) -> bool:
        """Open the database again and look for everything; whether it opened."""
        begun_s = time.monotonic()
        for last in (False, False, True):
            try:
                with self._holder.reopened() as session:
                    entry["recovery_s"] = time.monotonic() - begun_s
                    entry["open_s"] = course.now_ns() / 1e9
                    contents = contents_of(session, account.keys(self._under_way))
                    break
            except DatabaseError as problem:
                # A connection that is lost says nothing of the data: what does is a database that does not start, or cannot be read.
                if problem.trouble == "lost":
                    if last:
                        raise
                    continue
                entry["unopened"] = str(problem)
                course.stop("amount")
                return False
        verdict = account.judged(contents, self._under_way)
        entry |= _told(verdict)
        self._sets, self._under_way = contents.sets, None
        return True

    def section(self) -> Json:
        """What only this driver knows of its job."""
        return {
            "kills": len(self._rounds),
            "kills_asked": self._plan.kills,
            "acknowledged": sum(one["acknowledged"] for one in self._rounds),
            "rounds": self._rounds,
            "broken_promises": broken_promises(self._facts),
            "settings": dict(self._facts),
            "scale": self._plan.scale,
        }


def _told(verdict: Verdict) -> Json:
    return {
        "lost": [str(refresh) for refresh in verdict.lost],
        "halves": [str(refresh) for refresh in verdict.halves],
        "miscounted": verdict.miscounted,
        "became": verdict.under_way,
    }
