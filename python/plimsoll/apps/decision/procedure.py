"""The tests of decision support as one load: every query alone between the two refreshes (power), then streams beside a refresh stream.

Model: a stream is a thread with a session of its own, which asks its queries in its own order, one after the other, as soon as all streams
have their sessions. Before a test the caches are brought to what was asked for. Texts are ready before the first test, so that what a
thread does between two queries is to look at the counters. The first that fails ends the job: no metric can come of it any more, and what
was measured stays. The brake cancels what is under way.
Limits: a query is never repeated; a stream that waits for a lock of the engine waits.

    procedure = Procedure(plan, database, observer)
    ended = course.run(procedure)
    procedure.kept.done[0].seconds
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from functools import partial

from plimsoll.apps.course import Course
from plimsoll.apps.databases.database import Counters, Database, DatabaseError, Moved, Row, Session
from plimsoll.apps.decision.dataset import Note
from plimsoll.apps.decision.observation import Glance, Observer, seen
from plimsoll.apps.decision.options import QueryOptions
from plimsoll.apps.decision.records import Done, Kept, Later, Phase, Span
from plimsoll.apps.decision.refresh import coming, going
from plimsoll.apps.decision.waits import Waiting
from plimsoll.decision import data
from plimsoll.decision.queries import text
from plimsoll.engine.protocol import Clients
from plimsoll.errors import PlimsollError
from plimsoll.records import dataclass


@dataclass(frozen=True)
class Plan:
    """What is carried out: the options, what was loaded, the texts of each stream in the order in which it asks, that of the power test
    first. ``before`` streams are other hosts', whose numbers come first; ``pairs`` of refreshes come beside the streams."""

    asked: QueryOptions
    note: Note
    texts: Sequence[Sequence[tuple[int, str]]]
    pairs: int
    before: int = 0

    @classmethod
    def of(cls, asked: QueryOptions, note: Note, dialect: str, seed: int, clients: Clients | None = None) -> Plan:
        """With every text ready; raises `InputError` where a dialect needs a package that is missing.

        Of several hosts each has streams of its own, and the first one all refreshes, which follow one another.
        """
        number, count, seed = (0, 1, seed) if clients is None else (clients["number"], clients["count"], clients["seed"])
        before = number * asked.streams
        streams = [0, *range(before + 1, before + asked.streams + 1)] if asked.has_throughput else [0]
        texts = [list(_texts(asked, stream, dialect, seed)) for stream in streams]
        pairs = 0 if number or not asked.refresh else count * asked.streams
        # Caches are warmed once, as well.
        mine = replace(asked, refresh=asked.refresh and not number, cache=asked.cache if not number else "as found")
        return cls(mine, note, texts, pairs, before)


def _texts(asked: QueryOptions, stream: int, dialect: str, seed: int) -> Iterator[tuple[int, str]]:
    drawn = data.parameters(seed, stream, asked.scale)
    for number in data.order_of(stream):
        if number in asked.queries:
            yield number, text(number, drawn[number], dialect)


