"""Planners against scripted answers: what they ask, in which order, and what they conclude."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import pairwise

import pytest

from plimsoll.analysis.objective.judgement import parse_objective
from plimsoll.errors import InputError
from plimsoll.experiments.plan import Ask, Conclusion, Plan, in_turn, interleave_plans
from plimsoll.experiments.probe import Bounds, Growth, Resolution
from plimsoll.experiments.search import ramp, search
from plimsoll.experiments.steady import precondition, steady
from plimsoll.experiments.sweep import matrix, scaling, steps
from support.synthetic_result import Answer, conducted, result_of

JETSTRESS = parse_objective("read mean <= 20ms and write mean <= 20ms")
WHOLE = Bounds(1, 64, integer=True)
NEIGHBOURS = Resolution(1, relative=False)


def rising(ask: Ask) -> Answer:
    """A read takes as many milliseconds as the level says."""
    return Answer(iops=50 * (ask.level or 1), mean_ms={"read": ask.level or 1})


def levels(asks: list[Ask]) -> list[float | None]:
    return [ask.level for ask in asks]


# Steps and matrix


def test_steps_go_through_the_levels_once_per_repeat() -> None:
    conclusion, asks = conducted(steps("queue_depth", [1, 2, 4], repeat=2), rising)
    assert [(ask.level, ask.repeat) for ask in asks] == [(1, 1), (2, 1), (4, 1), (1, 2), (2, 2), (4, 2)]
    assert asks[0].settings == {"queue_depth": 1}
    assert conclusion.sentences == ("The highest throughput was 200 IOPS at queue_depth 4, mean response 4.00 ms.",)


def test_steps_say_that_a_mean_response_is_a_lower_bound() -> None:
    plan = steps("queue_depth", [4])
    result = result_of(ask := next(plan), rising(ask))
    raised = {op: {**of_op, "mean": replace(of_op["mean"], at_least=True)} for op, of_op in result.estimates.items()}
    with pytest.raises(StopIteration) as end:
        plan.send(replace(result, estimates=raised))
    assert end.value.value.sentences == ("The highest throughput was 200 IOPS at queue_depth 4, mean response at least 4.00 ms.",)


def test_a_level_that_steps_up_and_down_again_is_asked_as_another_repeat() -> None:
    _, asks = conducted(steps("rate", [100, 200, 100]), rising)
    assert [(ask.level, ask.repeat) for ask in asks] == [(100, 1), (200, 1), (100, 2)]


def test_steps_go_on_after_a_failed_point_and_say_which() -> None:
    answers = {1: Answer(), 2: Answer(error="no space left on device"), 4: Answer(iops=2000)}
    conclusion, asks = conducted(steps("threads", [1, 2, 4]), lambda ask: answers[int(ask.level or 0)])
    assert levels(asks) == [1, 2, 4]
    assert conclusion.sentences[1] == "The point at 2 threads failed: no space left on device."
    assert conclusion.figures["failed"] == 1


def test_the_last_axis_of_a_matrix_changes_fastest() -> None:
    _, asks = conducted(matrix({"region_length": ["2GiB", "4GiB"], "block_size": ["8k", "16k", "32k"]}), lambda ask: Answer())
    assert [tuple(ask.settings.values()) for ask in asks] == [
        ("2GiB", "8k"),
        ("2GiB", "16k"),
        ("2GiB", "32k"),
        ("4GiB", "8k"),
        ("4GiB", "16k"),
        ("4GiB", "32k"),
    ]
    assert list(asks[0].settings) == ["region_length", "block_size"]


def test_a_shuffled_matrix_has_the_same_points_in_an_order_of_its_own_per_repeat() -> None:
    def orders(seed: int) -> list[list[int]]:
        _, asks = conducted(matrix({"queue_depth": range(16)}, repeat=2, shuffle=seed), lambda ask: Answer())
        return [[ask.settings["queue_depth"] for ask in asks if ask.repeat == repeat] for repeat in (1, 2)]

    first, second = orders(7)
    assert sorted(first) == sorted(second) == list(range(16))
    assert first != second != list(range(16))
    assert orders(7) == [first, second]
    assert orders(8)[0] != first


def test_a_matrix_without_axes_is_the_workload_as_it_stands() -> None:
    _, asks = conducted(matrix({}, repeat=3), lambda ask: Answer())
    assert [(dict(ask.settings), ask.repeat) for ask in asks] == [({}, 1), ({}, 2), ({}, 3)]


# Ramp


def test_a_ramp_doubles_until_the_objective_fails_and_bisects_to_neighbours() -> None:
    conclusion, asks = conducted(ramp("queue_depth", WHOLE, parse_objective("read mean <= 20ms"), NEIGHBOURS), rising)
    assert levels(asks) == [1, 2, 4, 8, 16, 32, 24, 20, 22, 21]
    assert all(isinstance(ask.settings["queue_depth"], int) for ask in asks)
    assert conclusion.mark is not None
    assert (conclusion.mark.level, conclusion.mark.next_level, conclusion.mark.iops) == (20, 21, 1000)
    assert conclusion.mark.failed_by == "read mean <= 20ms"
    assert conclusion.sentences[0] == (
        "Meets 'read mean <= 20ms' up to queue_depth 20 (1,000 IOPS); at 21, read mean was 21.0 ms [21.0 ms, 21.0 ms]."
    )


def test_a_ramp_can_grow_by_steps() -> None:
    plan = ramp("threads", Bounds(2, 64, integer=True), parse_objective("read mean <= 9.5ms"), NEIGHBOURS, Growth.parse("+4"))
    assert levels(conducted(plan, rising)[1]) == [2, 6, 10, 8, 9]


def test_a_ramp_of_rates_ends_at_its_relative_resolution() -> None:
    plan = ramp("rate", Bounds(100, 10_000), parse_objective("read mean <= 777ms"), Resolution(0.01))
    conclusion, asks = conducted(plan, rising)
    assert levels(asks)[:5] == [100, 200, 400, 800, 600]
    assert conclusion.mark is not None and conclusion.mark.next_level is not None
    assert conclusion.mark.level <= 777 < conclusion.mark.next_level <= conclusion.mark.level * 1.01


def test_whole_levels_stay_at_multiples_of_an_absolute_resolution() -> None:
    plan = ramp("block_size", Bounds(4096, 1 << 20, integer=True), parse_objective("read mean <= 90ms"), Resolution(4096, relative=False))
    conclusion, asks = conducted(plan, lambda ask: Answer(mean_ms={"read": (ask.level or 0) / 1000}))
    assert all((ask.level or 1) % 4096 == 0 for ask in asks)
    assert conclusion.mark is not None and conclusion.mark.level == 86016  # 21 × 4096; 22 × 4096 = 90112 takes 90.1 ms


def test_a_ramp_that_held_to_the_last_level_says_that_the_mark_lies_beyond() -> None:
    conclusion, asks = conducted(ramp("queue_depth", Bounds(1, 12, integer=True), parse_objective("read mean <= 20ms")), rising)
    assert levels(asks) == [1, 2, 4, 8, 12]
    assert conclusion.mark is not None
    assert (conclusion.mark.level, conclusion.mark.failed_by, conclusion.mark.next_level) == (12, None, None)
    assert conclusion.sentences == (
        "Meets 'read mean <= 20ms' up to queue_depth 12 (600 IOPS). 12 was the highest level allowed; the limit is higher.",
    )
    assert conclusion.figures["beyond"] is True


def test_a_ramp_whose_first_level_fails_goes_down_to_one_that_holds() -> None:
    conclusion, asks = conducted(ramp("queue_depth", Bounds(32, 64, integer=True), parse_objective("read mean <= 5ms"), NEIGHBOURS), rising)
    assert levels(asks) == [32, 16, 8, 4, 6, 5]
    assert conclusion.mark is not None and conclusion.mark.level == 5


@pytest.mark.parametrize(("bounds", "last", "points"), [(Bounds(8, 64, integer=True), 1, 4), (Bounds(1024, 4096), 1, 11)])
def test_a_ramp_in_which_nothing_holds_says_so(bounds: Bounds, last: float, points: int) -> None:
    slow = Answer(mean_ms={"read": 25})
    conclusion, asks = conducted(ramp("rate", bounds, parse_objective("read mean <= 20ms")), lambda ask: slow)
    assert (levels(asks)[-1], len(asks)) == (last, points)
    assert conclusion.mark is None
    assert conclusion.sentences == (
        "No level meets 'read mean <= 20ms': at the lowest measured, rate 1, read mean was 25.0 ms [25.0 ms, 25.0 ms].",
    )


def jetstress(read_per_thread: float, write_per_thread: float) -> Conclusion:
    """Report 000's rule on a server whose reads and writes slow down with every thread."""

    def answer(ask: Ask) -> Answer:
        threads = ask.level or 1
        return Answer(iops=100 * threads, mean_ms={"read": 5 + read_per_thread * threads, "write": 1 + write_per_thread * threads})

    return conducted(ramp("threads", WHOLE, JETSTRESS, NEIGHBOURS), answer)[0]


