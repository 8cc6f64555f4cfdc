"""The course of one job of an application: its threads work, the calling thread cuts intervals, pushes events, and says how it ended.

Model: a `Load` works in a thread of its own (which may have more) until it is done, the time is over or the brake is pulled; then it begins
nothing more, and what is under way drains. A pulled brake also interrupts what is under way, so that nobody waits an hour for a statement.
Phases end by the clock, or where the load hands over a slice that it cut itself, between two calls. A call that has no answer for seconds
is told of while it waits. What never has one stays outstanding.
Limits: intervals end up to some milliseconds late, when the calling thread is woken; they say when they ended.

    course = Course(Timing.of(options), on_event, control)
    ended = course.run(load)                                       # load.carry_out(course)
    return ended.outcome("sqlite", facts={}, workers=8)
"""

from __future__ import annotations

import resource
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field
from queue import Empty, SimpleQueue
from typing import Any, Protocol, cast

from plimsoll.apps.recorder import Due, Phase, Recorder, Slice
from plimsoll.engine.protocol import Control, OnEvent
from plimsoll.records import dataclass
from plimsoll.stored import EngineOutcome, Json, Options

#: Lengths of an interval that ``auto`` chooses from, in nanoseconds; the longest of which the duration holds forty.
_AUTO_NS = (1_000_000_000, 500_000_000, 250_000_000)
_AUTO_LEAST_NS = 100_000_000
_AUTO_LONG_NS = 10_000_000_000
_TWO_HOURS_NS = 7200 * 1_000_000_000
#: From when on a call that does not return is told of (`crates/engine/src/silence.rs`).
_SILENT_FROM_NS = 5_000_000_000


@dataclass(frozen=True)
class Timing:
    """How long a job takes, and its intervals, in nanoseconds."""

    warmup_ns: int
    duration_ns: int
    interval_ns: int

    @classmethod
    def of(cls, options: Options) -> Timing:
        """Of the options of a job, whose times are seconds."""
        duration_ns = round(options["duration"] * 1e9)
        return cls(round(options["warmup"] * 1e9), duration_ns, _interval_ns(options["interval"], duration_ns))

    def length_ns(self, phase: Phase) -> int:
        """How long a phase takes by the clock; 0 for the drain, which ends when nothing is under way."""
        return {"warmup": self.warmup_ns, "measure": self.duration_ns}.get(phase, 0)


class Load(Protocol):
    """What an application does in one job."""

    def carry_out(self, course: Course) -> None:
        """Work until all is done or ``course.stopped``; returns once nothing is under way. What it raises ends the job."""

    def interrupt(self) -> None:
        """The brake was pulled: end early what is under way, where that can be done. Called from another thread, once."""


@dataclass
class Ended:
    """How a job ended. ``stopped_by`` is one of the engine's words: duration, amount, signal, error."""

    stopped_by: str = "duration"
    start_ns: tuple[int, int] = (0, 0)
    #: When the last thread of the load began, from the start; None where the load does not say it.
    began_ns: int | None = None
    end_ns: int = 0
    first_ns: int | None = None
    first_error: Json | None = None
    silence: Json | None = None
    cpu_ns: tuple[int, int] = (0, 0)
    unissued: int = 0
    offered_per_s: float | None = None

    def outcome(self, used: str, asked: str, workers: int, facts: dict[str, str], **more: Any) -> EngineOutcome:
        """As the engine says it; ``more`` are sections of the driver's own."""
        told: dict[str, Any] = {
            "backend": {"asked": asked, "used": used, "fallback_reason": None},
            "engine": {
                "workers": workers,
                "virtual_time": False,
                "facts": facts,
                "clock": {"source": None, "drift_ppm": None},
                "iou_wrk_threads": None,
                "unissued": self.unissued,
            },
            "silence": self.silence,
            "start": {"monotonic_ns": self.start_ns[0], "wall_ns": self.start_ns[1], "began_ns": self.began_ns},
            "end_ns": self.end_ns,
            "first_io_ns": self.first_ns,
            "stopped_by": self.stopped_by,
            "first_error": self.first_error,
            "cpu_ns": {"user": self.cpu_ns[0], "system": self.cpu_ns[1]},
            "verify": None,
            "offered_per_s": self.offered_per_s,
            "parts": [],
            **more,
        }
        return cast("EngineOutcome", told)


