"""Terminals as threads of the engine: what is drawn ahead for them, and what their records become. The server here is a script."""

from __future__ import annotations

import socket
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from itertools import islice, pairwise
from math import sqrt
from typing import Any

import pytest

from plimsoll.apps.course import Course, Ended, Timing
from plimsoll.apps.databases.database import DatabaseError
from plimsoll.apps.order_entry.terminals import Arrivals, Desk, Plan, Terminals
from plimsoll.apps.order_entry.threads import TerminalThreads, _arriving, _asked
from plimsoll.engine.block import native
from plimsoll.orders.draws import Constants
from plimsoll.orders.functions import CALL_OF, call
from plimsoll.orders.population import SEED
from plimsoll.orders.requests import KINDS, MIX, NEW_ORDER, NewOrder
from plimsoll.orders.scale import Scale
from support.scripted_sessions import ScriptedSessions, VirtualCourse

#: What a scripted server does with a question: the bytes of its answer, none to close the connection.
Script = Callable[[bytes], bytes]


def _plan(**changes: Any) -> Plan:
    return Plan(**{"scale": Scale(4), "mix": MIX, "terminals": 3, "seed": 1, **changes})


def _message(kind: bytes, body: bytes) -> bytes:
    return kind + struct.pack(">I", len(body) + 4) + body


def _row(value: bytes | None) -> bytes:
    cell = struct.pack(">Hi", 1, -1) if value is None else struct.pack(">HI", 1, len(value)) + value
    return _message(b"D", cell) + _message(b"Z", b"I")


def _answered(question: bytes) -> bytes:
    """Any call is carried out; orders with the item that does not exist have no total."""
    return _row(None if b"100001" in question else b"1") if question[:1] == b"B" else _message(b"Z", b"I")


def _refusing(state: str) -> Script:
    return lambda _question: _message(b"E", f"SERROR\0C{state}\0Msomething is wrong\0\0".encode()) + _message(b"Z", b"I")


class _Connections:
    """Socket pairs with a thread each that answers as the script says."""

    def __init__(self, terminals: int, script: Script) -> None:
        self._pairs = [socket.socketpair() for _ in range(terminals)]
        self.cancelled = False
        self._servers = [threading.Thread(target=self._serve, args=(theirs, script), daemon=True) for _, theirs in self._pairs]
        for server in self._servers:
            server.start()

    @property
    def files(self) -> list[int]:
        return [ours.fileno() for ours, _ in self._pairs]

    def problem(self, state: str, message: str, *, alive: bool) -> DatabaseError:
        trouble: Any = "lost" if not alive else {"53100": "full", "57014": "cancelled"}.get(state, "statement")
        return DatabaseError(f"it says: {message} ({state}).", trouble)

    def cancel(self) -> None:
        self.cancelled = True

    def close(self) -> None:
        for ours, _ in self._pairs:
            ours.close()
        for server in self._servers:
            server.join()

    def _serve(self, theirs: socket.socket, script: Script) -> None:
        # A question comes whole: whoever asks waits for its answer, or has left for good.
        with theirs, suppress(ConnectionError):
            while question := theirs.recv(65536):
                answer = script(question)
                if not answer:
                    theirs.shutdown(socket.SHUT_RDWR)
                    return
                theirs.sendall(answer)


@contextmanager
def _carried_out(plan: Plan, script: Script, seconds: float = 0.3) -> Iterator[tuple[Ended, list[Any], TerminalThreads, Counter[str]]]:
    """A course over a scripted server: how it ended, its intervals, the load, and what was tried again."""
    events: list[Any] = []
    course = Course(Timing(0, round(seconds * 1e9), 100_000_000), lambda kind, event: events.append((kind, event)), native().control())
    retries: Counter[str] = Counter()
    with (
        closing(_Connections(plan.terminals, script)) as connections,
        closing(TerminalThreads(plan, connections, CALL_OF, retries)) as load,
    ):
        course.recorder = load.recorder(course)
        ended = course.run(load)
        yield ended, [event for kind, event in events if kind == "interval"], load, retries


@pytest.mark.parametrize("pauses", [0.0, 1.0])
def test_threads_ask_the_same_as_terminals_that_are_served_by_the_interpreter(pauses: float) -> None:
    plan = _plan(pauses=pauses)
    course = VirtualCourse(500.0 if pauses else 2.0)
    scripted = ScriptedSessions(course)
    Terminals(plan, scripted).carry_out(course)  # type: ignore[arg-type]
    constants = Constants.of_run(plan.seed, Constants.of_database(SEED))
    for number in range(plan.terminals):
        served = [call(request)[1] for terminal, request in scripted.asked if terminal == number]
        drawn = list(islice(_asked(plan, Desk(plan, constants, number)), len(served)))
        assert [values for *_, values in drawn] == served
        assert len(served) > 10
        assert all((when_ns > 0) == bool(pauses) for _, when_ns, _, _ in drawn)


