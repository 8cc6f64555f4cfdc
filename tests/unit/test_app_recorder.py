"""What an application did, in intervals: many calls at a time, each in the interval it completed in, its time shared out."""

from __future__ import annotations

import pytest

from plimsoll.apps.recorder import Due, Recorder
from plimsoll.histogram import Histogram, decoded

S = 1_000_000_000


class Clock:
    now_ns = 0

    def __call__(self) -> int:
        return self.now_ns


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def recorder(clock: Clock) -> Recorder:
    return Recorder(clock, "measure")


def test_a_call_counts_where_it_completed_and_its_time_where_it_was_under_way(clock: Clock, recorder: Recorder) -> None:
    call = recorder.begin("read", "copy")
    clock.now_ns = 30
    first = recorder.cut()
    clock.now_ns = 100
    recorder.complete(call, 4096)
    clock.now_ns = 110
    second = recorder.cut()
    assert (first.busy_ns, first.cells, second.busy_ns) == (30, {}, 70)
    cell = second.cells["copy", "read"]
    assert (cell.latency.histogram().max, cell.bytes, cell.latency_sum_ns) == (100, 4096, 100)
    assert first.event(0)["inflight_mean"] == 1.0 and second.event(1)["inflight_mean"] == pytest.approx(70 / 80)


def test_calls_under_way_together_all_count(clock: Clock, recorder: Recorder) -> None:
    calls = [recorder.begin("pay", f"terminal {number}") for number in range(3)]
    for number, call in enumerate(calls, start=1):
        clock.now_ns = number * 100
        recorder.complete(call)
    event = recorder.cut().event(0)
    # Little's law to the nanosecond: 100 + 200 + 300 ns of three calls in 300 ns.
    assert event["inflight_mean"] == 2.0
    assert {cell["stream"]: cell["latency_sum_ns"] for cell in event["cells"]} == {f"terminal {n}": 100.0 * (n + 1) for n in range(3)}
    assert event["summary"]["pay"]["count"] == 3 and event["summary"]["pay"]["mean_ns"] == 200


def test_latency_counts_from_the_due_instant_and_service_from_the_beginning(clock: Clock, recorder: Recorder) -> None:
    clock.now_ns = 5 * S
    call = recorder.begin("new-order", "orders", due_ns=2 * S, queued=True)
    clock.now_ns = 6 * S
    recorder.complete(call)
    (cell,) = recorder.cut().event(0)["cells"]
    assert (cell["latency_sum_ns"], cell["service_sum_ns"]) == (4e9, 1e9)
    assert decoded(cell["service"]).max == pytest.approx(S, rel=1 / 256)


def test_only_a_call_that_had_somebody_free_is_late_by_our_own_doing(clock: Clock, recorder: Recorder) -> None:
    clock.now_ns = S
    recorder.begin("send", "users", due_ns=0, queued=True)
    recorder.begin("send", "users", due_ns=S - 1_000)
    recorder.begin("send", "users", due_ns=S - 150_000)
    lag = recorder.cut().event(0)["lag"]
    assert (lag["count"], lag["late"]) == (2, 1)
    assert lag["max_ns"] == pytest.approx(150_000, rel=1 / 256)


def test_what_waits_at_the_end_of_an_interval_is_told_with_its_age(clock: Clock, recorder: Recorder) -> None:
    recorder.begin("write", "log")
    clock.now_ns = 3 * S
    ended = recorder.cut(due=[Due("orders", "new-order", S)])
    event = ended.event(0)
    assert event["backlog_ns"] == 2 * S and event["inflight_age_ns"] == 3 * S
    ages = {waiting["op"]: decoded(waiting["latency"]).max for waiting in event["outstanding"]}
    assert ages == {"write": pytest.approx(3 * S, rel=1 / 256), "new-order": pytest.approx(2 * S, rel=1 / 256)}
    assert recorder.cut().event(1)["outstanding"][0]["count"] == 1, "a due call is the application's to tell again"


def test_what_is_abandoned_stays_outstanding_and_is_under_way_no_more(clock: Clock, recorder: Recorder) -> None:
    recorder.begin("query", "stream 1")
    clock.now_ns = S
    recorder.abandon()
    ended = recorder.cut("drain").event(0)
    assert [(waiting["op"], waiting["count"]) for waiting in ended["outstanding"]] == [("query", 1)]
    clock.now_ns = 2 * S
    assert recorder.cut().event(1)["inflight_mean"] == 0 and recorder.waits() == (0, 0)


def test_a_failure_counts_by_its_name_and_has_no_latency(clock: Clock, recorder: Recorder) -> None:
    recorder.fail(recorder.begin("commit", "terminal"), "40001")
    (cell,) = recorder.cut().event(0)["cells"]
    assert (cell["errors"], cell["count"]) == ({"40001": 1}, 0)


def test_silence_is_since_the_last_answer_of_anybody(clock: Clock, recorder: Recorder) -> None:
    assert recorder.waits() == (0, 0)
    stuck, other = recorder.begin("write", "a"), recorder.begin("write", "b")
    clock.now_ns = 4 * S
    assert recorder.waits() == (4 * S, 2)
    recorder.complete(other)
    clock.now_ns = 5 * S
    assert recorder.waits() == (S, 1)
    recorder.complete(stuck)
    assert recorder.waits() == (0, 0)


def test_a_clock_that_steps_back_takes_nothing_away(clock: Clock, recorder: Recorder) -> None:
    clock.now_ns = 100
    call = recorder.begin("read", "copy")
    clock.now_ns = 40
    assert recorder.complete(call) == 100
    assert recorder.cut().busy_ns == 0


def test_calls_that_were_counted_elsewhere_have_their_counts_bytes_and_latencies() -> None:
    recorder = Recorder(lambda: 10_000, "measure")
    recorder.add("read", "workflows", 130_000, 3_000, "500*2 2000*1")
    recorder.add("read", "workflows", 65_536, 100, "100*1")
    (cell,) = recorder.cut().event(0)["cells"]
    assert (cell["op"], cell["stream"], cell["count"], cell["bytes"], cell["latency_sum_ns"]) == ("read", "workflows", 4, 195_536, 3100.0)
    found = decoded(cell["latency"])
    assert [(value, count) for value, count in found.buckets()] == [(100, 1), (500, 2), (2000, 1)]


@pytest.mark.parametrize("said", ["", "nothing", "5*", "*5", "-1*2"])
def test_text_that_counts_nothing_is_left_out(said: str) -> None:
    histogram = Histogram()
    histogram.record_text(f"7*1 {said}")
    assert histogram.buckets() == [(7, 1)]