@dataclass
class _Watched:
    """What the calling thread keeps while it waits."""

    index: int = 0
    phase_start_ns: int = 0
    cut_ns: int = 0
    told_ns: int = 0
    interrupted: bool = False
    silence: Json | None = None
    mistakes: list[BaseException] = field(default_factory=list)


class Course:
    """One job under way. The threads of the load record, ask whether to go on, and may end phases; see the module."""

    def __init__(self, timing: Timing, on_event: OnEvent, control: Control, *, by_clock: bool = True, tells_silence: bool = True) -> None:
        """``tells_silence`` is False for calls that may take minutes although the target is well."""
        self.timing = timing
        self.ended = Ended()
        #: What is due and has not begun, for the interval that is cut; a load of due instants sets it.
        self.due: Callable[[], Iterable[Due]] = tuple
        #: Processes of this host that work for the load; those that this process started need not be among them. None where it works in
        #: this process alone, whose time is known for less.
        self.servers: Sequence[int] | None = None
        self._on_event = on_event
        self._control = control
        self._by_clock = by_clock
        self._tells_silence = tells_silence
        self._over = threading.Event()
        self._beginning = threading.Lock()
        self._handed: SimpleQueue[Slice | None] = SimpleQueue()
        self._watched = _Watched()
        self._start_ns = time.monotonic_ns()
        self.recorder = Recorder(self.now_ns, "warmup" if timing.warmup_ns else "measure")

    def now_ns(self) -> int:
        """Nanoseconds from the start of the job."""
        return time.monotonic_ns() - self._start_ns

    @property
    def start_ns(self) -> int:
        """The start of the job on the machine's monotonic clock."""
        return self._start_ns

    @property
    def stopped(self) -> bool:
        """Whether nothing more is to be begun."""
        return self._over.is_set() or self._control.stopped

    def wait(self, seconds: float) -> bool:
        """Wait for so long, or until nothing more is to be begun; whether that is so."""
        end_ns = time.monotonic_ns() + round(seconds * 1e9)
        while not self.stopped and (left_ns := end_ns - time.monotonic_ns()) > 0:
            self._over.wait(min(left_ns / 1e9, 0.1))
        return self.stopped

    def began(self, at_ns: int | None = None) -> None:
        """A thread of the load begins, now or at an instant from the start; of several the last counts."""
        at_ns = self.now_ns() if at_ns is None else at_ns
        with self._beginning:
            self.ended.began_ns = max(at_ns, self.ended.began_ns or 0)

    def stop(self, why: str) -> None:
        """Begin nothing more, for one of the reasons of `Ended`; the first counts."""
        if not self._over.is_set():
            self.ended.stopped_by = why
            self._over.set()

    def fail(self, op: str, sentence: str, code: str | None = None) -> None:
        """The application failed and goes on no more: ``sentence`` says what happened. The first failure is kept."""
        if self.ended.first_error is None:
            self.ended.first_error = {"op": op, "offset": None, "errno": code, "message": sentence}
        self.stop("error")

    def hand_over(self, ended: Slice) -> None:
        """An interval that the load cut itself, because a phase ended between two calls."""
        self._handed.put(ended)

    def run(self, load: Load) -> Ended:
        """Work to the end; raises what the load or the listener raised."""
        if self.servers is not None:
            self._on_event("servers", {"pids": list(self.servers)})
        # Who begins together with others waits in here for the instant.
        self._on_event("ready", {})
        self._start_ns = time.monotonic_ns()
        self.ended.start_ns = (self._start_ns, time.time_ns())
        before = _own_cpu()
        self._on_event("start", {"monotonic_ns": self._start_ns, "wall_ns": self.ended.start_ns[1]})
        thread = threading.Thread(target=self._work, args=(load,), name="plimsoll-load", daemon=True)
        thread.start()
        try:
            self._serve(load)
        finally:
            self.stop("signal")
            thread.join()
        if self._watched.mistakes:
            raise self._watched.mistakes[0]
        self._drain()
        after = _own_cpu()
        self.ended.cpu_ns = (after[0] - before[0], after[1] - before[1])
        self.ended.end_ns, self.ended.first_ns, self.ended.silence = self.now_ns(), self.recorder.first_ns, self._watched.silence
        return self.ended

    def _work(self, load: Load) -> None:
        try:
            load.carry_out(self)
        except BaseException as mistake:  # a mistake of ours belongs to the calling thread
            self._watched.mistakes.append(mistake)
        finally:
            self._handed.put(None)

    def _serve(self, load: Load) -> None:
        """Push intervals: those that the load handed over as they come, the others when their time has come."""
        while True:
            due_ns = self._next_boundary_ns()
            try:
                ended = self._handed.get(timeout=min(max(due_ns - self.now_ns(), 0) / 1e9, 0.1))
            except Empty:
                self._look(load)
                if self.now_ns() >= due_ns:
                    self._cut(due_ns)
                continue
            if ended is None:
                self._look(load)
                return
            self._watched.phase_start_ns = self._watched.cut_ns = ended.end_ns
            self._push(ended)

    def _look(self, load: Load) -> None:
        """A brake that was pulled; an end before its time; and a call that has no answer, once a second."""
        if self._control.stopped:
            self.stop("signal")
            if not self._watched.interrupted:
                self._watched.interrupted = True
                load.interrupt()
        if self._by_clock and self._over.is_set() and self.recorder.phase != "drain":
            self._end("drain")
        if not self._tells_silence:
            return
        silent_ns, waiting = self.recorder.waits()
        if silent_ns >= _SILENT_FROM_NS and time.monotonic_ns() >= self._watched.told_ns + 1_000_000_000:
            self._watched.told_ns = time.monotonic_ns()
            if self._watched.silence is None or silent_ns > self._watched.silence["ns"]:
                self._watched.silence = {"ns": silent_ns, "waiting": waiting}
            self._on_event("silence", {"ns": silent_ns, "waiting": waiting})

    def _next_boundary_ns(self) -> int:
        """The end of the interval that lasts, or of its phase, if phases end by the clock."""
        phase, watched, interval_ns = self.recorder.phase, self._watched, self.timing.interval_ns
        due_ns = watched.phase_start_ns + ((watched.cut_ns - watched.phase_start_ns) // interval_ns + 1) * interval_ns
        end_ns = watched.phase_start_ns + self.timing.length_ns(phase)
        if phase == "drain" or abs(due_ns - end_ns) >= interval_ns / 2:
            return due_ns if phase == "drain" or not self._by_clock else min(due_ns, end_ns)
        # A phase ends there: by the clock at its end; the load cuts its own, later than the clock says.
        return end_ns if self._by_clock else due_ns + interval_ns

    def _cut(self, due_ns: int) -> None:
        """An interval is over; its phase as well, if phases end by the clock and this one's time is over."""
        phase, watched = self.recorder.phase, self._watched
        if self._by_clock and phase != "drain" and due_ns >= watched.phase_start_ns + self.timing.length_ns(phase):
            if phase == "measure":
                self.stop("duration")
            self._end("measure" if phase == "warmup" else "drain")
            return
        ended = self.recorder.cut(None, self.due())
        watched.cut_ns = ended.end_ns
        self._push(ended)

    def _end(self, following: Phase) -> None:
        """A phase is over, and ``following`` begins."""
        ended = self.recorder.cut(following, self.due())
        self._watched.phase_start_ns = self._watched.cut_ns = ended.end_ns
        self._push(ended)

    def _drain(self) -> None:
        """What the last interval holds, and what never had an answer."""
        self.recorder.abandon()
        self._push(self.recorder.cut("drain"))

    def _push(self, ended: Slice) -> None:
        if ended.phase == "drain" and not ended.cells and not ended.waiting:
            return
        self._on_event("tick", {"index": self._watched.index, "monotonic_ns": time.monotonic_ns()})
        self._on_event("interval", ended.event(self._watched.index))
        self._watched.index += 1


def _own_cpu() -> tuple[int, int]:
    """Processor time of this process and of the children that it has waited for: user and system, in nanoseconds."""
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return int((own.ru_utime + children.ru_utime) * 1e9), int((own.ru_stime + children.ru_stime) * 1e9)


def _interval_ns(asked: Any, duration_ns: int) -> int:
    """The interval's length; ``auto`` as `crates/workload` defines it."""
    if asked != "auto":
        return max(round(float(asked) * 1e9), 1)
    if duration_ns >= _TWO_HOURS_NS:
        return _AUTO_LONG_NS
    return next((length_ns for length_ns in _AUTO_NS if duration_ns >= 40 * length_ns), _AUTO_LEAST_NS)
