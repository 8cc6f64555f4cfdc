"""Estimates of a point: the values of its totals, with intervals that cover the truth."""

from __future__ import annotations

from math import log
from random import Random
from typing import Any

import pytest

from plimsoll.analysis.point.estimates import PERCENTILES, estimate, estimates
from plimsoll.analysis.point.observation import BATCHES_MAX as CAPACITY
from plimsoll.analysis.point.observation import Batches, Portion
from plimsoll.analysis.point.summary import Summary, summarise
from plimsoll.engine.block import native
from plimsoll.histogram import Histogram
from plimsoll.measure import Job, measure
from plimsoll.result import Result
from plimsoll.target import Target
from support.scripted_engine import Script, interval


def portion(latencies_ns: list[int], size: int = 4096) -> Portion:
    histogram = Histogram()
    for latency in latencies_ns:
        histogram.record(latency)
    return Portion(len(latencies_ns), len(latencies_ns) * size, float(sum(latencies_ns)), histogram)


def test_batches_stay_bounded_and_lose_no_total() -> None:
    batches = Batches()
    for _ in range(1000):
        batches.add(0.5, {"read": portion([1000, 2000])})
    assert CAPACITY // 2 <= len(batches.equal()) < CAPACITY
    assert len({batch.seconds for batch in batches.equal()}) == 1
    every = [batch.portions["read"] for batch in batches]
    assert sum(one.count for one in every) == 2000 and sum(one.bytes for one in every) == 2000 * 4096
    assert sum(one.latency.count for one in every if one.latency) == 2000
    assert sum(one.latency_sum_ns for one in every) == 3e6
    assert sum(batch.seconds for batch in batches) == 500.0


def test_an_interval_cut_short_counts_to_the_value_only() -> None:
    batches = Batches()
    for _ in range(10):
        batches.add(1.0, {"read": Portion(100)})
    batches.add(0.2, {"read": Portion(90)})
    found = estimate(batches, "read", "iops")
    assert found is not None and found.batches == 10
    assert found.value == pytest.approx(1090 / 10.2)
    assert found.low == found.high == found.value


def test_values_are_those_of_the_totals_exactly() -> None:
    random, summary = Random(1), Summary()
    for index in range(77):
        script = Script(warmup_intervals=0, ops=("read", "write"), latencies_ns=tuple(random.choices(range(100_000, 900_000, 999), k=50)))
        summary.add(interval(script, index, ["a", "b"]))
    totals = summary.totals()
    found = estimates(summary.batches, totals)
    assert list(found) == ["all", "read", "write"]
    for op, total in totals.items():
        assert total.latency_ns is not None
        assert (found[op]["iops"].value, found[op]["bytes_per_s"].value) == (total.iops, total.bytes_per_s)
        for name in ("mean", *PERCENTILES, "max"):
            assert found[op][name].value == getattr(total.latency_ns, name), name
    assert found["all"]["iops"].value == sum(total.iops for total in totals.values())
    assert found["all"]["max"].low is None


def test_percentiles_of_all_operations_come_from_their_merged_histogram() -> None:
    batches = Batches()
    for _ in range(20):
        batches.add(1.0, {"read": portion([1000] * 90), "write": portion([5000] * 10)})
    found = estimate(batches, "all", "p50"), estimate(batches, "all", "p95")
    assert [one.value for one in found if one] == [pytest.approx(1000, rel=1 / 256), pytest.approx(5000, rel=1 / 256)]


def test_one_operation_is_all_operations() -> None:
    summary = summarise(interval(Script(warmup_intervals=0), index, ["main"]) for index in range(20))
    found = estimates(summary.batches, summary.totals())
    assert found["all"] == found["read"]


def test_a_response_that_never_varies_has_no_width() -> None:
    summary = summarise(interval(Script(warmup_intervals=0), index, ["main"]) for index in range(60))
    found = estimates(summary.batches, summary.totals())["read"]
    for name in ("iops", "bytes_per_s", "mean", "p50", "p90", "p95", "p99"):
        assert found[name].low == pytest.approx(found[name].value) == found[name].high, name


def test_an_operation_that_only_failed_has_rates_only() -> None:
    cell = {"stream": "main", "op": "write", "part": None, "count": 0, "bytes": 0, "errors": {"EIO": 3}, "latency": None, "service": None}
    summary = summarise({"phase": "measure", "start_ns": index, "end_ns": index + 1, "cells": [cell]} for index in range(10))
    assert list(estimates(summary.batches, summary.totals())["write"]) == ["iops", "bytes_per_s"]


def test_nothing_measured_has_no_estimates() -> None:
    assert estimates(Batches(), {}) == {}
    assert estimate(Batches(), "read", "mean") is None


def test_a_percentile_needs_requests_beyond_it() -> None:
    random, batches = Random(2), Batches()
    for _ in range(40):
        batches.add(1.0, {"read": portion([random.randrange(1000, 9000) for _ in range(200)])})
    found = {name: estimate(batches, "read", name) for name in ("p99", "p999")}
    # 8,000 requests: 80 lie beyond the 99th percentile, 8 beyond the 99.9th.
    assert found["p99"] is not None and found["p99"].low is not None
    assert found["p999"] is not None and found["p999"].low is None and found["p999"].value > found["p99"].value


def test_busy_batches_weigh_more_in_the_mean() -> None:
    batches = Batches()
    for index in range(40):
        batches.add(1.0, {"read": portion([1000] * 900 if index % 2 else [9000] * 100)})
    found = estimate(batches, "read", "mean")
    # (900 × 1000 + 100 × 9000) / 1000.
    assert found is not None and found.value == pytest.approx(1800)
    assert found.low is not None and found.high is not None and found.low <= 1800 <= found.high


class Nowhere:
    """A sink that keeps nothing."""

    def interval(self, interval: dict[str, Any]) -> None:
        pass

    def monitor(self, sample: dict[str, Any]) -> None:
        pass


def queue(rate: float, seed: int, duration_s: int) -> Result:
    """M/M/1 with a service rate of 1000/s, in virtual time."""
    engine = native()
    stream = {"name": "main", "arrival": "poisson", "rate": rate, "queue_depth": 4096}
    options = engine.check_job({"duration": duration_s, "warmup": 2, "seed": seed})
    job = Job(
        "0001",
        engine.check_workload({"stream": [stream]}, "queue.toml"),
        options,
        Target("queue:?service=exp:1ms"),
        {"target": {"kind": "queue"}},
    )
    return measure(job, engine, Nowhere(), engine.control())


@pytest.mark.parametrize("rate", [300.0, 500.0])
def test_intervals_of_every_metric_cover_the_theory_of_a_queue(here: object, rate: float) -> None:
    # Response time in M/M/1 is exponential with mean 1 / (μ - λ) (Kleinrock, Queueing Systems I, 3.2).
    mean_ns = 1e9 / (1000.0 - rate)
    truth = {"iops": rate, "bytes_per_s": 4096 * rate, "mean": mean_ns}
    truth |= {name: -log(1 - percent / 100) * mean_ns for name, percent in PERCENTILES.items() if name != "p999"}
    runs, held = 80, dict.fromkeys(truth, 0)
    for seed in range(runs):
        found = queue(rate, seed, 40).estimates["read"]
        for name, value in truth.items():
            low, high = found[name].low, found[name].high
            # A histogram tells values apart within 1/1024.
            held[name] += low is not None and high is not None and low * 0.999 <= value <= high * 1.001
    # 95 % of 80 is 76, and the binomial deviation 1.9.
    assert {name: count for name, count in held.items() if count < 71} == {}
