"""Analytics workflows by level: report 002's figures with both meanings of its times, what a core gets, stretch, the end of growth."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from plimsoll.analysis.analytics.levels import levels_of
from plimsoll.analysis.analytics.limit import Course, limit
from plimsoll.experiments.plan import Conclusion
from plimsoll.experiments.sweep import scaling
from plimsoll.reports import analytics as words
from plimsoll.reports.terminal.analytics import workflows
from support.made_workflows import CPU, MB, Workflows, ran

#: 1 to 64 workflows on a disk that gives 280 MB/s: it is enough for four.
REAL_S = {1: 20.0, 2: 20.0, 4: 20.0, 8: 40.0, 16: 80.0, 32: 160.0, 64: 320.0}
SIDE = "/mnt/a"


def course(**shares: float | None) -> Course:
    known: dict[str, float | None] = {"busy_share": 0.4, "computing_share": 0.3, "wait_share": 0.4, "util_share": 0.9, "memory_share": 0.1}
    return Course(**{**known, **shares})


def suite(iterations: int = 2):
    return [
        ran(SIDE, number, Workflows(5.0, real_s * (1 + 0.02 * (repeat - 1)), 40.0 * min(number, 4), 30.0 * min(number, 4)), repeat)
        for repeat in range(1, iterations + 1)
        for number, real_s in REAL_S.items()
    ]


def test_a_levels_figures_are_those_of_the_report_with_both_meanings_of_its_times() -> None:
    (found,) = levels_of([ran(SIDE, 8, Workflows(cpu_s=5.0, real_s=40.0, read_mb_per_s=160.0, write_mb_per_s=120.0))])
    (level,) = found.levels
    means = level.means
    # CPU of each is 5 s; of all eight 40 s, and they took 40 s from the first start to the last end.
    assert (means["workflow_cpu_s"], means["workflow_real_s"]) == (pytest.approx(5.0), pytest.approx(40.0))
    assert (means["total_cpu_s"], means["total_real_s"]) == (pytest.approx(40.0), pytest.approx(40.0))
    assert [means[f"{name}_percent"] for name in ("user", "system", "idle", "wait")] == [30.0, 10.0, 15.0, 45.0]
    # Blocks of 4,096 bytes in two seconds: 160e6 / 4096 * 2.
    assert (means["blocks_in"], means["blocks_out"]) == (pytest.approx(78_125.0), pytest.approx(58_593.75))
    assert (means["bytes_in_per_s"], means["bytes_out_per_s"]) == (pytest.approx(160 * MB), pytest.approx(120 * MB))
    # 280 MB/s over four cores; 8 workflows in 40 s are 720 in an hour; ten reads and eight writes of 2 GB each.
    assert level.per_core is not None and level.per_core.value == pytest.approx(70 * MB)
    assert level.per_hour.value == pytest.approx(720.0)
    assert (means["moved_in_per_s"], means["moved_out_per_s"]) == (pytest.approx(8 * 5 * 2e9 / 40), pytest.approx(8 * 4 * 2e9 / 40))


def test_two_iterations_are_averaged_and_kept() -> None:
    (found,) = levels_of([ran(SIDE, 2, Workflows(real_s=20.0)), ran(SIDE, 2, Workflows(real_s=30.0), repeat=2)])
    (level,) = found.levels
    assert level.means["workflow_real_s"] == pytest.approx(25.0)
    assert [one.number for one in level.iterations] == [1, 2]
    # Of two iterations little is known: the interval holds both.
    assert level.per_hour.low is not None and level.per_hour.high is not None
    assert level.per_hour.low <= 240 <= 360 <= level.per_hour.high


def test_iterations_within_a_point_are_iterations_as_well() -> None:
    one, other = ran(SIDE, 2, Workflows(real_s=20.0)), ran(SIDE, 2, Workflows(real_s=30.0))
    first, second = (dict(result.engine["analytics"]) for result in (one, other))
    second["workflows"] = [{**each, "iteration": 2} for each in second["workflows"]]
    second["iterations"] = [{**second["iterations"][0], "number": 2}]
    both = {**first, "workflows": [*first["workflows"], *second["workflows"]], "iterations": [*first["iterations"], *second["iterations"]]}
    (found,) = levels_of([replace(one, engine={"analytics": both})])
    assert [each.number for each in found.levels[0].iterations] == [1, 2]
    assert found.levels[0].means["workflow_real_s"] == pytest.approx(25.0)


def test_stretch_is_against_one_workflow_alone() -> None:
    (found,) = levels_of(suite(1))
    assert [level.workflows for level in found.levels] == list(REAL_S)
    assert [level.stretch for level in found.levels] == [pytest.approx(value) for value in (1, 1, 1, 2, 4, 8, 16)]
    (without,) = levels_of([result for result in suite(1) if result.place["level"] != 1])
    assert all(level.stretch is None for level in without.levels)


def test_growth_ends_at_the_lowest_level_that_no_higher_one_surpasses() -> None:
    (found,) = levels_of(suite())
    assert found.end is not None and found.end.workflows == 4
    assert found.end.limit is not None and found.end.limit.what == "storage"
    (growing,) = levels_of([ran(SIDE, number, Workflows(real_s=20.0)) for number in (1, 2, 4)])
    assert growing.end is None


def test_the_law_is_fitted_to_every_iteration() -> None:
    (found,) = levels_of(suite())
    assert found.fit is not None and found.fit.lambda_per_s.batches == 14
    # Linear up to four workflows and level from there on is no such law.
    assert found.fit.misfit is not None


@pytest.mark.parametrize(
    ("shares", "what", "share"),
    [
        ({}, "storage", 0.7),
        ({"memory_share": 0.95}, "memory", 0.95),
        ({"busy_share": 0.85}, "processors", 0.85),
        ({"computing_share": 0.9}, "own processor", 0.9),
        ({"util_share": 0.1, "wait_share": 0.3}, "storage", 0.7),
        ({"util_share": 0.1, "wait_share": 0.05}, "nothing seen", 0.7),
        ({"util_share": None, "wait_share": None}, "nothing seen", 0.7),
    ],
)
def test_what_limits_a_level_follows_from_how_workflows_spent_their_time(shares, what, share) -> None:
    found = limit(course(**shares))
    assert (
        found is not None and (found.what, found.share) == (what, pytest.approx(share)) and f"{share:.0%}" in found.words() + f"{share:.0%}"
    )


def test_of_workflows_without_times_nothing_is_said() -> None:
    assert limit(course(computing_share=None)) is None


def test_workflows_that_failed_are_in_no_mean_and_are_counted() -> None:
    (found,) = levels_of([ran(SIDE, 4, Workflows(real_s=20.0, failed=1))])
    (level,) = found.levels
    assert (level.failed, level.means["workflow_real_s"], level.per_hour.value) == (1, pytest.approx(20.0), pytest.approx(540.0))
    assert "1 of 4 workflows failed with 4 at a time" in workflows([ran(SIDE, 4, Workflows(failed=1))])


def test_levels_with_failures_are_not_fitted() -> None:
    points = [ran(SIDE, number, Workflows(failed=number == 8)) for number in (1, 2, 4, 8)]
    (found,) = levels_of(points)
    assert found.fit is None


def test_wrong_data_are_told_wherever_figures_are() -> None:
    results = [ran(SIDE, 4, Workflows(wrong=2)), ran(SIDE, 1)]
    (found,) = levels_of(results)
    assert found.levels[-1].wrong == 2
    assert "2 workflows found WRONG DATA" in words.sentence(results, {}) and "WRONG DATA with 4 at a time" in workflows(results)


def test_without_counters_of_the_target_the_hosts_blocks_are_told_and_named_so() -> None:
    bare = ran(SIDE, 2, Workflows(read_mb_per_s=None, write_mb_per_s=None))
    counted = replace(bare, monitor={"paging": {"blocks_in_per_s": 1000.0, "blocks_out_per_s": 500.0}, "cpu": CPU})
    (found,) = levels_of([counted])
    (level,) = found.levels
    assert (level.counted, level.means["blocks_in"], level.means["blocks_out"]) == ("host", 2000.0, 1000.0)
    assert "all block devices of this host" in workflows([counted])
    (nothing,) = levels_of([replace(bare, monitor={})])
    assert nothing.levels[0].bytes_per_s is None and nothing.levels[0].per_core is None


def test_sides_and_other_settings_stand_apart() -> None:
    results = [ran("/mnt/a", 1), ran("/mnt/b", 1), ran("/mnt/b", 1, Workflows(settings=(("direct", True),)))]
    assert [one.side for one in levels_of(results)] == ["/mnt/a", "/mnt/b", "/mnt/b"]


def test_the_answer_says_how_far_it_grows_what_ends_it_and_what_a_core_gets() -> None:
    assert words.sentence(suite(1), {SIDE: SIDE}) == (
        "/mnt/a grows up to 4 workflows, where storage ends it: 720 workflows per hour with 280 MB/s of the devices, 70.0 per core, which misses "
        "the 100 MB/s asked of every file system; with 64 a workflow takes 16.0 × as long as alone; analytics workflow, modelled on published "
        "descriptions of SAS jobs; not a SAS benchmark"
    )
    growing = [ran(SIDE, number, Workflows(real_s=20.0, read_mb_per_s=100.0 * number)) for number in (1, 2, 4)]
    assert words.sentence(growing, {SIDE: SIDE}).startswith("/mnt/a grows up to 4 workflows, the most that ran: 720 workflows per hour")
    assert words.sentence([], {}) == ""


def test_a_core_that_got_little_because_processors_were_busy_is_no_fault_of_the_storage() -> None:
    busy = {"user_percent": 90.0, "system_percent": 5.0, "iowait_percent": 0.0, "idle_percent": 5.0}
    told = words.sentence([ran(SIDE, number, Workflows(cpu=busy)) for number in (1, 2)], {})
    assert "misses the 100 MB/s asked of every file system (storage was not the limit)" in told
    waiting = words.sentence([ran(SIDE, number) for number in (1, 2)], {})
    assert "misses the 100 MB/s" in waiting and "not the limit" not in waiting


def test_the_document_has_every_figure_of_every_iteration() -> None:
    document = json.loads(json.dumps(words.document(suite())))["analytics"]
    (side,) = document["sides"]
    assert (side["ended_at"], side["ended_by"], side["physical_cores"]) == (4, "storage", 4)
    assert [len(level["iterations"]) for level in side["levels"]] == [2] * 7
    eight = side["levels"][3]
    assert eight["verdicts"] == {"every file system": "misses", "temporary data": "misses"}
    assert eight["limited_by"]["words"].startswith("storage: workflows waited for ")
    assert words.document([]) == {}


def test_the_tables_have_a_row_per_level_and_name_both_times() -> None:
    text = workflows(suite(1))
    times, blocks = text.split("\n\n")
    assert "CPU per workflow  real per workflow  CPU of all  real of all" in times
    assert times.splitlines()[-1].split()[:9] == ["64", "5.00", "s", "320", "s", "320", "s", "320", "s"]
    assert "16.0 ×" in times.splitlines()[-1] and times.splitlines()[-1].endswith("storage")
    assert blocks.splitlines()[-2 if blocks.splitlines()[-1].startswith("Means") else -1]
    assert "100 missed, 150 missed" in blocks and "a mean per 2 s" in blocks


def test_the_scaling_of_workflows_is_that_of_workflows_per_hour() -> None:
    plan = scaling("workflows", [1, 2, 4, 8], iterations=1)
    ask = next(plan)
    conclusion: Conclusion | None = None
    while conclusion is None:
        try:
            # Twice the calls for each read say nothing of the workflows.
            ask = plan.send(ran(SIDE, int(ask.level), Workflows(real_s=20.0, read_mb_per_s=500.0 / ask.level)))
        except StopIteration as end:
            conclusion = end.value
    assert conclusion.sentences[0] == "8 workflows delivered 8.00 × the throughput of 1 (100 % efficiency)."
    assert conclusion.figures["rows"][-1]["throughput"] == pytest.approx(1440.0)
