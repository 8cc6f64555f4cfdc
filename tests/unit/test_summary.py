"""Totals from intervals: known answers."""

from __future__ import annotations

import pytest

from plimsoll.analysis.point.summary import Summary, summarise
from support.scripted_engine import INTERVAL_NS, Script, encoded, interval


def test_rates_divide_by_measured_time_only() -> None:
    script = Script(warmup_intervals=2, latencies_ns=(100_000,) * 50)
    totals = summarise(interval(script, index, ["main"]) for index in range(12)).totals()
    # 10 measured intervals of 0.1 s with 50 requests of 4096 bytes.
    assert totals["read"].count == 500
    assert totals["read"].iops == pytest.approx(500.0)
    assert totals["read"].bytes_per_s == pytest.approx(500 * 4096)


def test_percentiles_are_those_of_all_values_together() -> None:
    summary = Summary()
    for index, value in enumerate([1_000_000] * 98 + [9_000_000, 50_000_000]):
        summary.add(interval(Script(warmup_intervals=0, latencies_ns=(value,)), index, ["main"]))
    latency = summary.totals()["read"].latency_ns
    assert latency is not None
    # Nearest rank of 100 values, within the histogram's 1/256.
    assert latency.p50 == pytest.approx(1_000_000, rel=1 / 256)
    assert latency.p99 == pytest.approx(9_000_000, rel=1 / 256)
    assert latency.max == pytest.approx(50_000_000, rel=1 / 256)
    assert latency.mean == pytest.approx((98 * 1e6 + 9e6 + 50e6) / 100, rel=1 / 256)


def test_streams_and_parts_add_up_to_the_total() -> None:
    script = Script(warmup_intervals=0, parts=("0:/dev/a", "1:/dev/b"), ops=("read", "write"))
    summary = summarise(interval(script, index, ["data", "log"]) for index in range(3))
    for op in ("read", "write"):
        total = summary.totals()[op].count
        assert sum(stream[op].count for stream in summary.streams().values()) == total
        assert sum(part[op].count for part in summary.parts().values()) == total
    assert list(summary.streams()) == ["data", "log"]


def test_parts_stand_in_the_order_of_their_index() -> None:
    script = Script(warmup_intervals=0, parts=tuple(f"{index}:/dev/x{index}" for index in range(12)))
    assert list(summarise([interval(script, 0, ["main"])]).parts()) == [f"{index}:/dev/x{index}" for index in range(12)]


def test_a_target_without_parts_has_none() -> None:
    assert summarise([interval(Script(warmup_intervals=0), 0, ["main"])]).parts() == {}


def test_service_time_is_the_latency_where_the_engine_says_so() -> None:
    closed = summarise([interval(Script(warmup_intervals=0), 0, ["main"])]).totals()["read"]
    assert closed.service_ns == closed.latency_ns


def test_service_time_stands_beside_latency_in_an_open_loop() -> None:
    script = Script(warmup_intervals=0, latencies_ns=(9_000_000,) * 10, service_ns=(1_000_000,) * 10)
    total = summarise([interval(script, 0, ["main"])]).totals()["read"]
    assert total.latency_ns is not None and total.service_ns is not None
    assert total.latency_ns.mean == pytest.approx(9e6, rel=1 / 256)
    assert total.service_ns.mean == pytest.approx(1e6, rel=1 / 256)


@pytest.mark.parametrize("first_is_open", [True, False])
def test_open_and_closed_streams_merge_in_any_order(first_is_open: bool) -> None:
    opened = Script(warmup_intervals=0, latencies_ns=(9_000_000,) * 10, service_ns=(1_000_000,) * 10)
    closed = Script(warmup_intervals=0, latencies_ns=(3_000_000,) * 10)
    scripts = [opened, closed] if first_is_open else [closed, opened]
    total = summarise(interval(script, index, [f"s{index}"]) for index, script in enumerate(scripts)).totals()["read"]
    assert total.latency_ns is not None and total.service_ns is not None
    assert total.latency_ns.mean == pytest.approx(6e6, rel=1 / 128)
    assert total.service_ns.mean == pytest.approx(2e6, rel=1 / 128)


def test_errors_are_counted_by_operation_and_name() -> None:
    script = Script(warmup_intervals=0, errors={"EIO": 2, "ENOSPC": 1})
    summary = summarise(interval(script, index, ["main"]) for index in range(2))
    assert summary.errors() == {"read": {"EIO": 4, "ENOSPC": 2}}
    assert summary.totals()["read"].errors == 6


def test_nothing_measured_gives_no_totals() -> None:
    assert summarise([interval(Script(warmup_intervals=5), 0, ["main"])]).totals() == {}


def test_an_operation_that_only_failed_has_no_latency() -> None:
    cell = {"stream": "main", "op": "write", "part": None, "count": 0, "bytes": 0, "errors": {"EIO": 3}, "latency": None, "service": None}
    total = summarise([{"phase": "measure", "start_ns": 0, "end_ns": INTERVAL_NS, "cells": [cell]}]).totals()["write"]
    assert (total.count, total.errors, total.latency_ns) == (0, 3, None)


def test_memory_does_not_grow_with_the_length_of_the_job() -> None:
    summary = Summary()
    one = interval(Script(warmup_intervals=0), 0, ["main"])
    for _ in range(200):
        summary.add(one)
    assert len(summary._tallies) == 1
    assert encoded((100_000,)) and summary.totals()["read"].count == 200 * 100