class Procedure:
    """`plimsoll.apps.course.Load`; see the module. ``own_cpu_s`` is processor time of our threads outside the engine."""

    def __init__(self, plan: Plan, database: Database, observer: Observer) -> None:
        self._plan = plan
        self._database = database
        self._observer = observer
        self._sessions: dict[Session, None] = {}
        self._lock = threading.Lock()
        self._failed = self._ready = self._tells_spill = False
        self.kept = Kept()
        self.own_cpu_s = 0.0

    def carry_out(self, course: Course) -> None:
        """Power, then throughput, as far as they were asked for."""
        with self._own_time():
            self._carry_out(course)

    def _carry_out(self, course: Course) -> None:
        asked = self._plan.asked
        tests: list[tuple[str, bool, Callable[[Course], None]]] = [
            ("power", asked.has_power, self._power),
            ("throughput", asked.has_throughput, self._throughput),
        ]
        for name, wanted, carried_out in tests:
            if wanted and not course.stopped:
                with self._telling(course, name):
                    if not self._ready:
                        self.prepare_caches(lambda: course.stopped)
                    self._ready = False
                    self._spanned(course, name, carried_out)
        if not course.stopped:
            course.stop("amount")

    def interrupt(self) -> None:
        """Cancel what is under way."""
        with self._lock:
            sessions = list(self._sessions)
        for session in sessions:
            session.cancel()

    def prepare_caches(self, stopped: Callable[[], bool]) -> None:
        """Bring the caches to what was asked for; before the first test this is called before the job's time begins."""
        self._ready = True
        with self.engine_time():
            if self._plan.asked.cache == "cold":
                self._database.restart()
            elif self._plan.asked.cache == "warm":
                with self._session() as session:
                    for _, statement in self._plan.texts[0]:
                        if not stopped():
                            session.run([statement])

    def _spanned(self, course: Course, name: str, carried_out: Callable[[Course], None]) -> None:
        before, counted, start_ns = self._observer.glance(), self._counters(), course.now_ns()
        self._tells_spill = counted.spill_bytes is not None
        waiting = Waiting(self._database.waits, self._own_time)
        try:
            with waiting:
                carried_out(course)
        finally:
            end_ns, after = course.now_ns(), self._observer.glance()
            counters = self._counters()
            spilled = _difference(counted.spill_bytes, counters.spill_bytes)
            if spilled is None:
                known = [done.spill_bytes for done in self.kept.done if done.phase == name and done.spill_bytes is not None]
                spilled = sum(known) if known else None
            what = {**seen(before, after), **_flushed(counted, counters), "waits": waiting.shares()}
            self.kept.spans.append(Span(name, start_ns, end_ns, what, spilled))

    def _power(self, course: Course) -> None:
        asked = self._plan.asked
        with ExitStack() as opened:
            queries = opened.enter_context(self._session())
            refreshes = opened.enter_context(self._session()) if asked.refresh else None
            stream = _Stream(self, course, "power", 0)
            course.began()
            if refreshes is not None:
                stream.carry_out("rf1", coming(refreshes, asked.scale))
            stream.ask(queries, self._plan.texts[0])
            if refreshes is not None:
                stream.carry_out("rf2", going(refreshes, asked.scale))

    def _throughput(self, course: Course) -> None:
        """Streams beside each other; the first that fails is told, the others end early."""
        works: list[Callable[[threading.Barrier], None]] = [
            partial(self._stream, course, place) for place in range(1, len(self._plan.texts))
        ]
        if self._plan.asked.refresh:
            works.append(partial(self._refreshes, course))
        together = threading.Barrier(len(works))
        threads = [threading.Thread(target=self._told, args=(course, partial(work, together)), name="plimsoll-stream") for work in works]
        try:
            for thread in threads:
                thread.start()
        except BaseException:
            together.abort()
            raise
        for thread in threads:
            thread.join()

    def _told(self, course: Course, work: Callable[[], None]) -> None:
        with self._own_time(), self._telling(course, "throughput"):
            work()

    @contextmanager
    def _own_time(self) -> Iterator[None]:
        """What the calling thread spends inside is ours, but for what `spent` takes off."""
        begun_s = time.thread_time()
        try:
            yield
        finally:
            with self._lock:
                self.own_cpu_s += time.thread_time() - begun_s

    def _stream(self, course: Course, place: int, together: threading.Barrier) -> None:
        with self._session_beside(together) as session:
            self._began(course)
            _Stream(self, course, "throughput", self._plan.before + place).ask(session, self._plan.texts[place])

    def _refreshes(self, course: Course, together: threading.Barrier) -> None:
        """As many pairs as there are streams, on all hosts together, one after the other."""
        with self._session_beside(together) as session:
            self._began(course)
            stream = _Stream(self, course, "throughput", None)
            for _ in range(self._plan.pairs):
                if course.stopped:
                    return
                stream.carry_out("rf1", coming(session, self._plan.asked.scale))
                stream.carry_out("rf2", going(session, self._plan.asked.scale))

    def _began(self, course: Course) -> None:
        """A stream of the throughput test begins; where a power test came before, the job began with that."""
        if not self._plan.asked.has_power:
            course.began()

    @contextmanager
    def _session(self) -> Iterator[Session]:
        with self.engine_time():
            opened = self._database.session()
        with opened as session:
            with self._lock:
                self._sessions[session] = None
            try:
                yield session
            finally:
                with self._lock:
                    self._sessions.pop(session, None)

    @contextmanager
    def _session_beside(self, others: threading.Barrier) -> Iterator[Session]:
        """A session that is of use as soon as all others have theirs: a stream that asked before would be alone for a while, and might end
        before another begins. Whoever gets none, or fails, leaves nobody waiting."""
        try:
            with self._session() as session:
                others.wait()
                yield session
        except threading.BrokenBarrierError:
            raise _Told from None
        except BaseException:
            others.abort()
            raise

    @contextmanager
    def _telling(self, course: Course, what: str) -> Iterator[None]:
        """What fails inside is said once, and ends the streams beside it."""
        try:
            yield
        except _Told:
            pass
        except PlimsollError as problem:
            self.tell(course, what, what, problem)

    def tell(self, course: Course, op: str, where: str, problem: PlimsollError) -> None:
        """Something failed that nobody asked to end."""
        with self._lock:
            first, self._failed = not self._failed, True
        if not first or course.stopped:
            return
        trouble = problem.trouble if isinstance(problem, DatabaseError) else "statement"
        said = f"{where}: {problem}"
        if trouble == "cancelled":
            said = f"{where}: somebody else cancelled it; what was measured until then is kept."
        course.fail(op, said, trouble)
        self.interrupt()

    def validated(self, op: str) -> bool | None:
        """What is known of a query's answer."""
        return self._plan.note.validated(int(op[1:])) if op[1:].isdigit() and op[0] == "q" else None

    @contextmanager
    def engine_time(self) -> Iterator[None]:
        """What the calling thread spends inside is the engine's, where that runs in it."""
        begun_s = time.thread_time()
        try:
            yield
        finally:
            self.spent_by_engine(begun_s)

    def spent_by_engine(self, begun_s: float) -> None:
        """What the calling thread has spent since was the engine's, where that runs in it."""
        if self._database.runs_here:
            with self._lock:
                self.own_cpu_s -= time.thread_time() - begun_s

    def glance(self) -> Glance:
        """The counters now."""
        return self._observer.glance()

    def seen(self, before: Glance, after: Glance) -> Mapping[str, object]:
        """What happened in between."""
        return seen(before, after)

    def spilled(self) -> int | None:
        """Bytes that went to temporary files so far; an engine that did not tell of them when the test began is not asked again."""
        return self._counters().spill_bytes if self._tells_spill else None

    def _counters(self) -> Counters:
        """What the engine counted so far; nothing where it is gone."""
        with suppress(DatabaseError):
            return self._database.counters()
        return Counters()


