"""What the bench does so that neither other processes nor a client's own way decide on latencies: scheduling, and calls that do nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

pytest.importorskip("psycopg")


@contextmanager
def _bench() -> Iterator[None]:
    """The bench's own modules can be imported."""
    folder = str(Path(__file__).parents[2] / "dev")
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path.remove(folder)


def test_a_server_and_what_it_starts_come_first_and_go_back_to_the_others() -> None:
    with _bench():
        from speed.foremost import foremost
    command = "import subprocess; print(1, flush=True); subprocess.run(['sleep', '60'])"
    with subprocess.Popen([sys.executable, "-c", command], stdout=subprocess.PIPE) as server:
        try:
            assert server.stdout is not None and server.stdout.readline()
            with foremost(server.pid) as alone:
                if not alone:
                    pytest.skip("real-time scheduling is not allowed here")
                assert {os.sched_getscheduler(pid) for pid in (0, server.pid)} == {os.SCHED_RR}
            assert {os.sched_getscheduler(pid) for pid in (0, server.pid)} == {os.SCHED_OTHER}
        finally:
            server.kill()


def test_functions_that_only_take_time_are_called_and_answer_as_the_others_do() -> None:
    with _bench():
        from speed.empty_calls import _empty
    from plimsoll.orders.functions import CREATE

    for statement in CREATE:
        head, _, _ = statement.partition("AS $body$")
        empty = _empty(statement)
        assert empty.startswith(head) and empty.endswith("END $body$")
        assert not any(word in empty for word in ("SELECT", "UPDATE", "INSERT", "DELETE"))
    assert "CASE WHEN items[cardinality(items)] <= 100000 THEN 1 END" in _empty(CREATE[0])


def test_the_way_to_the_server_is_taken_off_each_transaction_by_its_script() -> None:
    with _bench():
        from speed import pgbench
        from speed.process import Finished
    asked = pgbench.Asked(warehouses=2, clients=1, seconds=10.0, warmup_s=0.0)
    ended = [pgbench._Ended(1.0 + number / 10, f"new-order-{5 + number}", "new-order", 1_000 * (5 + number)) for number in range(3)]
    empty = {"new-order-5": 1_000, "new-order-6": 2_000, "new-order-7": 6_500}
    entered = pgbench._entered(ended, asked, Finished(0, 0, 0, 0, ""), empty)
    assert entered.latencies["new-order"] == {50: 6_000, 90: 7_000, 99: 7_000}
    assert entered.inside["new-order"] == {50: 4_000, 90: 4_000, 99: 4_000}
    assert pgbench.of_kinds(empty) == {"new-order": pytest.approx(9_500 / 3)}


@pytest.mark.parametrize(
    ("apart", "chance", "is_judged"),
    [(4.0, 1.0, True), (9.0, 1.0, True), (9.0, 60.0, False), (90.0, 60.0, True)],
    ids=["near and sure", "apart and sure", "within what chance makes", "beyond what chance makes"],
)
def test_a_percentile_is_left_out_only_where_chance_alone_makes_such_a_difference(apart: float, chance: float, is_judged: bool) -> None:
    with _bench():
        from speed.orders import judged
    assert judged(apart, chance) is is_judged


def test_queries_are_compared_by_the_median_of_each_and_not_of_whole_rounds() -> None:
    with _bench():
        from speed.harness import Asked, _seconds
    rounds = [Asked((1.0, 2.0), 0.1, 0.0), Asked((5.0, 2.0), 0.1, 0.0), Asked((1.0, 9.0), 0.1, 0.0)]
    assert _seconds(rounds) == pytest.approx(3.1)


@pytest.mark.parametrize("noise", [0.0, 0.3], ids=["a calm peer", "a peer that differs from itself"])
def test_a_latency_whose_peer_differs_from_itself_is_not_measurable_and_says_so(noise: float) -> None:
    with _bench():
        from speed.orders import _latency_row
        from speed.pgbench import Entered

    def entered(latency_ns: float) -> Entered:
        latencies = {"payment": {50: latency_ns, 90: latency_ns, 99: latency_ns}}
        return Entered(5000, 100.0, {"payment": 5000}, latencies, latencies, 0.0)

    theirs = [1e6 * (1 + noise * (number % 2)) for number in range(6)]
    found = {"plimsoll": [entered(1.02 * took) for took in theirs], "pgbench": [entered(took) for took in theirs]}
    row = _latency_row("orders", "payment", found, "quietly")
    if noise:
        assert (row.measured, row.verdict) == (None, "not measurable")
        assert row.detail.startswith(
            "not measurable: at no percentile are there enough of them and pgbench within 5 % of itself; p50 1.020"
        )
        assert "pgbench from itself up to 30.0 %" in row.detail
    else:
        assert row.verdict == "met"
        assert row.measured == pytest.approx(2.0)
