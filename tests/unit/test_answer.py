"""The answer comes first: one sentence per kind of run, with its doubts, and the figures beside it."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest

from plimsoll.analysis.comparison.comparison import Comparison, Side, compare
from plimsoll.analysis.comparison.marks import Evidence, mark_pair, side_mark
from plimsoll.analysis.comparison.of_run import comparison_of
from plimsoll.analysis.comparison.sides import FASTER, NOT_SHOWN, TOO_SHORT
from plimsoll.analysis.objective.judgement import parse_objective
from plimsoll.reports.answer import answer
from plimsoll.reports.marks import RunQuestion
from plimsoll.result import Estimate, Flag, Result
from support.made_results import Load, Setting, failed, made

MS = 1e6
RAMP = {"name": "ramp", "kind": "ramp", "objective": "read mean <= 20ms", "over": [{"option": "queue_depth", "levels": [1, 64]}]}
DOUBT = Flag("not_steady", "doubt", "It drifted.", "Measure longer.")


def ramp(
    levels: Sequence[tuple[int, float, float]], side: str = "/dev/sdb", *, spread: float | None = 0.01, size: int = 4096
) -> list[Result]:
    """Levels as (queue depth, IOPS, mean in ms)."""
    place = {"experiment": "ramp", "kind": "ramp", "configuration": side}
    return [
        made(Load(iops, mean * MS, spread, block_bytes=size), level, setting=Setting(target=side, place=place))
        for level, iops, mean in levels
    ]


HELD = [(1, 500, 2), (16, 1000, 10), (32, 1200, 19), (64, 1300, 40)]


def test_a_ramp_answers_with_its_mark_and_never_with_a_level_that_failed() -> None:
    # The highest rate of the page was 1,300 IOPS, a level that had failed the objective.
    found = answer(ramp(HELD), RunQuestion([RAMP]))
    assert found.sentence.startswith("/dev/sdb carries 1,200 IOPS [")
    assert found.sentence.endswith("] before read mean passes 20 ms (queue_depth 32).")
    (card,) = found.cards
    assert (card.label, card.value, card.to_json()["point"]) == ("Mark of /dev/sdb", "1,200 IOPS", "oltp-db-32-1")


def test_a_load_that_never_failed_is_at_least_that_and_one_that_never_held_is_said_so() -> None:
    assert (
        "carries at least 1,200 IOPS within 'read mean <= 20ms' (queue_depth 32, the highest"
        in answer(ramp(HELD[:3]), RunQuestion([RAMP])).sentence
    )
    missed = answer(ramp([(1, 100, 30), (2, 110, 60)]), RunQuestion([RAMP]))
    assert missed.sentence == "/dev/sdb does not keep 'read mean <= 20ms' even at the lowest level of queue_depth."
    assert missed.cards[0].value == "none held"


def test_doubts_stand_in_the_same_sentence() -> None:
    results = [replace(result, flags=[DOUBT]) for result in ramp(HELD)]
    found = answer(results, RunQuestion([RAMP]))
    assert found.sentence.endswith("; 1 doubt: not steady.")
    assert [(doubt.name, doubt.points, doubt.sentence) for doubt in found.doubts] == [("not_steady", 4, "It drifted.")]
    invalid = replace(results[0], flags=[replace(DOUBT, name="page_cache", severity="invalid")])
    assert answer([invalid, *results[1:]], RunQuestion([RAMP])).sentence.endswith("; not valid: page cache.")


def test_large_requests_are_spoken_of_in_megabytes() -> None:
    assert "carries 629 MB/s [" in answer(ramp(HELD, size=512 << 10), RunQuestion([RAMP])).sentence


def test_several_sides_answer_with_ratios_and_how_sure() -> None:
    results = [*ramp(HELD, "slow"), *ramp([(level, iops * 1.5, mean / 1.5) for level, iops, mean in HELD], "fast")]
    found = answer(results, RunQuestion([RAMP], comparison=comparison_of(results, [RAMP], adaptive=["ramp"])))
    assert found.sentence.startswith("fast carries 1.5") and "the load of slow at 20 ms (" in found.sentence
    assert [card.label for card in found.cards] == ["Mark of fast", "Mark of slow"]
    assert "faster" in found.cards[0].detail


def test_one_point_answers_with_rate_latency_and_how_steady() -> None:
    found = answer([made(Load(1000, 2 * MS))])
    assert found.sentence == (
        "/dev/sdb does 1,000 IOPS (4.1 MB/s) of OLTP database: read mean latency 2.00 ms, p99 9.21 ms, steady within 1 %."
    )
    assert answer([replace(made(Load(1000, 2 * MS)), flags=[DOUBT])]).sentence.endswith(", not steady; 1 doubt: not steady.")


def test_a_run_in_which_nothing_was_measured_says_so() -> None:
    assert answer([failed(1)]).sentence == "Nothing was measured: 1 of 1 points failed."


def pair(first: Load, second: Load) -> Comparison:
    return compare([Side("A", [made(first)]), Side("B", [made(second, setting=Setting(target="/dev/sdc"))])])


def test_a_ratio_that_scatter_may_hide_is_too_short_to_tell_and_says_how_long_would() -> None:
    # "No difference shown" stood beside 0.63 and 0.21 with intervals from 1e-8 to 5e7.
    compared = pair(Load(1000, MS, 0.6, batches=5), Load(630, MS, 0.6, batches=5))
    (row,) = compared.points
    assert row.verdict == TOO_SHORT and row.needed_s is not None
    # Standard error of the logarithm: log(1.6 / 0.4) / 2 / 2.776 = 0.250, of the ratio 0.353; 2.80 of these are 0.989, and log(1 / 0.63) = 0.462:
    # (0.989 / 0.462)² = 4.58 times 10 s.
    assert row.needed_s == pytest.approx(45.8, rel=0.02)
    assert compared.answer() == "B and A: 0.63 ×, IOPS from 1,000 to 630, too short to tell, 50 s per point would."
    assert "[" not in " ".join(compared.findings())


def test_a_narrow_interval_around_1_is_no_difference_shown() -> None:
    assert [row.verdict for row in pair(Load(1000, MS, 0.05), Load(1010, MS, 0.05)).points] == [NOT_SHOWN]


def test_points_without_any_interval_are_too_short_to_tell() -> None:
    (row,) = pair(Load(1000, MS, None), Load(630, MS, None)).points
    assert (row.verdict, row.needed_s) == (TOO_SHORT, None)


def marks(first: Sequence[tuple[int, float, float]], second: Sequence[tuple[int, float, float]], spread: float = 0.1) -> Comparison:
    sides = [Side("A", ramp(first, "A", spread=spread)), Side("B", ramp(second, "B", spread=spread))]
    return compare(sides, objectives={"ramp": parse_objective("read mean <= 20ms")})


def without_band(results: Comparison) -> tuple[str | None, str]:
    (mark,) = results.marks
    return mark.verdict, mark.note


def test_a_level_that_one_side_held_and_the_other_failed_is_evidence_where_marks_have_no_interval() -> None:
    # 16 threads held on one side and failed on the other, and "no difference shown" was said.
    never_failed = [(1, 500, 2), (16, 1900, 8)]
    verdict, note = without_band(marks([(1, 300, 3), (16, 400, 40)], never_failed))
    assert verdict == FASTER and note.endswith("Shown by one level: at queue_depth 16 B kept the objective and A did not.")


def test_a_level_near_the_limit_on_both_sides_is_no_evidence() -> None:
    verdict, _ = without_band(marks([(1, 300, 3), (16, 780, 20.5)], [(1, 500, 2), (16, 820, 19.5)]))
    assert verdict is None


def test_a_level_that_one_side_surely_held_and_the_other_hardly_failed_is_no_evidence() -> None:
    # The weaker of both statements counts: 20.5 ms ± 10 % may well be within 20 ms.
    verdict, _ = without_band(marks([(1, 300, 3), (16, 780, 20.5)], [(1, 500, 2), (16, 1900, 8)]))
    assert verdict is None


def test_levels_that_contradict_one_another_show_nothing() -> None:
    objective = parse_objective("read mean <= 20ms")

    def evidence(first: Sequence[tuple[int, float, float]], second: Sequence[tuple[int, float, float]]) -> Evidence | None:
        return mark_pair(side_mark("A", ramp(first, "A"), objective), side_mark("B", ramp(second, "B"), objective), objective).evidence

    assert evidence([(1, 300, 3), (8, 500, 40), (16, 900, 10)], [(1, 300, 3), (8, 900, 10), (16, 500, 40)]) is None
    assert evidence([(1, 300, 3), (8, 500, 40), (16, 600, 60)], [(1, 300, 3), (8, 900, 10), (16, 500, 40)]) is not None


def test_equal_sides_are_told_apart_by_a_level_in_at_most_5_of_100_cases() -> None:
    random_ = random.Random(5)
    place = {"experiment": "ramp", "kind": "ramp"}
    error, alarms = 0.1, 0
    for _ in range(200):
        sides = []
        for label in "AB":
            results = []
            # All true means lie at the limit or just below it, where false alarms are likeliest.
            for level, mean in ((1, 19.9), (2, 20.0), (4, 20.0)):
                seen = mean * MS * (1 + random_.gauss(0, error))
                point = made(Load(100.0 * level, seen, None), level, setting=Setting(place=place))
                interval = Estimate(seen, seen * (1 - 1.96 * error), seen * (1 + 1.96 * error), 200)
                results.append(replace(point, estimates={"read": {"mean": interval}, "all": {"iops": Estimate(100.0 * level)}}))
            sides.append(Side(label, results))
        compared = compare(sides, objectives={"ramp": parse_objective("read mean <= 20ms")}, figures=[("read", "mean")])
        alarms += any("Shown by one level" in mark.note for mark in compared.marks)
    assert alarms <= 10


def driven(driver: str, **stream: int) -> str:
    """What is said of a point whose workload another driver carried out."""
    point = made(Load(1_000, 2 * MS))
    definition = {**point.job.definition, "driver": driver, "stream": [{"name": "load", **stream}]}
    return answer([replace(point, job=replace(point.job, definition=definition))]).sentence  # type: ignore[arg-type]


def test_loads_of_people_are_spoken_of_in_what_they_do_and_by_how_many_they_are() -> None:
    assert "1,000 tasks/s" in (said := driven("mail", users=1_200)) and "with 1,200 users" in said and "queue depth" not in said


def test_an_answer_of_a_derived_load_says_that_it_is_not_comparable() -> None:
    said = driven("order-entry", terminals=8)
    assert "with 8 terminals" in said and "derived from TPC-C, not comparable with published TPC-C results" in said
    assert said.count("derived from") == 1
    assert "derived from TPC-H, not comparable with published TPC-H results" in driven("decision-support", streams=2)
    assert "derived from" not in driven("files")


def named(workload: str, load: Load, *, settings: dict[str, int] | None = None, kind: str = "single") -> Result:
    place = {"experiment": "profiles", "kind": kind, "configuration": "/dev/sdb", "settings": settings or {}}
    return made(load, setting=Setting(workload, workload.capitalize(), target="/dev/sdb", place=place))


def test_a_few_workloads_stand_in_the_sentence_each_in_its_own_unit() -> None:
    # It was "637 IOPS (sequential) to 7,023 IOPS (random)", of which the first are requests of 128 KiB.
    results = [named("sequential", Load(637, 2 * MS, block_bytes=128 << 10)), named("random", Load(7023, 2 * MS))]
    assert answer(results).sentence == "/dev/sdb does Sequential 83.5 MB/s, Random 7,023 IOPS."


def test_many_workloads_are_a_range_of_requests_and_one_of_bandwidth() -> None:
    small = [named(f"small-{size}", Load(size, 2 * MS)) for size in (100, 300, 200)]
    large = [named(f"large-{size}", Load(size, 2 * MS, block_bytes=1 << 20)) for size in (100, 200)]
    ranges = "100 IOPS (Small-100) to 300 IOPS (Small-300), 105 MB/s (Large-100) to 210 MB/s (Large-200)"
    assert answer([*small, *large]).sentence == f"/dev/sdb does {ranges} in 5 workloads."


def test_a_range_whose_ends_are_equal_is_one_figure() -> None:
    results = [named("random", Load(11_111, 2 * MS), settings={"threads": threads}) for threads in (1, 2)]
    assert answer(results).sentence == "/dev/sdb does 11,111 IOPS in 2 measurements of Random."


def test_several_marks_stand_in_the_sentence_each_in_its_own_unit() -> None:
    def one(workload: str, size: int) -> list[Result]:
        place = {"experiment": "ramp", "kind": "ramp", "configuration": "/dev/sdb"}
        setting = Setting(workload, workload.capitalize(), target="/dev/sdb", place=place)
        return [made(Load(iops, mean * MS, 0.01, block_bytes=size), level, setting=setting) for level, iops, mean in HELD]

    found = answer([*one("random", 4096), *one("streams", 512 << 10)], RunQuestion([RAMP]))
    assert found.sentence == "/dev/sdb carries Random 1,200 IOPS, Streams 629 MB/s within 'read mean <= 20ms'."


def test_equal_sides_are_not_told_apart_by_noughts() -> None:
    # It was "r1 is 1.0000 × as fast as r5 on average (1.0000 ×)".
    sides = [Side(name, [named(w, Load(rate, 2 * MS, 0.01)) for w in ("random", "other")]) for name, rate in (("r5", 1e6), ("r1", 1e6 + 1))]
    assert "1.00 × as fast as r5 on average: " in compare(sides).answer()


def test_a_side_that_fails_at_the_lowest_level_and_is_asked_no_more_holds_no_level() -> None:
    # It was "slow is slower than fast: 0.012 ×, IOPS from 15,116 to 186": a single level was no load line, so there were no marks.
    results = [*ramp(HELD, "fast"), *ramp([(1, 40, 30)], "slow")]
    compared = comparison_of(results, [RAMP], adaptive=["ramp"])
    assert compared is not None
    assert compared.answer() == "fast carries 1,200 IOPS at 20 ms; slow holds no level."
    # A single level that held says nothing of what more would have done.
    held = comparison_of([*ramp(HELD, "fast"), *ramp([(1, 400, 3)], "slow")], [RAMP], adaptive=["ramp"])
    assert held is not None and held.marks == ()
