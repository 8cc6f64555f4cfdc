"""A point over time: columns, phases, rates, host counters."""

import gc
import weakref
from collections import Counter

from plimsoll.reports.view.distribution import Distribution
from plimsoll.reports.view.timeline import COLUMNS, host_timeline, significant, timeline

SECOND = 1_000_000_000


def interval(index, phase="measure", latency=((1000, 10),), service=None):
    summary = {"read": {"count": 10, "bytes": 40960, "errors": 1, "mean_ns": 1000, "p50_ns": 1000, "p99_ns": 1000, "max_ns": 1234}}
    cell = {"stream": "main", "op": "read", "part": None, "count": 10, "bytes": 40960, "errors": {}, "latency": latency, "service": service}
    span = {"start_ns": index * SECOND, "end_ns": (index + 1) * SECOND}
    return {"index": index, "phase": phase, **span, "summary": summary, "cells": [cell], "lag": None, "backlog_ns": 0}


def as_stored(histograms):
    """The distribution of buckets that stand in the place of histograms, added up."""
    total = Counter()
    for buckets in histograms:
        total.update(dict(buckets))
    return Distribution(sorted(total.items()))


def test_nothing_recorded_gives_nothing():
    assert timeline([], as_stored) is None


def test_rates_are_per_second_and_percentiles_come_from_the_histograms():
    read = timeline([interval(0), interval(1)], as_stored)["ops"]["read"]
    assert read["iops"] == [10, 10]
    assert read["bytes_per_s"] == [40960, 40960]
    assert read["p50_ns"] == [1000, 1000]
    assert read["max_ns"] == [1234, 1234]
    assert read["errors"] == [1, 1]


def test_an_interval_that_does_not_say_how_late_its_requests_were_leaves_a_gap() -> None:
    # A damaged store: every key of `lag` may be missing.
    line = timeline([{**interval(0), "lag": {"late": 3}}, {**interval(1), "lag": {"p99_ns": 5000}}], as_stored)
    assert line["lag_p99_ns"] == [None, 5000]


def test_each_percentile_is_its_own() -> None:
    # Of a hundred requests the fiftieth, the ninety-fifth and the ninety-ninth are three values; the drawn p99 was once the p95 unnoticed.
    latency = ((1000, 60), (2000, 37), (9000, 3))
    read = timeline([interval(0, latency=latency), interval(1, latency=((500, 98), (700, 2)))], as_stored)["ops"]["read"]
    assert read["p50_ns"] == [1000, 500]
    assert read["p99_ns"] == [9000, 700]


def test_long_points_are_merged_without_loss_and_never_across_phases():
    phases = ["warmup"] * 100 + ["measure"] * 900 + ["drain"]
    drawn = timeline([interval(index, phase) for index, phase in enumerate(phases)], as_stored)
    assert drawn["merged"] == 5
    assert len(drawn["start_s"]) <= COLUMNS
    assert drawn["warmup_end_s"] == 100
    assert drawn["measure_end_s"] == 1000
    assert sum(sum(column[1:]) for column in drawn["heat"]["read"]) == 10 * len(phases)
    assert set(drawn["ops"]["read"]["iops"]) == {10}


def test_the_percentile_curve_holds_the_measured_phase_only():
    drawn = timeline([interval(0, "warmup", latency=((9_000, 10),)), interval(1)], as_stored)
    (curve,) = drawn["curves"]
    assert (curve["op"], curve["kind"], curve["count"]) == ("read", "latency", 10)
    assert curve["levels"][-1] == (100.0, 1000)


def test_service_time_has_its_own_curve_where_it_differs():
    drawn = timeline([interval(0, service=((500, 10),))], as_stored)
    assert [(curve["kind"], curve["levels"][-1][1]) for curve in drawn["curves"]] == [("latency", 1000), ("service", 500)]


def test_an_operation_that_pauses_leaves_gaps_not_zeros():
    quiet = {**interval(1), "summary": {}, "cells": []}
    read = timeline([interval(0), quiet], as_stored)["ops"]["read"]
    assert read["iops"] == [10, 0]
    assert read["p99_ns"] == [1000, None]


def test_host_counters_keep_only_what_is_shown():
    samples = [
        {
            "index": index,
            "end_ns": (index + 1) * SECOND,
            "seconds": 1.0,
            "cpu": {"user_percent": 10.0, "idle_percent": 90.0},
            "devices": devices,
        }
        for index, devices in enumerate([{"sda": {"r_per_s": 5.0, "discards_per_s": 0.0}}, {}])
    ]
    host = host_timeline(samples)
    assert host["start_s"] == [0, 1]
    assert host["end_s"] == [1, 2]
    assert host["cpu"] == {"user_percent": [10, 10]}
    assert host["devices"] == {"sda": {"r_per_s": [5, None]}}
    assert host_timeline([]) is None


def test_rounding_keeps_significant_digits():
    assert [significant(value) for value in (0, 123456.7, 0.000123456, -98765.4)] == [0, 123460, 0.00012346, -98765]


def test_an_interval_cut_short_has_latencies_but_no_rate():
    cut = {**interval(5, "drain"), "end_ns": 5 * SECOND + SECOND // 1000}
    read = timeline([*(interval(index) for index in range(5)), cut], as_stored)["ops"]["read"]
    assert read["iops"] == [10, 10, 10, 10, 10, None]
    assert read["p50_ns"][-1] == 1000


class Kept(dict):
    """An interval whose end can be seen."""


class Store:
    """Reads intervals anew whenever they are gone through, and counts how many of them live at once."""

    def __init__(self, count):
        self._count = count
        self._living = weakref.WeakSet()
        self.most = self.read = 0

    def __len__(self):
        return self._count

    def __iter__(self):
        for index in range(self._count):
            self.read += 1
            one = Kept(interval(index))
            self._living.add(one)
            self.most = max(self.most, len(self._living))
            yield one


Kept.__hash__ = object.__hash__


def test_of_a_long_point_intervals_are_read_once_and_let_go():
    gc.disable()
    try:
        store = Store(10 * COLUMNS)
        drawn = timeline(store, as_stored)
    finally:
        gc.enable()
    assert len(drawn["start_s"]) == COLUMNS
    assert store.most <= 2 and store.read == 10 * COLUMNS
