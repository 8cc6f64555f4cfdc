"""All workflows of a point at work: as many processes as asked for, started together, once for each iteration.

Model: the processes of an iteration are started, those of the first before the clock of the job, and waited for until each is ready. Then a
thread sends them one instant at which all begin. From then on
it hears what they say: steps and workflows become calls of the recorder, reads and writes are added as they were counted. One that fails is
recorded as failed and its files go at once, so that the others have its room; they go on. When nothing more is to be begun, what still runs
is killed.
Limits: a step or workflow is recorded when its message is heard, some milliseconds late at most; its own record has the exact instants.

    crew = Crew(plan, observer)
    crew.get_ready(course)
    ended = course.run(crew)
    crew.workflows, crew.iterations
"""

from __future__ import annotations

import os
import selectors
import shutil
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from plimsoll.apps.analytics.options import STREAM, WORKFLOW
from plimsoll.apps.analytics.outcome import Iteration, Status, Step, Workflow
from plimsoll.apps.analytics.process import Order, Process
from plimsoll.apps.course import Course
from plimsoll.apps.decision.observation import Glance, Observer, seen
from plimsoll.apps.recorder import Call
from plimsoll.stored import Json

#: Between the message that all are ready and their common start.
_AHEAD_NS = 20_000_000
_LOOK_S = 0.1
_S = 1e9


@dataclass(frozen=True)
class Plan:
    """What a point does. ``order`` makes the command of a workflow that works in a directory; ``work`` holds those directories."""

    workflows: int
    iterations: int
    work: str
    order: Callable[[int, str], Order]


@dataclass
class _Running:
    """A workflow under way; instants are nanoseconds of the machine's monotonic clock."""

    process: Process
    call: Call | None = None
    step: str | None = None
    step_call: Call | None = None
    step_start_ns: int = 0
    ready: bool = False
    told: Json | None = None
    steps: list[Step] = field(default_factory=list)


