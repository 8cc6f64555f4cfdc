"""Little's law over a window is exact once both edges are allowed for: no request that crosses one makes a sound point invalid."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from plimsoll import calibration
from plimsoll.analysis.point.observation import Observation
from plimsoll.analysis.point.summary import Summary
from plimsoll.analysis.validity.conclusion import conclude
from plimsoll.engine.block import native
from plimsoll.measure import Job, measure
from plimsoll.own_cost import OwnCost
from plimsoll.result import Flag, Result
from plimsoll.target import Target

Json = dict[str, Any]

#: What crosses the opening edge, at 1 s, or the closing one, at 3 s: nothing, or a time in which the server stands still.
STALLS = ("", "&stall=0.6s+0.9s", "&stall=0.9s+1.9s", "&stall=2.5s+2s", "&stall=0.2s+1.3s,2.9s+5s", "&stall=0.5s+9s")


class Kept:
    """A sink that keeps the intervals."""

    def __init__(self) -> None:
        self.intervals: list[Json] = []

    def interval(self, interval: Json) -> None:
        self.intervals.append(interval)

    def monitor(self, sample: Json) -> None: ...


@pytest.fixture(autouse=True)
def calibrated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibration, "load", lambda: OwnCost({"null": {"iops_per_core": 40e6}}))


def measured(stream: Json, target: str, seed: int) -> tuple[Result, list[Json]]:
    """Two seconds after a warm-up of one, in virtual time."""
    engine, sink = native(), Kept()
    workload = engine.check_workload({"stream": [{"name": "main", **stream}]}, "edges.toml")
    options = engine.check_job({"duration": 2, "warmup": 1, "seed": seed})
    job = Job("0001-edges", workload, options, Target(target), {"target": {"kind": "queue"}})
    return measure(job, engine, sink, engine.control()), sink.intervals


def observed(intervals: list[Json]) -> Observation:
    observation = Observation()
    for one in intervals:
        observation.add(one)
    return observation


@settings(max_examples=60, deadline=None)
@given(
    arrival=st.sampled_from([{}, {"arrival": "poisson", "rate": 300}, {"arrival": "constant", "rate": 40}, {"think_time": "20ms"}]),
    depth=st.integers(1, 64),
    service=st.sampled_from(["exp:1ms", "const:700ms", "exp:300ms", "uniform:1ms-2s", "const:3s"]),
    servers=st.integers(1, 8),
    stall=st.sampled_from(STALLS),
    seed=st.integers(1, 1 << 30),
)
@example(arrival={}, depth=1, service="exp:1ms", servers=1, stall="&stall=0.2s+1.3s", seed=1)
def test_the_time_in_flight_is_that_of_the_requests_with_both_edges_allowed_for(
    arrival: Json, depth: int, service: str, servers: int, stall: str, seed: int
) -> None:
    stream = {**arrival, "queue_depth": depth}
    result, intervals = measured(stream, f"queue:?service={service}&servers={servers}{stall}", seed)
    assert "littles_law" not in {flag.name for flag in result.flags}
    observation = observed(intervals)
    assert observation.inflight_mean is not None and observation.edges_s is not None
    totals = [total for total in result.totals.values() if total.service_ns is not None]
    served_s = sum(total.count * total.service_ns.mean for total in totals if total.service_ns is not None) / 1e9
    in_flight_s = observation.inflight_mean * observation.elapsed_s
    # Open streams' service times are counted in a histogram of three digits.
    assert in_flight_s == pytest.approx(served_s + observation.edges_s, rel=2e-3, abs=1e-3)


def flags_of(intervals: list[Json], result: Result) -> dict[str, Flag]:
    summary, observation = Summary(), Observation()
    for one in intervals:
        summary.add(one)
        observation.add(one)
    return {flag.name: flag for flag in conclude(result, summary, observation).flags}


@pytest.mark.parametrize(("lost", "raised"), [(0.02, False), (0.1, True), (-0.1, True)])
def test_time_that_was_lost_within_the_window_is_still_found(lost: float, raised: bool) -> None:
    # The book-keeping of the requests in flight misses a tenth, or holds a tenth too much: no edge explains it.
    result, intervals = measured({"queue_depth": 4}, "queue:?service=exp:1ms&stall=0.5s+0.8s", 1)
    for one in intervals:
        one["inflight_mean"] *= 1 - lost
    found = flags_of(intervals, result)
    assert ("littles_law" in found) is raised
    if raised:
        assert found["littles_law"].severity == "invalid" and "the edges of the measured time" in found["littles_law"].message


def test_records_that_do_not_tell_of_their_edges_have_the_wider_limit() -> None:
    result, intervals = measured({"queue_depth": 4}, "queue:?service=exp:1ms", 1)
    for one in intervals:
        del one["inflight_age_ns"]
    assert observed(intervals).edges_s is None
    assert "littles_law" not in flags_of(intervals, result)


def test_a_point_without_a_warm_up_begins_with_nothing_in_flight() -> None:
    observation = Observation()
    observation.add({"phase": "measure", "start_ns": 0, "end_ns": 10**9, "inflight_mean": 1.0, "inflight_age_ns": 5 * 10**8, "cells": []})
    assert observation.edges_s == 0.5