def test_threads_rise_until_reads_exceed_20_ms() -> None:
    conclusion = jetstress(read_per_thread=1, write_per_thread=0.5)
    assert conclusion.mark is not None
    assert (conclusion.mark.level, conclusion.mark.next_level) == (15, 16)  # 5 + 15 ms holds; writes would last until 38 threads
    assert conclusion.mark.failed_by == "read mean <= 20ms"


def test_threads_rise_until_writes_exceed_20_ms() -> None:
    conclusion = jetstress(read_per_thread=0.5, write_per_thread=1)
    assert conclusion.mark is not None
    assert (conclusion.mark.level, conclusion.mark.next_level) == (19, 20)  # 1 + 19 ms holds; reads would last until 30 threads
    assert conclusion.mark.failed_by == "write mean <= 20ms"


def test_a_failed_point_counts_as_not_held_and_is_named() -> None:
    def answer(ask: Ask) -> Answer:
        return Answer(error="the device went away.") if (ask.level or 0) >= 10 else rising(ask)

    conclusion, asks = conducted(ramp("queue_depth", WHOLE, parse_objective("read mean <= 20ms"), NEIGHBOURS), answer)
    assert levels(asks) == [1, 2, 4, 8, 16, 12, 10, 9]
    assert conclusion.mark is not None and (conclusion.mark.level, conclusion.mark.next_level) == (9, 10)
    assert conclusion.mark.failed_by == "the point failed: the device went away."
    assert "at 10, the point failed: the device went away." in conclusion.sentences[0]
    assert sum("failed: the device went away." in sentence for sentence in conclusion.sentences[1:]) == 3


