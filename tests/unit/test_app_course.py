"""The course of an application's job: phases by the clock, an end before its time, a brake, silence, and what never had an answer."""

from __future__ import annotations

import threading
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from plimsoll.apps import course as course_module
from plimsoll.apps.course import Course, Ended, Timing
from support.patience import HANGS_S

MS = 1_000_000


class Brake:
    stopped = False

    def stop(self) -> None:
        self.stopped = True

    abort = stop


class Script:
    """A load that does what a function says."""

    def __init__(self, work: Callable[[Course], None]) -> None:
        self.carry_out = work
        self.interrupted = threading.Event()

    def interrupt(self) -> None:
        self.interrupted.set()


def run(work: Callable[[Course], None], timing: Timing, brake: Any = None) -> tuple[Ended, list[dict[str, Any]], Script]:
    events: list[tuple[str, Any]] = []
    load = Script(work)
    ended = Course(timing, lambda kind, what: events.append((kind, what)), brake or Brake()).run(load)
    return ended, [what for kind, what in events if kind == "interval"], load


def busily(course: Course) -> None:
    while not course.stopped:
        call = course.recorder.begin("read", "s")
        course.wait(0.001)
        course.recorder.complete(call)


def test_a_job_began_when_the_last_thread_of_its_load_did() -> None:
    def load(course: Course) -> None:
        for at_ns in (5, 90, 30):
            course.began(at_ns)
        busily(course)

    ended, _, _ = run(load, Timing(0, 20 * MS, 20 * MS))
    assert ended.began_ns == 90
    silent, _, _ = run(busily, Timing(0, 20 * MS, 20 * MS))
    assert silent.began_ns is None, "a load that does not say it is not one that began at once"


def test_the_servers_of_a_load_are_told_before_it_starts() -> None:
    events: list[tuple[str, Any]] = []
    course = Course(Timing(0, 20 * MS, 20 * MS), lambda kind, what: events.append((kind, what)), Brake())
    course.servers = (17,)
    course.run(Script(busily))
    assert [kind for kind, _ in events[:3]] == ["servers", "ready", "start"]
    assert events[0][1] == {"pids": [17]}
    events.clear()
    Course(Timing(0, 20 * MS, 20 * MS), lambda kind, what: events.append((kind, what)), Brake()).run(Script(busily))
    assert events[0][0] == "ready", "a load without servers has nothing to look for"


def test_phases_end_by_the_clock_and_intervals_follow_each_other_without_a_gap() -> None:
    ended, intervals, _ = run(busily, Timing(60 * MS, 200 * MS, 50 * MS))
    phases = [interval["phase"] for interval in intervals]
    assert (ended.stopped_by, phases[0], phases.count("measure") >= 3) == ("duration", "warmup", True)
    assert phases == sorted(phases, key=["warmup", "measure", "drain"].index)
    for one, other in pairwise(intervals):
        assert one["end_ns"] == other["start_ns"] and other["index"] == one["index"] + 1
    measured = [interval for interval in intervals if interval["phase"] == "measure"]
    assert measured[-1]["end_ns"] - measured[0]["start_ns"] >= 200 * MS


def test_a_load_that_is_done_ends_its_job() -> None:
    def once(course: Course) -> None:
        course.recorder.complete(course.recorder.begin("query", "s"))
        course.stop("amount")

    ended, intervals, load = run(once, Timing(0, 3600 * 1000 * MS, 1000 * MS))
    assert ended.stopped_by == "amount" and ended.first_ns is not None
    assert sum(cell["count"] for interval in intervals for cell in interval["cells"]) == 1
    assert {interval["phase"] for interval in intervals} == {"measure"} and not load.interrupted.is_set()


def test_a_pulled_brake_interrupts_what_is_under_way_and_what_completes_then_is_of_the_drain() -> None:
    brake = Brake()

    def stuck(course: Course) -> None:
        call = course.recorder.begin("query", "s")
        brake.stop()
        assert load.interrupted.wait(HANGS_S)
        course.recorder.complete(call)

    load = Script(stuck)
    intervals: list[Any] = []
    course = Course(Timing(0, 3600 * 1000 * MS, 1000 * MS), lambda kind, what: intervals.append((kind, what)), brake)
    ended = course.run(load)
    told = [what for kind, what in intervals if kind == "interval"]
    assert ended.stopped_by == "signal"
    assert [(interval["phase"], len(interval["cells"])) for interval in told][-1][1] == 1


def test_a_failure_ends_the_job_with_its_sentence_and_the_first_is_kept() -> None:
    def failing(course: Course) -> None:
        course.fail("commit", "the server closed the connection.", "57P01")
        course.fail("commit", "another one.")

    ended, _, _ = run(failing, Timing(0, 3600 * 1000 * MS, 1000 * MS))
    assert ended.stopped_by == "error"
    assert ended.first_error == {"op": "commit", "offset": None, "errno": "57P01", "message": "the server closed the connection."}


def test_a_mistake_of_the_load_is_raised_in_the_calling_thread() -> None:
    def wrong(course: Course) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run(wrong, Timing(0, 3600 * 1000 * MS, 1000 * MS))


def test_a_call_without_an_answer_is_told_of_while_it_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(course_module, "_SILENT_FROM_NS", 20 * MS)
    heard = threading.Event()

    def hanging(course: Course) -> None:
        call = course.recorder.begin("write", "s")
        assert heard.wait(HANGS_S)
        course.recorder.complete(call)
        course.stop("amount")

    def hear(kind: str, what: Any) -> None:
        if kind == "silence":
            heard.set()
            assert what["waiting"] == 1 and what["ns"] >= 20 * MS

    ended = Course(Timing(0, 3600 * 1000 * MS, 1000 * MS), hear, Brake()).run(Script(hanging))
    assert ended.silence is not None and ended.silence["waiting"] == 1


def test_what_never_had_an_answer_is_outstanding_in_the_end() -> None:
    def leaving(course: Course) -> None:
        course.recorder.begin("write", "s")
        course.stop("error")

    _, intervals, _ = run(leaving, Timing(0, 3600 * 1000 * MS, 1000 * MS))
    assert [waiting["op"] for waiting in intervals[-1]["outstanding"]] == ["write"]


def test_the_outcome_says_what_the_engine_says() -> None:
    told = Ended(stopped_by="amount", start_ns=(1, 2), end_ns=3, cpu_ns=(4, 5)).outcome(
        "sqlite", "auto", 8, {"journal": "wal"}, database={"a": 1}
    )
    assert told["backend"] == {"asked": "auto", "used": "sqlite", "fallback_reason": None}
    assert told["stopped_by"] == "amount" and told["cpu_ns"] == {"user": 4, "system": 5} and told["database"] == {"a": 1}  # type: ignore[typeddict-item]