def test_arrivals_come_at_the_rate_in_their_mix_and_take_turns_at_the_places() -> None:
    plan = _plan(arrival="poisson", rate_per_s=45.0)
    constants = Constants.of_run(plan.seed, Constants.of_database(SEED))
    drawn = list(islice(_arriving(plan, [Desk(plan, constants, number) for number in range(3)]), 20_000))
    dues = [due_ns for _, due_ns, _, _ in drawn]
    assert dues == sorted(dues)
    # A hundred a second of all kinds: 20,000 take 200 s, give or take 4 standard deviations of their sum.
    assert abs(dues[-1] - 200e9) < 4 * 200e9 / sqrt(20_000)
    kinds = Counter(KINDS[kind] for kind, *_ in drawn)
    assert abs(kinds[NEW_ORDER] - 9_000) < 4 * sqrt(20_000 * 0.45 * 0.55)
    assert [values[0] for *_, values in drawn[:6]] == [1, 2, 3, 1, 2, 3]


def test_constant_arrivals_are_evenly_spaced() -> None:
    arrivals = Arrivals(_plan(arrival="constant", rate_per_s=4.5))
    assert [arrivals.next()[0] for _ in range(3)] == [100_000_000, 200_000_000, 300_000_000]


def test_what_threads_did_becomes_intervals_counts_and_verdicts() -> None:
    with _carried_out(_plan(), _answered) as (ended, intervals, load, retries):
        assert (ended.stopped_by, ended.first_error, retries) == ("duration", None, Counter())
        recorded = Counter[str]()
        for interval in intervals:
            recorded.update({cell["op"]: cell["count"] for cell in interval["cells"]})
        counts = sum(load.counts.values(), Counter[str]())
        assert set(recorded) == set(KINDS)
        for kind in KINDS:
            assert recorded[kind] == counts[f"committed {kind}"] + counts[f"rolled back {kind}"]
        assert counts["rolled back new-order"] > 0
        assert ended.first_ns is not None
        assert load.busy_ns > 0
        # Intervals join without a gap.
        assert all(one["end_ns"] == next_["start_ns"] for one, next_ in pairwise(intervals))


def test_three_terminals_are_never_more_than_three_calls_under_way() -> None:
    with _carried_out(_plan(), _answered) as (_, intervals, *_rest):
        assert all(0 <= interval["inflight_mean"] <= 3 for interval in intervals)
        assert max(interval["inflight_mean"] for interval in intervals) > 1


@pytest.mark.parametrize(("state", "trouble"), [("53100", "full"), ("XX000", "statement")])
def test_an_error_ends_the_job_in_the_servers_words(state: str, trouble: str) -> None:
    with _carried_out(_plan(), _refusing(state), seconds=60.0) as (ended, intervals, _, _):
        assert ended.stopped_by == "error"
        assert ended.first_error is not None
        assert (ended.first_error["errno"], ended.first_error["message"]) == (trouble, f"it says: something is wrong ({state}).")
        errors = sum((Counter(cell["errors"]) for interval in intervals for cell in interval["cells"]), Counter[str]())
        assert set(errors) == {trouble}


def test_on_error_continue_goes_on_after_what_need_not_happen_again() -> None:
    with _carried_out(_plan(on_error="continue"), _refusing("57014")) as (ended, _, load, _):
        assert ended.first_error is None
        assert sum(load.counts["measure"].values()) > 3
    with _carried_out(_plan(on_error="continue"), lambda _question: b"", seconds=60.0) as (ended, *_):
        assert ended.first_error is not None
        assert ended.first_error["errno"] == "lost"


def test_latency_of_arrivals_counts_from_when_they_were_due() -> None:
    def slow(question: bytes) -> bytes:
        time.sleep(0.02)
        return _answered(question)

    # One terminal at 20 ms carries at most 50 a second; 1,000 are due.
    plan = _plan(terminals=1, arrival="constant", rate_per_s=450.0)
    with _carried_out(plan, slow, seconds=0.5) as (ended, intervals, _, _):
        cells = [cell for interval in intervals for cell in interval["cells"]]
        assert all(cell["service_sum_ns"] <= cell["latency_sum_ns"] for cell in cells)
        assert sum(cell["latency_sum_ns"] for cell in cells) > 3 * sum(cell["service_sum_ns"] for cell in cells)
        assert ended.unissued > 400
        assert intervals[-2]["backlog_ns"] > 0.3e9
        assert ended.offered_per_s == 450.0


def test_terminals_that_pause_are_not_waited_for() -> None:
    with _carried_out(_plan(pauses=100.0), _answered) as (ended, intervals, load, _):
        assert ended.stopped_by == "duration"
        assert sum(load.counts["measure"].values()) == 0
        assert intervals


def test_orders_with_an_unused_item_are_marked_to_be_rolled_back() -> None:
    plan = _plan(terminals=1)
    place = Desk(plan, Constants.of_run(1, Constants.of_database(SEED)), 0)
    same = Desk(plan, Constants.of_run(1, Constants.of_database(SEED)), 0)
    for kind, _, rolls_back, _ in islice(_asked(plan, place), 2_000):
        request = same.request(same.next(0.0)[0])
        assert KINDS[kind] == same.kind
        assert rolls_back == (isinstance(request, NewOrder) and request.unused)