def test_too_little_load_for_a_lower_limit_is_climbed_over() -> None:
    objective = parse_objective("iops >= 500 and read mean <= 20ms")
    conclusion, asks = conducted(ramp("queue_depth", WHOLE, objective, NEIGHBOURS), rising)
    assert levels(asks)[:5] == [1, 2, 4, 8, 16]  # 16 × 50 is the first that carries 500
    assert conclusion.mark is not None and conclusion.mark.level == 20


def test_a_lower_limit_that_no_level_reaches_is_told_of_the_highest() -> None:
    conclusion, _ = conducted(ramp("queue_depth", Bounds(1, 4, integer=True), parse_objective("iops >= 500")), rising)
    assert conclusion.mark is None
    assert conclusion.sentences[0].startswith("No level meets 'iops >= 500': at the highest measured, queue_depth 4, iops was 200 IOPS")


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Bounds(0, 5),
        lambda: Bounds(6, 5),
        lambda: Bounds(1.5, 5, integer=True),
        lambda: Growth.parse("1x"),
        lambda: Growth.parse("2"),
        lambda: Growth.parse("+0"),
        lambda: Growth.parse("x"),
        lambda: Resolution.parse("0%"),
        lambda: Resolution.parse("fine"),
    ],
)
def test_bounds_growth_and_resolution_that_lead_nowhere_are_refused(wrong) -> None:
    with pytest.raises(InputError):
        wrong()


