"""The curve: the maximum first, then percentages of it open-loop; Vdbench's rounding to the letter."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from plimsoll.analysis.objective.judgement import parse_objective
from plimsoll.errors import InputError
from plimsoll.experiments.curve import SPC_PERCENTS, Pace, curve, exact, vdbench
from plimsoll.experiments.plan import Ask
from support.synthetic_result import Answer, conducted, result_of


def server(ask: Ask) -> Answer:
    """12,345 requests per second at most; the response of M/M/1 below that."""
    if ask.role == "maximum":
        return Answer(iops=12_345, options={"queue_depth": 16})
    rate = ask.level or 0
    return Answer(iops=min(rate, 12_345), mean_ms={"read": 1000 / max(1, 12_345 - rate)}, options={"arrival": "poisson"})


@pytest.mark.parametrize(
    ("maximum", "percent", "rate"),
    [
        (12_345.4, 50, 6_200),  # 6172 → next 100
        (12_345.5, 100, 12_400),  # 12346
        (999.5, 100, 1_000),  # half up to 1000, which is not above 1000
        (1_000, 100, 1_000),
        (1_001, 100, 1_100),  # above 1000: hundreds
        (1_010, 99, 1_000),  # 999.9 is cut to 999 before it goes up to the next 10
        (2_000, 50, 1_000),
        (2_002, 50, 1_100),  # 1001
        (1_234, 10, 130),  # 123 → next 10
        (1_200, 10, 120),  # a multiple stays
        (100, 10, 10),
        (42, 10, 10),  # 4
        (3, 10, 10),  # 0: a tiny rate becomes 10
        (0.4, 100, 10),
        (1_000_000, 80, 800_000),
        (987_654, 95, 938_300),  # 938271.3
        (1_001, 12.5, 130),  # 125.125
        (800, 12.5, 100),
    ],
)
def test_vdbench_rounding(maximum: float, percent: float, rate: float) -> None:
    assert vdbench(maximum, percent) == rate


def test_exact_rates_keep_a_thousandth() -> None:
    assert exact(1234.5678, 50) == 617.284


def test_the_maximum_comes_first_as_the_workload_stands_and_then_rates_from_it() -> None:
    conclusion, asks = conducted(curve(), server)
    assert (asks[0].role, dict(asks[0].settings), asks[0].level) == ("maximum", {}, None)
    assert [ask.level for ask in asks[1:]] == [1234.5, 6172.5, 8641.5, 9876, 11110.5, 12345]
    assert asks[1].settings == {"arrival": "poisson", "queue_depth": 64, "rate": 1234.5}
    assert all(ask.role == "point" for ask in asks[1:])
    assert conclusion.sentences[0] == "The maximum was 12,345 IOPS, with the workload as it stands."
    assert [round(row["percent"]) for row in conclusion.figures["points"]] == [10, 50, 70, 80, 90, 100]


def test_a_curve_with_vdbench_rounding_and_spc_percentages() -> None:
    _, asks = conducted(curve(SPC_PERCENTS, Pace(rounding="vdbench", arrival="constant"), repeat=2), server)
    assert [ask.level for ask in asks[1:7]] == [1_300, 6_200, 9_900, 11_200, 11_800, 12_400]
    assert [ask.repeat for ask in asks] == [1] * 7 + [2] * 6
    assert asks[1].settings["arrival"] == "constant"


def test_streams_share_the_rate_as_they_shared_the_maximum() -> None:
    def answer(ask: Ask) -> Answer:
        streams = {"data": 900.0, "log": 100.0, "idle": 0.0}
        return Answer(iops=1000, streams=streams, options={"queue_depth": 8, "threads": 16}) if ask.role == "maximum" else Answer()

    _, asks = conducted(curve([50]), answer)
    assert asks[1].settings == {
        "arrival": "poisson",
        "data.queue_depth": 16,
        "log.queue_depth": 16,
        "idle.queue_depth": 16,
        "data.rate": 450,
        "log.rate": 50,
        "idle.rate": 0,  # takes no part
    }
    assert asks[1].level == 500


@pytest.mark.parametrize(("threads", "depth", "opened"), [(1, 1, 32), (1, 16, 64), (1, 64, 256), (1, 512, 512), (64, 1, 4), (512, 2, 2)])
def test_the_depth_is_raised_within_the_room_for_buffers_and_never_lowered(threads: int, depth: int, opened: int) -> None:
    _, asks = conducted(curve([50]), lambda ask: Answer(options={"threads": threads, "queue_depth": depth}))
    assert asks[1].settings["queue_depth"] == opened


def test_think_time_has_no_place_in_the_open_loop() -> None:
    _, asks = conducted(curve([50]), lambda ask: Answer(options={"think_time": 0.005}))
    assert asks[1].settings["think_time"] == 0


def test_a_rate_of_file_operations_is_of_those_drawn_and_has_no_depth() -> None:
    """Opening and closing come with reads, and are not asked for by the rate."""
    plan = curve([50])
    answer = Answer(iops=1000, options={"operation": {"read": 60, "stat": 40}, "threads": 2})
    found = result_of(next(plan), answer)
    ((name, totals),) = found.streams.items()
    asked = plan.send(replace(found, streams={name: dict.fromkeys(("read", "open", "close", "stat"), totals["read"])}))
    assert asked.settings == {"arrival": "poisson", "rate": 1000}


def test_a_given_maximum_is_not_searched() -> None:
    conclusion, asks = conducted(curve([10, 100], Pace(maximum=5000)), server)
    assert [(ask.role, dict(ask.settings)) for ask in asks] == [
        ("point", {"arrival": "poisson", "rate": 500}),
        ("point", {"arrival": "poisson", "rate": 5000}),
    ]
    assert conclusion.sentences == ("The maximum was given: 5,000 IOPS.",)


def test_a_given_maximum_of_several_streams_needs_their_shares() -> None:
    conclusion, asks = conducted(curve(pace=Pace(maximum=5000)), lambda ask: Answer(streams={"data": 1, "log": 1}))
    assert len(asks) == 1
    assert conclusion.sentences[0].startswith("The workload has the streams data, log, and how a given maximum divides")
    _, asks = conducted(curve([50], Pace(maximum=5000, shares={"data": 3, "log": 1})), lambda ask: Answer(streams={"data": 1, "log": 1}))
    assert asks[0].settings == {"arrival": "poisson", "data.rate": 1875, "log.rate": 625}


def test_without_a_maximum_there_are_no_rates() -> None:
    for answer in (Answer(error="no such device"), Answer(iops=0)):
        conclusion, asks = conducted(curve(), lambda ask, answer=answer: answer)
        assert len(asks) == 1
        assert conclusion.sentences[0].startswith("The maximum could not be measured (")


def test_a_workload_that_offers_its_own_rate_has_no_maximum_and_that_is_said() -> None:
    conclusion, _ = conducted(curve([50]), lambda ask: Answer(options={"arrival": "poisson"}))
    assert conclusion.sentences[0].endswith("that is not its maximum. Use arrival=closed to find it.")


def test_the_mark_of_a_curve_is_the_highest_rate_that_held() -> None:
    conclusion, _ = conducted(curve([10, 50, 70, 80, 90], objective=parse_objective("read mean <= 0.3ms")), server)
    # 1000 / (12345 - 8641.5) = 0.27 ms at 70 %, 0.405 ms at 80 %.
    assert conclusion.mark is not None and (conclusion.mark.level, conclusion.mark.next_level) == (8641.5, 9876)
    assert (
        conclusion.sentences[-1] == "Meets 'read mean <= 300us' up to rate 8,641.5 (8,642 IOPS); at 9,876, it misses 'read mean <= 300us'."
    )


def test_a_rate_that_was_missed_is_told_with_what_was_completed() -> None:
    def answer(ask: Ask) -> Answer:
        return Answer(iops=1000) if ask.role == "maximum" else Answer(iops=min(ask.level or 0, 900))

    conclusion, _ = conducted(curve([50, 90, 100]), answer)
    assert conclusion.sentences[1:] == ("Only 90.0 % of 1,000 IOPS (100 % of the maximum) was completed.",)


def test_percentages_that_round_to_one_rate_are_measured_once() -> None:
    _, asks = conducted(curve([1, 2, 5], Pace(rounding="vdbench")), lambda ask: Answer(iops=100))
    assert [ask.level for ask in asks] == [None, 10]


@pytest.mark.parametrize("wrong", [{"rounding": "up"}, {"arrival": "closed"}, {"maximum": 0}, {"maximum": float("nan")}])
def test_a_pace_that_cannot_be_kept_is_refused(wrong) -> None:
    with pytest.raises(InputError):
        Pace(**wrong)


def test_every_rate_of_a_curve_carries_its_percentage() -> None:
    _, asks = conducted(curve([10, 12.5, 100], Pace(maximum=5000)), server)
    assert [(ask.level, ask.label) for ask in asks] == [(500, "10 %"), (625, "12.5 %"), (5000, "100 %")]


@pytest.mark.parametrize(("threads", "depth", "opened"), [(1, 16, 16), (8, 1, 8), (8, 4, 32), (4096, 16, 65_536)])
def test_kept_slots_are_those_of_the_maximum_in_one_thread(threads: int, depth: int, opened: int) -> None:
    options = {"threads": threads, "queue_depth": depth}
    _, asks = conducted(curve([50], Pace(outstanding="kept")), lambda ask: Answer(options=options))
    assert (asks[1].settings["threads"], asks[1].settings["queue_depth"]) == (1, opened)


def test_kept_slots_that_no_thread_has_stay_where_they_are() -> None:
    _, asks = conducted(curve([50], Pace(outstanding="kept")), lambda ask: Answer(options={"threads": 4096, "queue_depth": 32}))
    assert not {"threads", "queue_depth"} & asks[1].settings.keys()


def test_what_all_threads_transfer_is_what_one_does_with_their_slots() -> None:
    options = {"threads": 8, "queue_depth": 1, "amount": 1 << 20, "requests": 10}
    _, asks = conducted(curve([50], Pace(outstanding="kept")), lambda ask: Answer(options=options))
    assert (asks[1].settings["amount"], asks[1].settings["requests"]) == (8 << 20, 80)


@pytest.mark.parametrize(
    ("pace", "part"),
    [({"outstanding": "some"}, "write raised or kept"), ({"outstanding": "kept", "maximum": 5000.0}, "leave 'outstanding' out")],
)
def test_outstanding_that_cannot_be_is_refused(pace: dict[str, Any], part: str) -> None:
    with pytest.raises(InputError, match=part):
        Pace(**pace)
