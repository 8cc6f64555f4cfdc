"""A point whose length is not fixed: what its intervals count as, and when it ends."""

from __future__ import annotations

from dataclasses import replace
from math import exp
from random import Random
from typing import Any

import pytest

from plimsoll.analysis.point.estimates import estimate
from plimsoll.analysis.point.observation import Batches, Portion
from plimsoll.analysis.point.stopping_rule import INTERVALS_MIN, Amount, Precision, Pursuit, parse_precision
from plimsoll.errors import InputError
from plimsoll.histogram import Histogram

SECOND_NS = 1_000_000_000


def interval(index: int, count: int, mean_ns: float = 1e6, phase: str = "measure") -> dict[str, Any]:
    """One second in which ``count`` reads of 4 KiB completed."""
    summary = {"read": {"count": count, "bytes": count * 4096, "mean_ns": mean_ns}}
    return {
        "index": index,
        "phase": phase,
        "start_ns": index * SECOND_NS,
        "end_ns": (index + 1) * SECOND_NS,
        "summary": summary,
        "cells": [],
    }


def phases(pursuit: Pursuit, counts: list[int]) -> list[str]:
    return [pursuit.phase_of(interval(index, count)) for index, count in enumerate(counts)]


def noisy(seed: int, count: int, deviation: float) -> list[int]:
    random = Random(seed)
    return [round(random.gauss(1000.0, deviation)) for _ in range(count)]


IOPS = Precision(0.02, metric="iops")


@pytest.mark.parametrize(
    ("text", "goal"),
    [
        ("2%", Precision(0.02, "all", "mean")),
        (" 2 % ", Precision(0.02)),
        ("0.5% of iops", Precision(0.005, "all", "iops")),
        ("2% of read p99", Precision(0.02, "read", "p99")),
        ("2 % of write p99.9", Precision(0.02, "write", "p999")),
        ("5% of read bandwidth", Precision(0.05, "read", "bytes_per_s")),
        ("5% of all mean", Precision(0.05)),
        ("5% of read", Precision(0.05, "read", "mean")),
    ],
)
def test_a_precision_is_a_percentage_of_a_metric(text: str, goal: Precision) -> None:
    assert parse_precision(text) == goal
    assert parse_precision(str(goal)) == goal


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("2", "not a percentage"),
        ("", "not a percentage"),
        ("-2%", "not a percentage"),
        ("0%", "between 0 and 100"),
        ("100%", "between 0 and 100"),
        ("2% of", "not a percentage"),
        ("2% of max", "a maximum has no confidence interval"),
        ("2% of p98", "'p98' is no metric; metrics are iops, bandwidth, mean, p50"),
        ("2% of reads p99", "'reads p99' is no metric"),
    ],
)
def test_a_bad_precision_is_refused_with_what_would_be_right(text: str, said: str) -> None:
    with pytest.raises(InputError, match="precision") as refused:
        parse_precision(text)
    assert said in str(refused.value)


def test_a_steady_response_is_measured_from_the_sixth_interval_on() -> None:
    assert phases(Pursuit(IOPS, 60.0), [1000] * 8) == ["warmup"] * 5 + ["measure"] * 3


def test_what_settles_slowly_is_warm_up_until_it_has_settled() -> None:
    counts = [round(1000 * (1 - 0.8 * exp(-index / 10))) for index in range(60)]
    found = phases(Pursuit(IOPS, 200.0), counts)
    begin = found.index("measure")
    assert found[:begin] == ["warmup"] * begin
    assert 15 <= begin <= 45 and counts[begin] > 900


def test_what_never_settles_is_measured_in_the_second_half_of_the_time() -> None:
    pursuit = Pursuit(IOPS, 40.0)
    assert phases(pursuit, [10 * (index + 1) ** 2 for index in range(40)]) == ["warmup"] * 20 + ["measure"] * 20
    assert not pursuit.reached


def test_a_limit_of_one_interval_is_measured_all_the_same() -> None:
    assert phases(Pursuit(IOPS, 1.0), [1000]) == ["measure"]


def test_a_precise_point_ends_and_says_how_precise_it_is() -> None:
    pursuit = Pursuit(IOPS, 600.0)
    found = phases(pursuit, noisy(1, 100, 20.0))
    measured = found.count("measure")
    assert pursuit.reached and measured >= INTERVALS_MIN
    assert found == ["warmup"] * 5 + ["measure"] * measured + ["after"] * (95 - measured)
    ended = pursuit.ended()
    assert (ended["by"], ended["settled_s"]) == ("precision", 5.0)
    assert ended["how"].startswith("precise to ±") and ended["how"].endswith(f" % of iops after {measured}.0 s")
    assert float(ended["how"].split("±")[1].split(" ")[0]) <= 2.0


def test_a_noisier_response_is_measured_longer() -> None:
    lengths = [phases(Pursuit(IOPS, 4000.0), noisy(2, 1500, deviation)).count("measure") for deviation in (10.0, 80.0, 160.0)]
    assert lengths[0] < lengths[1] < lengths[2]


def test_what_was_decided_does_not_depend_on_what_came_later() -> None:
    counts = noisy(3, 200, 20.0)
    early, late = Pursuit(IOPS, 600.0), Pursuit(IOPS, 600.0)
    end = phases(early, counts).index("after")
    phases(late, [*counts[:end], *(9 * count for count in counts[end:])])
    assert early.ended() == late.ended()