def test_growth_and_resolution_read_back_as_written() -> None:
    assert [str(Growth.parse(text)) for text in ("2x", "1.5x", "+4")] == ["2x", "1.5x", "+4"]
    assert [str(Resolution.parse(text)) for text in ("2%", "0.5%", "4", 4)] == ["2%", "0.5%", "4", "4"]


def test_whole_levels_always_grow() -> None:
    bounds = Bounds(1, 10, integer=True)
    grown = [1.0]
    while grown[-1] < bounds.stop:
        grown.append(Growth(1.2).after(grown[-1], bounds))
    assert all(before < after for before, after in pairwise(grown))


def test_levels_finer_than_their_rounding_still_rise_and_close_in() -> None:
    bounds = Bounds(1_234_567, 1_234_600)
    assert Growth.parse("+0.5").after(1_234_567, bounds) == 1_234_567.5
    assert Resolution(1, relative=False).between(1_234_567, 1_234_569, bounds) == 1_234_568
    assert (
        levels(conducted(ramp("rate", bounds, parse_objective("read mean <= 1s"), growth=Growth.parse("+20")), rising)[1])[0] == 1_234_567
    )


def test_a_response_that_misses_the_limit_by_less_than_its_digits_is_said_to_be_above() -> None:
    plan = ramp("queue_depth", Bounds(1, 2, integer=True), parse_objective("read mean <= 20ms"))
    conclusion, _ = conducted(plan, lambda ask: Answer(mean_ms={"read": 10.001 * (ask.level or 0)}, spread=None))
    assert conclusion.sentences[0].endswith("at 2, read mean was just above 20.0 ms.")


# Search


def test_a_search_asks_once_far_from_the_limit_and_again_near_it() -> None:
    def answer(ask: Ask) -> Answer:
        return Answer(iops=ask.level or 0, mean_ms={"read": (ask.level or 0) / 100}, spread=0.08)

    plan = search("rate", Bounds(100, 100_000), parse_objective("read mean <= 10ms"), Resolution(0.05), repeats_max=4)
    conclusion, asks = conducted(plan, answer)
    repeats = {level: max(ask.repeat for ask in asks if ask.level == level) for level in levels(asks)}
    assert [repeats[level] for level in (100, 200, 400, 800, 1600)] == [1, 1, 1, 1, 1]
    assert repeats[1000] == 4  # on the limit: ± 8 % of one repeat, ± 4 % of four
    assert [ask.repeat for ask in asks if ask.level == 1000] == [1, 2, 3, 4]
    assert conclusion.mark is not None and conclusion.mark.level == 1000
    assert conclusion.figures["undecided"] == [1000]
    assert any(sentence.startswith("Undecided at rate 1,000 after 4 repeats: read mean was 10.0 ms [") for sentence in conclusion.sentences)
    assert conclusion.sentences[1].endswith("too close to the limit to tell. The value itself meets the objective.")


def test_a_search_stops_repeating_as_soon_as_the_interval_clears_the_limit() -> None:
    def answer(ask: Ask) -> Answer:
        return Answer(iops=ask.level or 0, mean_ms={"read": 9.3 if (ask.level or 0) <= 100 else 99}, spread=0.1)

    _, asks = conducted(search("rate", Bounds(100, 400), parse_objective("read mean <= 10ms"), Resolution(0.5), 9), answer)
    # 9.3 ± 0.93 ms does not clear 10 ms, two repeats (± 0.66 ms) do.
    assert [(ask.level, ask.repeat) for ask in asks] == [(100, 1), (100, 2), (200, 1), (150, 1)]


def test_a_search_finds_the_mark_through_noise_that_misleads_a_ramp() -> None:
    """Reads of (level / 100) ms ± 8 % of noise against 10 ms: the mark is 1,000."""

    def found(planner, seed: int) -> float:
        noise = random.Random(seed)

        def answer(ask: Ask) -> Answer:
            value = (ask.level or 0) / 100 * noise.gauss(1, 0.08)
            return Answer(iops=ask.level or 0, mean_ms={"read": value}, spread=0.16)

        mark = conducted(planner(), answer)[0].mark
        return mark.level if mark else 0.0

    bounds, objective = Bounds(150, 100_000), parse_objective("read mean <= 10ms")
    ramps = [abs(found(lambda: ramp("rate", bounds, objective), seed) / 1000 - 1) for seed in range(60)]
    searches = [abs(found(lambda: search("rate", bounds, objective, repeats_max=12), seed) / 1000 - 1) for seed in range(60)]
    assert sum(searches) < 0.6 * sum(ramps)


