"""Terminals of order entry in virtual time: who asks when, how latencies count, and how a job ends."""

from __future__ import annotations

from collections import Counter
from math import sqrt
from typing import Any

import pytest

from plimsoll.apps.databases.database import DatabaseError
from plimsoll.apps.order_entry.terminals import Plan, Terminals, desks
from plimsoll.orders.requests import KINDS, MIX
from plimsoll.orders.scale import Scale
from support.scripted_sessions import ScriptedSessions, VirtualCourse


def _plan(**changes: Any) -> Plan:
    return Plan(**{"scale": Scale(4), "mix": MIX, "terminals": 8, "seed": 1, **changes})


def _carried_out(plan: Plan, seconds: float = 100.0, **sessions: Any) -> tuple[VirtualCourse, ScriptedSessions, Terminals]:
    course = VirtualCourse(seconds)
    scripted = ScriptedSessions(course, **sessions)
    terminals = Terminals(plan, scripted)
    terminals.carry_out(course)  # type: ignore[arg-type]
    return course, scripted, terminals


def _completed(course: VirtualCourse) -> int:
    return sum(cell.latency.count for cell in course.slice.cells.values())


def test_closed_terminals_ask_again_when_they_have_their_answer() -> None:
    course, scripted, _ = _carried_out(_plan(), seconds=2.0, service_s=0.010)
    # Eight terminals, a hundred transactions a second each.
    assert _completed(course) == 8 * 100 * 2
    assert Counter(terminal for terminal, _ in scripted.asked) == dict.fromkeys(range(8), 200)
    assert course.cell("new-order").service is None


def test_every_transaction_is_recorded_under_its_kind() -> None:
    course, _, terminals = _carried_out(_plan(terminals=1), seconds=100.0, service_s=0.010)
    counts = {kind: course.cell(kind).latency.count for kind in KINDS}
    assert counts == {kind: 100 * share for kind, share in MIX.items()}
    ended = terminals.counts["measure"]
    assert ended["committed new-order"] + ended["rolled back new-order"] == 4_500
    assert 20 < ended["rolled back new-order"] < 75


def test_terminals_stay_at_their_warehouse_and_spread_over_all() -> None:
    _, scripted, _ = _carried_out(_plan(terminals=10), seconds=1.0)
    homes: dict[int, set[int]] = {}
    for terminal, request in scripted.asked:
        homes.setdefault(terminal, set()).add(request.warehouse)
    assert homes == {terminal: {terminal % 4 + 1} for terminal in range(10)}


def test_users_type_and_think_between_their_transactions() -> None:
    course, _, _ = _carried_out(_plan(terminals=200, pauses=1.0), seconds=500.0, service_s=0.010)
    # Keying and thinking by the mix: .45 (18 + 12) + .43 (3 + 12) + .04 (2 + 10) + .04 (2 + 5) + .04 (2 + 5) = 20.99 s.
    expected = 200 * 500 / 20.99
    assert abs(_completed(course) - expected) < 0.05 * expected
    _, hurried, _ = _carried_out(_plan(terminals=200, pauses=0.1), seconds=50.0, service_s=0.0)
    assert abs(len(hurried.asked) - expected) < 0.05 * expected


def test_new_orders_come_at_the_rate_and_the_others_with_them() -> None:
    course, _, _ = _carried_out(_plan(terminals=100, arrival="poisson", rate_per_s=45.0), seconds=200.0)
    new_orders = course.cell("new-order").latency.count
    assert abs(new_orders - 9_000) < 4 * sqrt(9_000)
    assert abs(_completed(course) - 20_000) < 4 * sqrt(20_000)
    assert course.ended.offered_per_s == 45.0


def test_constant_arrivals_are_evenly_spaced() -> None:
    course, _, _ = _carried_out(_plan(terminals=4, arrival="constant", rate_per_s=4.5), seconds=100.0, service_s=0.050)
    # Ten a second from 0.1 s on; the last would be due at the end.
    assert _completed(course) == 999
    assert course.slice.late == 0


def test_latency_counts_from_when_a_transaction_was_due() -> None:
    # Two terminals at 10 ms carry 200 transactions a second; 400 are due.
    course, _, _ = _carried_out(_plan(terminals=2, arrival="constant", rate_per_s=180.0), seconds=10.0, service_s=0.010)
    cell = course.cell("new-order")
    assert cell.service is not None
    assert abs(cell.service.histogram().mean - 10e6) < 1e5
    # The backlog grows to half of the time that the load lasts.
    assert cell.latency.histogram().max > 4e9
    assert course.ended.unissued == pytest.approx(2_000, abs=10)
    assert sum(ages.count for ages in course.slice.waiting.values()) == pytest.approx(2_000, abs=10)
    assert course.slice.behind_ns > 4e9


