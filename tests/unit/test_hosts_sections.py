"""Sections of drivers of several hosts as one: exact sums, and no figure where one of them has none."""

from __future__ import annotations

from typing import Any

from plimsoll.analysis.hosts.sections import summed_sections
from plimsoll.histogram import Histogram


def orders(**changes: Any) -> Any:
    known = {
        "derived_from": "TPC-C", "terminals": 4, "committed": {"new-order": 90, "payment": 80}, "rolled_back": 10, "rolled_back_share": 0.1,
        "failed": {}, "retries": {"deadlock": 1}, "loop_cpu_ns": 5, "starved_ns": 0, "watched_s": 1.0, "wal_bytes": 100, "flush_ns": {},
        "waits": {"storage": 0.5, "locks": 0.5}, "events": {}, "counters": {"commits": 7.0}, "own_share": None, "engine": "postgresql",
        "client": "threads", "stream": {"terminals": 4, "warehouses": 2}, "orders_before": 60, "size_bytes": 1000, "settings": {"fsync": "on"},
        "consistent": True, "broken": [],
    }  # fmt: skip
    return {**known, **changes}


def test_transactions_of_hosts_add_up_exactly() -> None:
    both = summed_sections([{"orders": orders()}, {"orders": orders(committed={"new-order": 10, "delivery": 3}, rolled_back=30)}])["orders"]
    assert both["committed"] == {"new-order": 100, "payment": 80, "delivery": 3}
    assert (both["rolled_back"], both["rolled_back_share"]) == (40, 40 / 140)
    assert (both["terminals"], both["stream"]["terminals"], both["retries"]) == (8, 8, {"deadlock": 2})
    assert both["wal_bytes"] == 200
    assert both["waits"] == {"storage": 0.5, "locks": 0.5}


def test_one_inconsistent_database_is_that_of_all() -> None:
    found = summed_sections([{"orders": orders()}, {"orders": orders(consistent=False, broken=["a district has lost an order"])}])["orders"]
    assert (found["consistent"], found["broken"]) == (False, ["a district has lost an order"])
    assert summed_sections([{"orders": orders()}, {"orders": orders(consistent=None)}])["orders"]["consistent"] is None


def test_what_one_host_does_not_know_has_no_sum() -> None:
    found = summed_sections([{"orders": orders()}, {"orders": orders(wal_bytes=None, engine="sqlite", waits={})}])["orders"]
    assert (found["wal_bytes"], found["engine"], found["waits"]) == (None, None, {})


def test_sections_that_one_host_lacks_stay_in_the_hosts_results() -> None:
    assert summed_sections([{"orders": orders()}, {}]) == {}


def workflow(number: int) -> Any:
    return {"number": number, "iteration": 1, "status": "complete"}


def test_workflows_of_hosts_are_numbered_on_and_iterations_last_as_long_as_the_last() -> None:
    iteration = {
        "number": 1, "start_s": 0.0, "end_s": 2.0, "real_s": 2.0, "workflows": 2, "failed": 0, "user_s": 1.0, "system_s": 0.5, "cpu_s": 1.5,
        "cpu": {"user_percent": 9}, "device_read_bytes": 5, "device_written_bytes": 5,
    }  # fmt: skip
    one = {
        "banner": "b", "engine": "files", "row_bytes": 400, "data_bytes": 800, "asked": {"workflows": 2, "direct": False}, "failed": 0,
        "wrong_data": 0, "watching_cpu_s": 0.1, "workflows": [workflow(1), workflow(2)], "iterations": [iteration], "whole": True,
    }  # fmt: skip
    other = {**one, "failed": 1, "iterations": [{**iteration, "end_s": 3.0, "real_s": 3.0}], "whole": False}
    both = summed_sections([{"analytics": one}, {"analytics": other}])["analytics"]
    assert [each["number"] for each in both["workflows"]] == [1, 2, 3, 4]
    assert (both["asked"]["workflows"], both["failed"], both["whole"], both["data_bytes"]) == (4, 1, False, 800)
    (whole,) = both["iterations"]
    assert (whole["real_s"], whole["workflows"], whole["cpu_s"], whole["device_read_bytes"]) == (3.0, 4, 3.0, None)


def mail(*handed_ns: int, **changes: Any) -> Any:
    times = Histogram()
    for value in handed_ns:
        times.record(value)
    known = {"users": 5, "letters": len(handed_ns), "deliveries": 9, "refused_recipients": 0, "skipped": {"clerks": {"read": 1}}}
    return {**known, "handovers": times.encode(), **changes}


def test_percentiles_of_mail_come_of_all_hosts_times_and_not_of_their_percentiles() -> None:
    # 98 quick ones and two slow ones, both at one host: of all, the 95th percentile is quick; of that host's, it is slow.
    quick, slow = 1_000_000, 500_000_000
    found = summed_sections([{"mail": mail(*[quick] * 90)}, {"mail": mail(*[quick] * 8, slow, slow, skipped={"clerks": {"move": 2}})}])[
        "mail"
    ]
    assert (found["users"], found["letters"], found["deliveries"]) == (10, 100, 18)
    assert found["skipped"] == {"clerks": {"read": 1, "move": 2}}
    assert (found["handover_ms"]["count"], round(found["handover_ms"]["p95"]), round(found["handover_ms"]["max"])) == (100, 1, 500)
    assert "account" not in found, "nobody has counted at the hosts"


def test_accounts_of_hosts_own_mail_servers_add_up() -> None:
    lost = {"taken": 4, "found": 3, "lost": 1, "examples": ["letter 7"]}
    right = {"taken": 5, "found": 5, "lost": 0, "examples": []}
    found = summed_sections([{"mail": mail(handovers=None, account=right)}, {"mail": mail(handovers=None, account=lost)}])["mail"]
    assert found["account"] == {"taken": 9, "found": 8, "lost": 1, "examples": ["letter 7"]}
    assert found["handover_ms"] is None