class _Told(Exception):
    """The failure was said already."""


class _Stream:
    """One stream under way: what it carries out is recorded, observed and kept."""

    def __init__(self, procedure: Procedure, course: Course, phase: Phase, number: int | None) -> None:
        self._procedure = procedure
        self._course = course
        self._phase = phase
        self._number = number
        #: What the recorder calls it.
        self._name = "power" if phase == "power" else "refresh" if number is None else f"stream {number}"
        #: A query that runs alone has the spill of the whole engine for its own.
        self._alone = phase == "power"
        self._last: Glance | None = None

    def ask(self, session: Session, texts: Sequence[tuple[int, str]]) -> None:
        """The queries, one after the other."""
        for number, statement in texts:
            self.carry_out(f"q{number}", lambda: session.run([statement]), session)  # noqa: B023  # carried out before the next one

    def carry_out(self, op: str, work: Callable[[], list[Row] | int], session: Session | None = None) -> None:
        """One query in ``session``, or a refresh; nothing once the job is to end."""
        procedure, course = self._procedure, self._course
        if course.stopped:
            return
        before, spilled = self._last or procedure.glance(), self._spilled()
        call = course.recorder.begin(op, self._name)
        begun_s = time.thread_time()
        try:
            found = work()
        except PlimsollError as problem:
            self._failed(op, call, problem)
            raise _Told from None
        finally:
            procedure.spent_by_engine(begun_s)
        end_ns = course.recorder.complete(call)
        self._last = after = procedure.glance()
        rows = found if isinstance(found, int) else len(found)
        # What rows take to be let go of is the engine's, as what they take to be made.
        begun_s = time.thread_time()
        del found
        procedure.spent_by_engine(begun_s)
        spill = _difference(spilled, self._spilled())
        moved = session.moved() if session is not None else None
        if moved is not None and moved.spill_bytes is not None:
            spill = moved.spill_bytes
        what = Later(lambda: self._seen(before, after, moved))
        procedure.kept.add(Done(op, self._phase, self._number, call.begun_ns, end_ns, rows, what, spill, procedure.validated(op)))

    def _spilled(self) -> int | None:
        """What went to temporary files so far, where that can be this query's alone."""
        return self._procedure.spilled() if self._alone else None

    def _seen(self, before: Glance, after: Glance, moved: Moved | None) -> Mapping[str, object]:
        """What is stored of the time between two glances, and of what the engine counted itself."""
        what = dict(self._procedure.seen(before, after))
        if moved is not None:
            what["engine_read_bytes"] = moved.read_bytes
            # Processes elsewhere are not seen; their engine may have counted.
            if what.get("engine_cpu_s") is None:
                what["engine_cpu_s"] = moved.cpu_s
        return what if self._alone else {**what, **_SHARED}

    def _failed(self, op: str, call: object, problem: PlimsollError) -> None:
        """A query that the brake cancelled stays under way for ever; any other has failed."""
        if self._course.stopped:
            return
        code = problem.trouble if isinstance(problem, DatabaseError) else "error"
        self._course.recorder.fail(call, code)  # type: ignore[arg-type]
        stream = "the power test" if self._phase == "power" else "the refresh stream" if self._number is None else self._name
        self._procedure.tell(self._course, op, f"{_called(op)} of {stream}", problem)


#: What several queries do at the same time belongs to none of them.
_SHARED: Mapping[str, object] = {"bytes_read": None, "bytes_written": None}


def _called(op: str) -> str:
    return f"query {op[1:]}" if op[0] == "q" else op.upper()


def _flushed(before: Counters, after: Counters) -> Mapping[str, object]:
    """What went to the engine's log in between, and how long a commit waited on average until the storage had it."""
    flushes, waited_s = _difference(before.flushes, after.flushes), None
    if before.flush_s is not None and after.flush_s is not None:
        waited_s = after.flush_s - before.flush_s
    mean_ms = 1e3 * waited_s / flushes if flushes and waited_s is not None else None
    return {"log_bytes": _difference(before.log_bytes, after.log_bytes), "flushes": flushes, "flush_mean_ms": mean_ms}


def _difference(before: int | None, after: int | None) -> int | None:
    return None if before is None or after is None else after - before