def test_a_search_without_intervals_settles_by_the_scatter_between_repeats() -> None:
    def answer(ask: Ask) -> Answer:
        return Answer(mean_ms={"read": (ask.level or 0) * (1 + 0.001 * ask.repeat)}, spread=None)

    _, asks = conducted(search("queue_depth", WHOLE, parse_objective("read mean <= 2.5ms"), NEIGHBOURS), answer)
    assert [(ask.level, ask.repeat) for ask in asks] == [(level, repeat) for level in (1, 2, 4, 3) for repeat in (1, 2)]


def test_a_level_with_a_failed_repeat_does_not_hold_and_is_not_asked_again() -> None:
    def answer(ask: Ask) -> Answer:
        near = Answer(mean_ms={"read": 9.9}, spread=0.05)
        return Answer(error="timed out") if (ask.level, ask.repeat) == (2, 2) else near

    plan = search("queue_depth", Bounds(1, 2, integer=True), parse_objective("read mean <= 10ms"), repeats_max=3)
    conclusion, asks = conducted(plan, answer)
    assert [(ask.level, ask.repeat) for ask in asks] == [(1, 1), (1, 2), (1, 3), (2, 1), (2, 2)]
    assert conclusion.mark is not None and (conclusion.mark.level, conclusion.mark.failed_by) == (1, "the point failed: timed out")
    assert "The point at queue_depth 2 failed: timed out." in conclusion.sentences


# Scaling


def test_scaling_measures_every_level_in_each_iteration() -> None:
    conclusion, asks = conducted(scaling("threads", [1, 2, 4, 8], iterations=2), lambda ask: Answer(iops=100 * (ask.level or 0)))
    assert [(ask.level, ask.repeat) for ask in asks] == [(level, repeat) for repeat in (1, 2) for level in (1, 2, 4, 8)]
    assert conclusion.sentences[0] == "8 threads delivered 8.00 × the throughput of 1 (100 % efficiency)."
    assert [row["speed_up"] for row in conclusion.figures["rows"]] == pytest.approx([1, 2, 4, 8])


def test_scaling_finds_contention_and_coherency() -> None:
    def gunther(level: float) -> float:
        return 100 * level / (1 + 0.05 * (level - 1) + 0.001 * level * (level - 1))

    conclusion, _ = conducted(scaling("threads", [1, 2, 4, 8, 16, 32, 64]), lambda ask: Answer(iops=gunther(ask.level or 0)))
    fit = conclusion.figures["fit"]
    assert fit["sigma"]["value"] == pytest.approx(0.05, rel=1e-3)
    assert fit["kappa"]["value"] == pytest.approx(0.001, rel=1e-3)
    assert "throughput peaks near 31" in conclusion.sentences[-1]  # √(0.95 / 0.001) = 30.8
    assert conclusion.sentences[1] == "The highest throughput was 903 IOPS at 32 threads."


def test_scaling_over_three_levels_has_speed_up_and_no_fit() -> None:
    conclusion, _ = conducted(scaling("threads", [1, 2, 4]), lambda ask: Answer(iops=100 * (ask.level or 0)))
    assert conclusion.figures["fit"] is None
    assert conclusion.sentences[-1].startswith("The Universal Scalability Law needs 4 different levels")


# Steady


def rounds(values: list[float | None], **options) -> tuple[Conclusion, list[Ask]]:
    def answer(ask: Ask) -> Answer:
        if ask.role == "precondition":
            return Answer()
        value = values[ask.repeat - 1]
        return Answer(error="gone") if value is None else Answer(iops=value)

    return conducted(steady("iops", **options), answer)