def test_a_limit_that_comes_first_says_how_far_it_got() -> None:
    pursuit = Pursuit(Precision(0.01, "read", "iops"), 30.0)
    phases(pursuit, noisy(4, 30, 300.0))
    ended = pursuit.ended()
    assert (ended["by"], ended["goal"]) == ("limit", "precision")
    assert ended["how"].startswith("time limit of 30 s reached at ±") and ended["how"].endswith(" % of read iops, 1 % was asked for")


def test_a_limit_without_any_interval_says_so() -> None:
    pursuit = Pursuit(Precision(0.01, "write"), 4.0)
    phases(pursuit, [1000] * 4)
    assert pursuit.ended()["how"] == "time limit of 4 s reached before write mean had an interval, 1 % was asked for"


def test_an_amount_ends_with_the_interval_that_completes_it() -> None:
    pursuit = Pursuit(Amount(4096 * 2500), 60.0)
    assert phases(pursuit, [1000] * 5) == ["measure"] * 3 + ["after"] * 2
    assert pursuit.ended() == {"by": "amount", "goal": "amount", "how": "11.72 MiB transferred after 3.0 s", "settled_s": 0.0}


def test_an_amount_that_was_not_reached_says_how_much_was() -> None:
    pursuit = Pursuit(Amount(1 << 30), 5.0)
    assert phases(pursuit, [1000] * 5) == ["measure"] * 5
    assert pursuit.ended()["how"] == "time limit of 5 s reached at 19.53 MiB, 1 GiB were asked"


def test_the_engines_own_warm_up_and_drain_stay_what_they_are() -> None:
    pursuit = Pursuit(Amount(4096 * 2000), 60.0)
    assert pursuit.phase_of(interval(0, 5000, phase="warmup")) == "warmup"
    assert [pursuit.phase_of(interval(index, 1000)) for index in (1, 2, 3)] == ["measure", "measure", "after"]
    assert pursuit.phase_of(interval(4, 3, phase="drain")) == "drain"


def test_the_drain_of_a_model_that_ran_on_belongs_to_nothing_measured() -> None:
    pursuit = Pursuit(Amount(4096), 60.0, modelled=True)
    assert pursuit.phase_of(interval(0, 1)) == "measure"
    assert pursuit.phase_of(interval(1, 3, phase="drain")) == "after"


OWN = replace(IOPS, own=True, least_s=40.0)


def test_a_point_that_goes_on_by_itself_lasts_its_least_time() -> None:
    pursuit = Pursuit(OWN, 600.0)
    assert phases(pursuit, noisy(1, 200, 5.0)).count("measure") == 40
    assert pursuit.ended()["by"] == "precision" and "goal" not in pursuit.ended()


def test_a_point_that_goes_on_by_itself_waits_for_a_slow_rise() -> None:
    # 6 % in the later half at first: steady enough for a point that has no time.
    counts = [round(1000 * (1 + index / 250)) for index in range(100)] + [1400] * 400
    assert phases(Pursuit(IOPS, 1000.0), counts).index("measure") == 5
    assert phases(Pursuit(replace(OWN, least_s=60.0), 1000.0), counts).index("measure") > 150


def test_a_point_that_goes_on_by_itself_is_given_up_when_time_is_no_help() -> None:
    random = Random(6)
    counts = [random.choice((500, 2500)) for _ in range(100) for _ in range(10)]
    pursuit = Pursuit(replace(OWN, least_s=10.0), 1000.0)
    found = phases(pursuit, [1500] * 5 + counts)
    assert "after" in found and pursuit.ended()["by"] == "limit"
    assert pursuit.ended()["how"].startswith("given up after ") and "2 % was tried for" in pursuit.ended()["how"]
    asked = Pursuit(replace(IOPS, least_s=10.0), 1000.0)
    assert "after" not in phases(asked, [1500] * 5 + counts[:990])


def test_a_percentile_is_read_from_the_histograms() -> None:
    random, pursuit = Random(5), Pursuit(parse_precision("5% of read p90"), 600.0)
    for index in range(200):
        histogram = Histogram()
        for _ in range(400):
            histogram.record(int(random.expovariate(1e-6)) + 1)
        one = interval(index, 400)
        one["cells"] = [
            {"stream": "s", "op": "read", "part": part, "count": 400, "bytes": 400 * 4096, "latency": histogram.encode()}
            for part in (None, "0:/dev/a")  # what a part saw is the same requests once more
        ]
        if pursuit.phase_of(one) == "after":
            break
    assert pursuit.reached and "of read p90" in pursuit.ended()["how"]


def test_intervals_at_the_end_that_precision_chose_still_cover() -> None:
    # AR(1) of φ = 0.3 and a deviation of 5 %, until ±2 %: the nominal 95 % hold within what 300 points can tell.
    held = 0
    for seed in range(300):
        random, value, batches, pursuit = Random(seed), 0.0, Batches(), Pursuit(IOPS, 3000.0)
        for index in range(3000):
            value = 0.3 * value + random.gauss(0.0, 0.954)
            count = round(10_000 * (1 + 0.05 * value))
            phase = pursuit.phase_of(interval(index, count))
            if phase == "measure":
                batches.add(1.0, {"read": Portion(count)})
            if pursuit.reached:
                break
        found = estimate(batches, "all", "iops")
        assert found is not None and found.low is not None and found.high is not None
        held += found.low <= 10_000 <= found.high
    assert held >= 0.91 * 300
