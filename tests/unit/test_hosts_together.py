"""What hosts measured adds up exactly: every count and every bucket of every histogram is in the sum once, however intervals arrive."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plimsoll.analysis.hosts.together import Together, summed
from plimsoll.analysis.point.summary import summarise
from plimsoll.gang.course import summed_outcome
from plimsoll.histogram import Histogram, decoded


def encoded(values: list[int]) -> str:
    histogram = Histogram()
    for value in values:
        histogram.record(value)
    return histogram.encode()


def cell(values: list[int], **changes: Any) -> Any:
    known = {
        "stream": "s", "op": "read", "part": None, "count": len(values), "bytes": 4096 * len(values), "errors": {},
        "latency": encoded(values), "service": None, "latency_sum_ns": float(sum(values)), "service_sum_ns": None,
    }  # fmt: skip
    return {**known, **changes}


def interval(index: int, values: list[int], phase: str = "measure", **changes: Any) -> Any:
    times = {"index": index, "phase": phase, "start_ns": index * 100, "end_ns": index * 100 + 100}
    return {**times, "inflight_mean": 2.0, "inflight_age_ns": 5, "cells": [cell(values)] if values else [], **changes}


latencies = st.lists(st.integers(1, 10**9), max_size=20)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(latencies, latencies, latencies), min_size=1, max_size=5), st.randoms(use_true_random=False))
def test_every_request_of_every_host_is_in_the_sum_once(values: list[tuple[list[int], ...]], chance: Any) -> None:
    hosts = ["a", "b", "c"]
    together, told = Together(hosts), []
    left = {host: [interval(n, row[place]) for n, row in enumerate(values)] for place, host in enumerate(hosts)}
    # Each host's intervals come in their order, the hosts' among each other in any.
    while any(left.values()):
        host = chance.choice([name for name, own in left.items() if own])
        told += together.add(host, left[host].pop(0))
        if not left[host]:
            told += together.leave(host)
    assert [one["index"] for one in told] == list(range(len(values)))
    for row, one in zip(values, told, strict=True):
        expected = Counter(decoded(encoded([value])).buckets()[0][0] for host in row for value in host)
        found = Counter({top: count for own in one["cells"] for top, count in decoded(own["latency"]).buckets()})
        assert found == expected
        assert sum(own["count"] for own in one["cells"]) == sum(len(host) for host in row)
        assert one["inflight_mean"] == 6.0
    together_totals = summarise(told).totals()
    alone = [summarise([interval(n, row[place]) for n, row in enumerate(values)]).totals() for place in range(3)]
    assert sum(total.count for total in together_totals.values()) == sum(total.count for own in alone for total in own.values())
    assert sum(total.iops for total in together_totals.values()) == pytest.approx(sum(t.iops for own in alone for t in own.values()))


def test_an_interval_waits_for_every_host_that_takes_part() -> None:
    together = Together(["a", "b"])
    assert together.add("a", interval(0, [5])) == []
    assert together.add("a", interval(1, [5])) == []
    assert [one["summary"]["read"]["count"] for one in together.add("b", interval(0, [6, 7]))] == [3]


def test_a_host_that_is_lost_is_not_waited_for_and_what_it_told_stays() -> None:
    together = Together(["a", "b"])
    together.add("b", interval(0, [6]))
    told = [*together.add("a", interval(0, [5])), *together.add("a", interval(1, [5]))]
    assert len(told) == 1
    assert [len(one["cells"]) for one in together.leave("b")] == [1]


def test_drains_are_one_interval_of_all_though_their_numbers_differ() -> None:
    together = Together(["a", "b"])
    told = [*together.add("a", interval(0, [1])), *together.add("b", interval(0, [1]))]
    told += together.add("a", interval(1, [2], "drain"))
    told += together.add("b", interval(1, [3]))
    told += together.add("b", interval(2, [4, 5], "drain"))
    assert [(one["phase"], one["summary"]["read"]["count"]) for one in told] == [("measure", 2), ("measure", 1), ("drain", 3)]


def test_service_times_are_latencies_where_a_host_tells_none() -> None:
    found = summed([("a", interval(0, [], cells=[cell([10], service=encoded([4]), service_sum_ns=4.0)])), ("b", interval(0, [20]))])
    assert decoded(found["cells"][0]["service"] or "").count == 2
    assert found["cells"][0]["service_sum_ns"] == 24.0


def test_parts_of_two_hosts_are_two_parts() -> None:
    parts = [cell([10], stream=None, part="0:/dev/sdb")]
    found = summed([("a", interval(0, [], cells=parts)), ("b", interval(0, [], cells=parts))])
    assert [one.get("part") for one in found["cells"]] == ["0:a:/dev/sdb", "0:b:/dev/sdb"]
    assert found["summary"] == {}, "what parts saw is the same requests once more"


def test_errors_of_hosts_add_by_their_names() -> None:
    cells = [cell([1], errors={"EIO": 2}), cell([1], errors={"EIO": 1, "ENOSPC": 4})]
    found = summed([("a", interval(0, [], cells=cells[:1])), ("b", interval(0, [], cells=cells[1:]))])
    assert found["cells"][0]["errors"] == {"EIO": 3, "ENOSPC": 4}
    assert found["summary"]["read"]["errors"] == 7


def test_what_was_outstanding_adds_by_stream_and_operation() -> None:
    waiting = [{"stream": "s", "op": "read", "count": 1, "latency": encoded([50])}]
    found = summed([(host, interval(0, [1], outstanding=waiting)) for host in "ab"])
    assert [decoded(one["latency"]).count for one in found["outstanding"] or []] == [2]


def test_an_age_that_one_host_does_not_know_is_not_known() -> None:
    found = summed([("a", interval(0, [1])), ("b", interval(0, [1], inflight_age_ns=None))])
    assert found["inflight_age_ns"] is None


def test_intervals_of_two_phases_never_become_one() -> None:
    # A host that was late for one boundary has one interval less before the next phase.
    together = Together(["a", "b"])
    told = together.add("a", interval(0, [1], "warmup"))
    told += together.add("a", interval(1, [1], "warmup"))
    told += together.add("b", interval(0, [1], "warmup"))
    told += together.add("b", interval(1, [2, 3]))
    told += together.add("a", interval(2, [4]))
    told += [*together.leave("a"), *together.leave("b")]
    assert sum(one["summary"]["read"]["count"] for one in told if one["phase"] == "warmup") == 3
    assert sum(one["summary"]["read"]["count"] for one in told if one["phase"] == "measure") == 3
    assert [one["phase"] for one in told] == sorted((one["phase"] for one in told), reverse=True)


def test_a_host_that_has_ended_before_had_nothing_in_flight_in_the_rest() -> None:
    early = interval(0, [1], start_ns=0, end_ns=25, inflight_mean=4.0)
    found = summed([("a", early), ("b", interval(0, [1], inflight_mean=2.0))])
    assert found["inflight_mean"] == pytest.approx(4.0 * 0.25 + 2.0)


def test_requests_that_nobody_could_count_are_left_out_of_the_sum() -> None:
    known: dict[str, object] = {"engine": {"workers": 1, "unissued": 3}}
    assert summed_outcome([known, known])["engine"]["unissued"] == 6
    # A host that refused its part has no engine to say it; null would be no number that a reader takes.
    assert "unissued" not in summed_outcome([known, {}])["engine"]
