"""Findings: literal sentences, each with its numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import pytest

from plimsoll.analysis.comparison.comparison import Figure, Side, compare
from plimsoll.analysis.objective.judgement import parse_objective
from support.made_results import Load, Setting, made

#: Requests per second at queue depths 1, 2, 4, … 64. With Little's law 20 ms are crossed between depths 32 and 64.
U320 = (180, 350, 640, 1050, 1500, 1700, 1750)
OLTP = Setting()
SAS = (181, 352, 642, 1250, 1850, 2100, 2150)


def steps(label: str, throughputs: Sequence[float], setting: Setting = OLTP) -> Side:
    loads = [Load(x, 1e9 * 2**index / x) for index, x in enumerate(throughputs)]
    return Side(label, [made(load, 2**index, setting=setting) for index, load in enumerate(loads)])


def profiles(label: str, groups: dict[str, Sequence[float]]) -> Side:
    """One point per profile, titled by its group and number."""
    return Side(
        label,
        [
            made(Load(x, 1e9 / x), setting=Setting(workload=f"{group}-{number}", title=f"{group.title()} {number}", group=group))
            for group, throughputs in groups.items()
            for number, x in enumerate(throughputs, start=1)
        ],
    )


def found(*sides: Side, objective: str = "", figures: Sequence[Figure] | None = None) -> list[str]:
    objectives = {"": parse_objective(objective)} if objective else {}
    return compare(sides, figures=figures, objectives=objectives).findings()


def test_the_load_at_the_objective_comes_first_with_the_levels_at_which_the_side_was_faster() -> None:
    assert found(steps("10K U320", U320), steps("10K SAS", SAS), objective="read mean <= 20ms") == [
        "10K SAS carried 1.25 × [1.23, 1.26] the load of 10K U320 at 20 ms, and was faster at every queue depth from 8 up.",
        "Between 10K SAS and 10K U320 no difference was shown at any queue depth up to 4 (1.003 to 1.006 ×).",
        "At best, 10K SAS was 1.24 × [1.22, 1.25] as fast as 10K U320, in OLTP database at queue depth 32 (IOPS from 1,700 to 2,100).",
    ]


@pytest.mark.parametrize(
    ("factors", "sentence"),
    [
        ((1.2, 1.2, 1.3, 1.2), "B was faster than A at every queue depth, by 1.20 to 1.30 ×."),
        (
            (1.2, 1.2, 1.0, 1.0),
            "B was faster than A at queue depths 1 and 2, by 1.20 ×; no difference was shown at queue depths 4 and 8 (1.00 ×).",
        ),
        (
            (1.2, 1.3, 1.2, 1.0),
            "B was faster than A at every queue depth up to 4, by 1.20 to 1.30 ×; no difference was shown at queue depth 8 (1.00 ×).",
        ),
        (
            (1.0, 1.2, 1.2, 1.2, 1.0),
            "B was faster than A at every queue depth from 2 to 8, by 1.20 ×; no difference was shown at queue depths 1 and 16 (1.00 ×).",
        ),
        (
            (0.9, 0.8, 1.2, 1.0, 1.2, 1.3),
            "B was faster than A at queue depths 4, 16 and 32, by 1.20 to 1.30 ×, and slower than A at queue depths 1 and 2, "
            "at 0.80 to 0.90 ×; no difference was shown at queue depth 8 (1.00 ×).",
        ),
        ((0.5,) * 4, "B was slower than A at every queue depth, at 0.50 ×."),
    ],
)
def test_ranges_of_levels_are_said_as_ranges(factors: Sequence[float], sentence: str) -> None:
    loads = [1000.0 * (index + 1) for index in range(len(factors))]
    assert found(steps("A", loads), steps("B", [x * factor for x, factor in zip(loads, factors, strict=True)]))[0] == sentence


def test_profiles_are_counted_by_group_and_the_extremes_are_named() -> None:
    before = profiles("U320", {"random": [1000] * 6, "sequential": [1000] * 2, "mixed": [1000]})
    after = profiles("SAS", {"random": [1200, 1400, 1100, 1300, 1250, 1000], "sequential": [800, 1000], "mixed": [1100]})
    assert found(before, after) == [
        "SAS was faster than U320 in 5 of 6 random profiles, by 1.10 to 1.40 ×; no difference was shown in 1.",
        "SAS was slower than U320 in 1 of 2 sequential profiles, at 0.80 ×; no difference was shown in 1.",
        "SAS was faster than U320 in Mixed 1: 1.10 × [1.08, 1.12], IOPS from 1,000 to 1,100.",
        "At best, SAS was 1.40 × [1.38, 1.42] as fast as U320, in Random 2 (IOPS from 1,000 to 1,400).",
        "At worst, SAS was 0.80 × [0.79, 0.81] as fast as U320, in Sequential 1 (IOPS from 1,000 to 800).",
    ]


def test_a_lower_latency_is_said_in_multiples_of_speed_with_both_latencies() -> None:
    sentences = found(profiles("A", {"random": [1000]}), profiles("B", {"random": [2000]}), figures=[("read", "p99")])
    assert sentences == ["B was faster than A in read p99 in Random 1: 2.00 × [1.97, 2.03], read p99 from 4.61 ms to 2.30 ms."]


def test_grid_points_are_counted_by_workload_and_named_by_their_settings() -> None:
    def grid(label: str, *throughputs: float) -> Side:
        sizes = (4096, 8192, 16384)
        places = [{"experiment": "grid", "settings": {"block_size": size}} for size in sizes]
        return Side(label, [made(Load(x, 1e6), setting=Setting(place=place)) for x, place in zip(throughputs, places, strict=True)])

    assert found(grid("A", 100, 100, 100), grid("B", 130, 120, 100)) == [
        "B was faster than A in 2 of 3 points of OLTP database, by 1.20 to 1.30 ×; no difference was shown in 1.",
        "At best, B was 1.30 × [1.28, 1.32] as fast as A, in OLTP database with block_size 4096 (IOPS from 100 to 130).",
    ]


def test_nothing_shown_is_one_sentence_with_the_range_of_the_ratios() -> None:
    same = [x * factor for x, factor in zip(U320, (1.001, 0.999, 1.002, 1.0, 0.998, 1.001, 1.0), strict=True)]
    assert found(steps("A", U320), steps("B", same), objective="mean <= 20ms") == [
        "No difference between B and A was shown in 8 comparisons; the ratios lay between 0.998 and 1.002 ×.",
    ]
    assert found(profiles("A", {"random": [1000]}), profiles("B", {"random": [1001]})) == [
        "No difference between B and A was shown: 1.001 × [0.987, 1.015], IOPS from 1,000 to 1,001.",
    ]


@pytest.mark.parametrize(
    ("objective", "at"),
    [
        ("read mean <= 20ms and mean <= 20ms", "at 20 ms"),
        ("p99 <= 92.1ms", "at a p99 of 92.1 ms"),
        ("read p99.9 < 138.16ms", "at a read p99.9 of 138.16 ms"),
        ("mean <= 20ms and p99 <= 200ms", "within 'mean <= 20ms and p99 <= 200ms'"),
    ],
)
def test_the_objective_is_said_in_short_where_one_limit_says_it_all(objective: str, at: str) -> None:
    sentence = found(steps("A", U320), steps("B", SAS), objective=objective)[0]
    assert re.match(rf"B carried 1\.2\d × \[\d\.\d\d, \d\.\d\d\] the load of A {re.escape(at)}, and was faster", sentence), sentence


def test_a_mark_that_is_only_a_bound_is_said_as_one() -> None:
    assert found(steps("A", U320), steps("B", SAS), objective="mean <= 35ms")[0] == (
        "B carried at least 2,150 IOPS at 35 ms, and A carried 1,700 IOPS."
    )
    assert found(steps("A", (100, 150, 180)), steps("B", SAS), objective="mean <= 8ms")[0] == (
        "A held no level at 8 ms, and B carried 1,250 IOPS."
    )
    assert found(steps("A", SAS), steps("B", (100, 150, 180)), objective="mean <= 8ms")[0] == (
        "B held no level at 8 ms, and A carried 1,250 IOPS."
    )


def test_several_workloads_are_told_apart_by_their_titles() -> None:
    def both(label: str, *lines: Sequence[float]) -> Side:
        settings = (Setting(), Setting(workload="dss", title="Decision support"))
        return Side(
            label, [result for line, setting in zip(lines, settings, strict=True) for result in steps(label, line, setting).results]
        )

    sentences = found(both("A", U320, U320), both("B", SAS, U320), objective="mean <= 20ms")
    assert sentences[0].startswith("OLTP database: B carried 1.25 × ")
    assert sentences[2:4] == [
        "Decision support: B carried 1.00 × [0.99, 1.01] the load of A at 20 ms, which is within the noise.",
        "Decision support: Between B and A no difference was shown at any queue depth (1.00 ×).",
    ]


def test_every_side_has_sentences_of_its_own() -> None:
    sides = [profiles(label, {"random": [x]}) for label, x in (("A", 1000), ("B", 1200), ("C", 1000))]
    assert found(*sides) == [
        "B was faster than A in Random 1: 1.20 × [1.18, 1.22], IOPS from 1,000 to 1,200.",
        "No difference between C and A was shown: 1.00 × [0.99, 1.01], IOPS from 1,000 to 1,000.",
    ]


def test_no_finding_is_without_a_number() -> None:
    line = steps("A", (100, 150, 180))
    assert found(line, Side("B", line.results), objective="mean <= 1ms")
    assert all(re.search(r"\d", sentence) for sentence in found(line, Side("B", line.results), objective="mean <= 1ms"))
    assert found(Side("A", []), Side("B", [])) == []


def rates(label: str, *latencies_ms: float, carried: Sequence[float]) -> Side:
    """An open loop at rates 100, 200, 400, …, each completing a share of what was offered."""
    results = []
    for index, (latency, share) in enumerate(zip(latencies_ms, carried, strict=True)):
        rate = 100.0 * 2**index
        setting = Setting(
            options={"arrival": "poisson", "rate": rate}, place={"experiment": "open", "settings": {"rate": rate}, "level": rate}
        )
        results.append(made(Load(rate * share, latency * 1e6), setting=setting))
    return Side(label, results)


def test_points_that_did_not_achieve_their_rate_have_no_part_in_the_headlines() -> None:
    # The largest gain was "2307 × [52, 102563]", of a point whose latency had grown for as long as the load lasted.
    comparison = compare([rates("A", 4, 4, 4000, carried=(1, 1, 0.6)), rates("B", 2, 3, 2, carried=(1, 1, 1))], figures=[("all", "mean")])
    assert comparison.findings() == [
        "B was faster than A in mean latency at rates 100 and 200, by 1.33 to 2.00 ×.",
        "At best, B was 2.00 × [1.97, 2.03] as fast as A, in OLTP database at rate 100 (mean latency from 4.00 ms to 2.00 ms).",
    ]
    assert [row.rate_not_achieved for row in comparison.points] == [False, False, True]
    assert [row["rate_not_achieved"] for row in comparison.to_json()["points"]] == [False, False, True]
    (note,) = [note for note in comparison.notes if "offered rate" in note]
    assert note.startswith("1 point missed the offered rate on some side and is left out of the findings: its latencies grow")


def test_the_throughput_of_a_saturated_point_is_a_finding() -> None:
    compared = compare([rates("A", 4, carried=(0.5,)), rates("B", 4, carried=(0.8,))], figures=[("all", "iops")])
    assert compared.findings() == ["B was faster than A at rate 100, by 1.60 ×."]


def test_small_ratios_keep_two_digits_that_count() -> None:
    (sentence,) = found(profiles("A", {"random": [100_000]}), profiles("B", {"random": [40]}))
    assert "0.00040 × [0.00039, 0.00041]" in sentence


@pytest.mark.parametrize(
    ("driver", "sentence"),
    [
        ("decision-support", "B was slower than A in OLTP database: 0.50 ×, queries per hour from 36,000 to 18,000."),
        ("order-entry", "B was slower than A in OLTP database: 0.50 ×, transactions/s from 10.0 to 5.00."),
    ],
)
def test_the_rate_of_a_database_is_called_what_its_report_calls_it(driver: str, sentence: str) -> None:
    def side(label: str, per_s: float) -> Side:
        result = made(Load(per_s, 1e6))
        return Side(label, [replace(result, job=replace(result.job, definition={**result.job.definition, "driver": driver}))])

    assert re.sub(r" × \[.*?\]", " ×", found(side("A", 10.0), side("B", 5.0))[0]) == sentence