def test_a_database_that_stands_still_is_in_the_percentiles_of_what_was_due_meanwhile() -> None:
    """Coordinated omission: 20 terminals that wait have 20 slow transactions, whatever was due meanwhile."""
    closed, _, _ = _carried_out(_plan(terminals=20), seconds=5.0, service_s=0.010, stall_s=(2.0, 2.5))
    assert closed.cell("payment").latency.histogram().percentile(99) < 20e6
    open_plan = _plan(terminals=20, arrival="poisson", rate_per_s=45.0)
    course, _, _ = _carried_out(open_plan, seconds=100.0, service_s=0.010, stall_s=(40.0, 50.0))
    cell = course.cell("new-order")
    assert cell.service is not None
    latency, service = cell.latency.histogram(), cell.service.histogram()
    # A tenth was due in those 10 s and waited for their end, evenly from 10 s to nothing; then the backlog of 1,000 is worked off in half a
    # second. So of all a hundredth took 9 s or more, a twentieth 5 s, and the longest 10 s.
    assert latency.percentile(99) == pytest.approx(9e9, rel=0.08)
    assert latency.percentile(95) == pytest.approx(5e9, rel=0.12)
    assert latency.max == pytest.approx(10e9, rel=0.05)
    assert latency.percentile(50) < 20e6
    assert service.percentile(99) < 20e6


def test_what_waits_for_a_free_terminal_is_no_lag_of_ours() -> None:
    course, _, _ = _carried_out(_plan(terminals=2, arrival="constant", rate_per_s=180.0), seconds=10.0, service_s=0.010)
    assert course.slice.late <= 2


def test_what_leaves_late_although_a_terminal_is_free_is_our_own_lag() -> None:
    course, _, _ = _carried_out(_plan(terminals=50, arrival="poisson", rate_per_s=45.0), seconds=20.0, late_s=0.002)
    assert course.slice.lag.count > 1_000
    assert course.slice.late > 0.9 * course.slice.lag.count
    assert course.cell("new-order").latency.histogram().mean > 11e6


def test_a_failed_transaction_ends_the_job_in_a_sentence() -> None:
    def fail(number: int, _request: object) -> DatabaseError | None:
        return DatabaseError("the disk is full.", "full") if number == 50 else None

    course, scripted, terminals = _carried_out(_plan(), fail=fail)
    assert course.ended.first_error is not None
    assert (course.ended.first_error["message"], course.ended.first_error["errno"]) == ("the disk is full.", "full")
    assert len(scripted.asked) < 70
    assert sum(terminals.counts["measure"].values()) == len(scripted.asked)


@pytest.mark.parametrize(("trouble", "goes_on"), [("statement", True), ("conflict", True), ("full", False), ("lost", False)])
def test_on_error_continue_goes_on_after_what_need_not_happen_again(trouble: Any, goes_on: bool) -> None:
    def fail(number: int, _request: object) -> DatabaseError | None:
        return DatabaseError("it failed.", trouble) if number == 50 else None

    course, scripted, _ = _carried_out(_plan(on_error="continue"), seconds=10.0, fail=fail)
    assert (len(scripted.asked) > 1_000) == goes_on
    assert sum(cell.errors.total() for cell in course.slice.cells.values()) == 1


def test_transactions_under_way_at_the_end_are_waited_for() -> None:
    course, scripted, _ = _carried_out(_plan(), seconds=1.0, service_s=3.0)
    assert _completed(course) == 8
    assert not scripted.abandoned


def test_after_a_brake_a_hanging_database_is_left() -> None:
    course = VirtualCourse(1.0)
    scripted = ScriptedSessions(course, service_s=10_000.0)
    terminals = Terminals(_plan(), scripted)
    terminals.interrupt()
    terminals.carry_out(course)  # type: ignore[arg-type]
    assert scripted.abandoned
    assert course.at_ns < 10e9


def test_the_same_seed_asks_the_same_of_the_same_database() -> None:
    first, again = (_carried_out(_plan(), seconds=1.0)[1].asked for _ in range(2))
    other = _carried_out(_plan(seed=2), seconds=1.0)[1].asked
    assert first == again
    assert first != other


def test_terminals_of_several_hosts_stand_where_those_of_one_would_and_draw_alike() -> None:
    alone = [(desk.warehouse, desk.district) for desk in desks(_plan(terminals=12))]
    hosts = [desks(_plan(terminals=4, first=4 * number, seed=1 + number * 1_000_003, constants_seed=1)) for number in range(3)]
    assert [(desk.warehouse, desk.district) for own in hosts for desk in own] == alone
    constants = {_plan(seed=1 + number * 1_000_003, constants_seed=1).constants for number in range(3)}
    assert constants == {_plan().constants}, "what is drawn often is the same for all"
    first = [[own[0].next(0.0)[0] for _ in range(40)] for own in hosts]
    assert len({tuple(kinds) for kinds in first}) == 3, "each host draws for itself"