def test_rounds_end_at_the_first_steady_window() -> None:
    # 2000 … 1000 falls too fast; from the fifth round of about 1000 on, range and slope are small.
    conclusion, asks = rounds([2000, 1700, 1400, 1100, 1010, 990, 1005, 1000])
    assert [(ask.role, ask.repeat) for ask in asks] == [("round", number) for number in range(1, 9)]
    assert conclusion.figures["at_round"] == 8
    assert conclusion.figures["average"] == pytest.approx((1100 + 1010 + 990 + 1005 + 1000) / 5)
    assert conclusion.sentences[0].startswith("Steady state was attained at round 8: iops 1,021 IOPS over the last 5 rounds, range 10.8 %")


def test_a_window_within_20_percent_that_still_falls_by_more_than_10_is_not_steady() -> None:
    conclusion, _ = rounds([1150, 1110, 1070, 1030, 990], rounds_max=5)
    assert conclusion.figures["attained"] is False  # range 15 %, but the line falls by 15 %


def test_rounds_that_never_settle_are_said_to_be_not_attained() -> None:
    conclusion, asks = rounds([1000.0 + 500 * (number % 2) for number in range(25)])
    assert len(asks) == 25
    assert conclusion.figures["attained"] is False and conclusion.figures["at_round"] is None
    assert conclusion.sentences[0].startswith("Steady state was not attained in 25 rounds: over the last 5, iops ranged over 4")


def test_preconditioning_comes_first_and_is_twice_the_capacity() -> None:
    _, asks = rounds([1000.0] * 5, precondition=True)
    assert (asks[0].role, asks[0].amount, asks[0].level) == ("precondition", 2.0, None)
    assert [ask.role for ask in asks[1:]] == ["round"] * 5


def test_rounds_are_not_measured_on_a_target_that_could_not_be_preconditioned() -> None:
    conclusion, asks = conducted(steady(precondition=True), lambda ask: Answer(error="no space left on device."))
    assert len(asks) == 1
    assert conclusion.sentences == ("The target was not preconditioned, so no round was measured: no space left on device.",)


def test_a_failed_round_starts_the_window_anew() -> None:
    conclusion, asks = rounds([1000, 1000, None, 1000, 1000, 1000, 1000, 1000])
    assert len(asks) == 8 and conclusion.figures["at_round"] == 8
    assert conclusion.sentences[1] == "The point at round 3 failed: gone."


def test_preconditioning_alone_says_what_was_written() -> None:
    conclusion, asks = conducted(precondition(), lambda ask: Answer(iops=1000))
    assert [(ask.role, ask.amount) for ask in asks] == [("precondition", 2.0)]
    assert conclusion.sentences == ("2 × the target's size was written sequentially at 4.1 MB/s.",)


# Interleaving


def lettered(count: int) -> Plan:
    for number in range(count):
        yield Ask(level=number)
    return Conclusion((f"{count} points",))


def order(turns) -> tuple[str, dict[str, Conclusion]]:
    asked = ""
    try:
        key, ask = next(turns)
        while True:
            asked += f"{key}{ask.level}"
            key, ask = turns.send(result_of(ask, Answer()))
    except StopIteration as stop:
        return asked, stop.value


def test_interleaved_plans_take_turns_until_the_longest_is_done() -> None:
    asked, conclusions = order(interleave_plans({"A": lettered(3), "B": lettered(1), "C": lettered(2)}))
    assert asked == "A0B0C0A1C1A2"
    assert [(key, found.sentences) for key, found in conclusions.items()] == [
        ("A", ("3 points",)),
        ("B", ("1 points",)),
        ("C", ("2 points",)),
    ]


def test_plans_in_turn_end_before_the_next_begins() -> None:
    asked, conclusions = order(in_turn({"A": lettered(2), "B": lettered(0), "C": lettered(1)}))
    assert asked == "A0A1C0"
    assert list(conclusions) == ["A", "B", "C"]


def test_each_plan_hears_the_results_of_its_own_asks() -> None:
    heard: list[tuple[str, float]] = []

    def listening(name: str, level: float) -> Plan:
        for _ in range(3):
            result = yield Ask(level=level)
            heard.append((name, result.place["level"]))
        return Conclusion()

    order(interleave_plans({"A": listening("A", 1), "B": listening("B", 2)}))
    assert heard == [("A", 1), ("B", 2)] * 3