class Crew:
    """`plimsoll.apps.course.Load`; see the module."""

    def __init__(self, plan: Plan, observer: Observer) -> None:
        self._plan = plan
        self._observer = observer
        self._lock = threading.Lock()
        self._fresh: list[Workflow] = []
        self._running: dict[int, _Running] = {}
        self._selector: selectors.BaseSelector | None = None
        self._iteration = 1
        self.workflows: list[Workflow] = []
        self.iterations: list[Iteration] = []

    def carry_out(self, course: Course) -> None:
        """All iterations, as long as something is to be begun."""
        for number in range(1, self._plan.iterations + 1):
            try:
                if course.stopped or not (self._selector or self.get_ready(course, number)):
                    return
                self._iterate(course)
            finally:
                self.end(course)
        if all(workflow.status == "failed" for workflow in self.workflows):
            first = self.workflows[0]
            course.fail(WORKFLOW, f"No workflow came to its end; workflow {first.number}: {first.failure}")
        course.stop("amount")

    def get_ready(self, course: Course, iteration: int = 1) -> bool:
        """Start the processes of an iteration and wait until each is ready or gone; False when nothing more is to be begun."""
        self._iteration, self._selector = iteration, selectors.DefaultSelector()
        for number in range(1, self._plan.workflows + 1):
            folder = os.path.join(self._plan.work, str(number))
            try:
                shutil.rmtree(folder, ignore_errors=True)
                os.makedirs(folder)
                running = _Running(Process.started(self._plan.order(number, folder)))
            except OSError as problem:
                now_s = course.now_ns() / _S
                self._add(Workflow(number, iteration, "failed", now_s, now_s, f"its process could not be started ({problem.strerror})."))
                continue
            self._running[number] = running
            self._selector.register(running.process, selectors.EVENT_READ, running)
        return self._hear_until(course, lambda: all(one.ready for one in self._running.values()))

    def interrupt(self) -> None:
        """The thread that hears the processes sees it within a tenth of a second, and kills them."""

    def fresh(self) -> list[Json]:
        """The workflows that have ended since this was asked for the last time."""
        with self._lock:
            found, self._fresh = self._fresh, []
        return [workflow.to_json() for workflow in found]

    def steps(self) -> dict[str, str]:
        """Which workflow is in which step."""
        return {str(number): running.step for number, running in list(self._running.items()) if running.step is not None}

    def _iterate(self, course: Course) -> None:
        """Processes that are ready, from their common start to the end of the last."""
        before, start_ns = self._observer.glance(), time.monotonic_ns() + _AHEAD_NS
        for running in self._running.values():
            running.process.begin(start_ns)
            running.call = course.recorder.begin(WORKFLOW, STREAM)
        self._hear_until(course, lambda: not self._running)
        self.end(course)
        self._conclude(course, start_ns, before)

    def _hear_until(self, course: Course, done: Callable[[], bool]) -> bool:
        """Hear messages until that is so; False when it will not be, because nothing more is to be begun."""
        selector = self._selector
        assert selector is not None
        while not done():
            if course.stopped:
                return False
            for key, _ in selector.select(_LOOK_S):
                running: _Running = key.data
                messages = running.process.read()
                for message in messages or ():
                    self._take(course, running, message)
                if messages is None:
                    selector.unregister(running.process)
                    self._over(course, running)
        return True

    def _take(self, course: Course, running: _Running, message: Json) -> None:
        """One message of a process."""
        kind, told = next(iter(message.items()))
        if kind == "moved":
            for op, (moved, sum_ns, latencies) in told.items():
                course.recorder.add(op, STREAM, moved, sum_ns, latencies)
        elif kind == "began":
            running.step, running.step_start_ns = told["step"], told["at_ns"]
            running.step_call = course.recorder.begin(told["step"], STREAM)
            if self._iteration == 1 and not running.steps:
                course.began(running.step_start_ns - course.start_ns)
        elif kind == "ended":
            running.steps.append(_step(told, course.start_ns))
            if running.step_call is not None and told["check"] == "ok":
                course.recorder.complete(running.step_call)
                running.step = running.step_call = None
        elif kind == "ready":
            running.ready = True
        elif kind in ("done", "failed"):
            running.told = {**told, "failed": kind == "failed"}
            running.process.let_go()

    def _over(self, course: Course, running: _Running) -> None:
        """A process has ended: well, with a sentence, or without one."""
        process, told = running.process, running.told
        process.wait()
        zero_ns = course.start_ns
        at_ns = time.monotonic_ns() if told is None else int(told["at_ns"])
        failure = process.end_told(running.step) if told is None else told.get("sentence")
        status: Status = "complete" if failure is None else "failed"
        if status == "failed" and told is None and running.step is not None:
            running.steps.append(Step(running.step, (running.step_start_ns - zero_ns) / _S, (at_ns - zero_ns) / _S))
        code = "KILLED" if told is None else "FAILED"
        if running.step_call is not None:
            course.recorder.fail(running.step_call, code)
        if running.call is not None:
            if failure is None:
                course.recorder.complete(running.call)
            else:
                course.recorder.fail(running.call, code)
        self._keep(running, status, (at_ns - zero_ns) / _S, failure)

    def _keep(self, running: _Running, status: Status, end_s: float, failure: str | None) -> None:
        process = running.process
        # What it did not remove itself goes now, so that the others have its room.
        shutil.rmtree(process.order.folder, ignore_errors=True)
        kept = Workflow(
            number=process.number,
            iteration=self._iteration,
            status=status,
            start_s=running.steps[0].start_s if running.steps else end_s,
            end_s=end_s,
            failure=failure,
            user_s=process.user_s,
            system_s=process.system_s,
            max_rss_bytes=process.max_rss_bytes,
            memory_bytes=process.order.memory_bytes,
            steps=tuple(running.steps),
        )
        del self._running[process.number]
        self._add(kept)

    def _add(self, kept: Workflow) -> None:
        with self._lock:
            self.workflows.append(kept)
            self._fresh.append(kept)

    def _conclude(self, course: Course, start_ns: int, before: Glance) -> None:
        """The record of an iteration that came to its end, or was stopped."""
        after = self._observer.glance()
        told = seen(before, after)
        mine = [workflow for workflow in self.workflows if workflow.iteration == self._iteration]
        counted = told.get("bytes_of") == "devices"
        start_s = (start_ns - course.start_ns) / _S
        self.iterations.append(
            Iteration(
                number=self._iteration,
                start_s=start_s,
                end_s=max((workflow.end_s for workflow in mine), default=start_s),
                workflows=self._plan.workflows,
                failed=sum(workflow.status == "failed" for workflow in mine),
                user_s=sum(workflow.user_s for workflow in mine),
                system_s=sum(workflow.system_s for workflow in mine),
                cpu=told.get("cpu"),
                device_read_bytes=told["bytes_read"] if counted else None,
                device_written_bytes=told["bytes_written"] if counted else None,
            )
        )

    def end(self, course: Course) -> None:
        """Kill and keep what still runs."""
        if self._selector is not None:
            self._selector.close()
            self._selector = None
        for running in self._running.values():
            running.process.look()
            running.process.kill()
        for running in list(self._running.values()):
            running.process.wait()
            for call in (running.step_call, running.call):
                if call is not None:
                    course.recorder.forget(call)
            now_s = course.now_ns() / _S
            if running.step is not None:
                running.steps.append(Step(running.step, (running.step_start_ns - course.start_ns) / _S, now_s))
            self._keep(running, "stopped", now_s, None)


def _step(told: Any, zero_ns: int) -> Step:
    stored, devices = told["stored"] or (None, None), told["devices"] or (None, None)
    return Step(
        name=told["name"],
        start_s=(told["start_ns"] - zero_ns) / _S,
        end_s=(told["end_ns"] - zero_ns) / _S,
        rows=told["rows"],
        user_s=told["user_us"] / 1e6,
        system_s=told["system_us"] / 1e6,
        needed_read_bytes=told["needed_read_bytes"],
        needed_written_bytes=told["needed_written_bytes"],
        read_bytes=told["read_bytes"],
        written_bytes=told["written_bytes"],
        stored_read_bytes=stored[0],
        stored_written_bytes=stored[1],
        device_read_bytes=devices[0],
        device_written_bytes=devices[1],
        passes=told["passes"],
        check=told["check"],
    )
