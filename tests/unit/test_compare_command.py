"""``plimsoll compare``: sides, verdicts, refusals and files, over a scripted engine whose latency the test sets."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import pytest

from plimsoll.store.reader import StoredRun, list_runs
from support.said import Plimsoll
from support.scripted_engine import Script, ScriptedEngine

Measure = Callable[..., str]
WORDS = ("-t", "null:", "--over", "queue_depth=1,2", "--repeat", "3", "-d", "1s", "-w", "0", "--fresh")


def varied(count: int, seed: int) -> Script:
    """Intervals that complete about ``count`` requests each, a few more or fewer by turns, so that there is an interval to speak of."""
    latencies = tuple(100_000 + 100 * ((seed + index) % 7) for index in range(count))
    return Script(latencies_ns=latencies, warmup_intervals=0)


@pytest.fixture
def measured(plimsoll: Plimsoll, engine: ScriptedEngine) -> Measure:
    """Measure six points whose throughput is around ``rate`` requests per interval; gives the run's name."""

    def run(rate: int, label: str, *words: str) -> str:
        engine.jobs.clear()
        engine.scripts = [varied(rate + offset, offset) for offset in (0, 2, 1, -1, 1, 0, 2, -1, 0, 1, 2, 0)]
        assert plimsoll("steps", "small.toml", *WORDS, "--label", label, *words).code == 0
        last = list_runs("results")[-1]
        assert isinstance(last, StoredRun)
        return last.name

    return run


def test_more_throughput_is_faster_with_its_ratio_and_interval(plimsoll: Plimsoll, measured: Measure) -> None:
    before, after = measured(100, "before"), measured(150, "after")
    said = plimsoll("compare", before, after)
    assert said.code == 0
    rows = [line for line in said.out.splitlines() if line.endswith("faster *")]
    assert len(rows) == 2 and all("1.50 ×" in row for row in rows)
    assert said.text.startswith("after is 1.50 × as fast as before on average: faster in 2 of 2 measurements. baseline before ")
    document = plimsoll("compare", before, after, "--json").json
    assert document["schema"] == "plimsoll.comparison/1"
    assert ([side["name"] for side in document["sides"]], document["baseline"]) == (["before", "after"], "before")
    assert document["answer"] == "after is 1.50 × as fast as before on average: faster in 2 of 2 measurements."
    assert all(row["low"] < 1.5 < row["high"] and row["verdict"] == "faster" for row in document["points"])
    assert document["findings"] and any("after" in sentence for sentence in document["findings"])


def test_the_baseline_can_be_named(plimsoll: Plimsoll, measured: Measure) -> None:
    before, after = measured(100, "before"), measured(150, "after")
    document = plimsoll("compare", before, after, "--baseline", "after", "--json").json
    assert [side["name"] for side in document["sides"]] == ["after", "before"]
    assert {row["verdict"] for row in document["points"]} == {"slower"}


def test_equal_runs_show_no_difference(plimsoll: Plimsoll, measured: Measure) -> None:
    document = plimsoll("compare", measured(100, "one"), measured(100, "two"), "--json").json
    assert {row["verdict"] for row in document["points"]} == {"no difference shown"}


def test_configurations_of_one_run_are_compared_with_the_first(plimsoll: Plimsoll, measured: Measure) -> None:
    name = measured(100, "both", "-t", "null:?size=1TiB", "--interleave")
    document = plimsoll("compare", name, "--json").json
    assert document["sides"] == [{"name": target, "modelled": False, "targets": [target]} for target in ("null:", "null:?size=1TiB")]


def test_a_comparison_of_marks_at_another_objective(plimsoll: Plimsoll, measured: Measure) -> None:
    document = plimsoll("compare", measured(100, "one"), measured(150, "two"), "--objective", "mean <= 1s", "--json").json
    (mark,) = document["marks"]
    assert mark["objective"] == "mean <= 1s"
    assert [value["level"] for value in mark["values"]] == [2, 2]


def test_marks_that_are_bounds_have_no_verdict_anywhere(plimsoll: Plimsoll, measured: Measure) -> None:
    names = measured(100, "one"), measured(100, "two")
    (mark,) = plimsoll("compare", *names, "--objective", "mean <= 1s", "--json").json["marks"]
    assert (mark["ratio"], mark["verdict"]) == (None, None)
    said = plimsoll("compare", *names, "--objective", "mean <= 1s").out
    head, row = (next(line for line in said.split("mark of")[1].splitlines() if word in line) for word in ("verdict", "mean <= 1s"))
    assert row.split()[-3:] == ["–", "–", "–"] and head.split()[-1] == "verdict"


def test_named_metrics_are_compared(plimsoll: Plimsoll, measured: Measure) -> None:
    names = measured(100, "one"), measured(100, "two")
    document = plimsoll("compare", *names, "--metric", "read p99", "--metric", "mean", "--json").json
    assert [(row["op"], row["metric"]) for row in document["points"]] == [("read", "p99"), ("all", "mean")] * 2


@pytest.mark.parametrize("ending", ["html", "csv", "json"])
def test_a_comparison_is_written_in_every_format(plimsoll: Plimsoll, measured: Measure, here: Path, ending: str) -> None:
    names = measured(100, "one"), measured(150, "two")
    said = plimsoll("compare", *names, "-o", f"c.{ending}")
    assert said.out.endswith(f"\nreport   c.{ending}\n")
    text = (here / f"c.{ending}").read_text()
    if ending == "csv":
        rows = list(csv.DictReader(text.splitlines()))
        assert [(row["side"], row["settings"], row["verdict"]) for row in rows] == [
            ("two", "queue_depth=1", "faster"),
            ("two", "queue_depth=2", "faster"),
        ]
    else:
        assert "no difference shown" in text or "faster" in text


def test_each_side_says_whether_it_was_modelled(plimsoll: Plimsoll, measured: Measure, here: Path) -> None:
    names = measured(100, "cost"), measured(150, "both", "-t", "queue:")
    words = ("compare", *names, "--varying", "modelled", "--varying", "machine", "-o", "c.csv")
    document = plimsoll(*words, "--json").json
    sides = [(side["name"], side["modelled"]) for side in document["sides"]]
    assert sides == [("cost: null:", False), ("both: null:", False), ("both: queue:", True)]
    rows = list(csv.DictReader((here / "c.csv").read_text().splitlines()))
    assert {(row["side"], row["baseline_modelled"], row["modelled"]) for row in rows} == {
        ("both: null:", "false", "false"),
        ("both: queue:", "false", "true"),
    }


def test_a_word_that_nothing_could_vary_in_is_refused(plimsoll: Plimsoll, measured: Measure) -> None:
    names = measured(100, "one"), measured(100, "two")
    said = plimsoll("compare", *names, "--varying", "kernel")
    assert said.code == 2 and "--varying kernel: these runs have no such option; write workload, level," in said.err
    assert plimsoll("compare", *names, "--varying", "machine", "--varying", "duration").code == 0


def test_what_is_not_comparable_is_refused_with_every_reason_unless_told(plimsoll: Plimsoll, measured: Measure) -> None:
    names = measured(100, "one"), measured(100, "two", "-s", "block_size=8k", "-w", "2s")
    said = plimsoll("compare", *names)
    assert (said.code, said.out) == (2, "")
    assert "this cannot be compared" in said.err and "block_size (4096 against 8192)" in said.err and "warmup" in said.err
    assert plimsoll("compare", *names, "--varying", "block_size", "--varying", "warmup").code == 0


def test_a_single_reason_is_one_sentence(plimsoll: Plimsoll, measured: Measure) -> None:
    said = plimsoll("compare", measured(100, "one"), measured(100, "two", "-s", "block_size=8k"))
    assert len(said.err.strip().splitlines()) == 1
    assert said.err.startswith("plimsoll: this cannot be compared: one and two differ in block_size")


def test_runs_with_equal_labels_are_told_apart(plimsoll: Plimsoll, measured: Measure) -> None:
    one, two = measured(100, "same"), measured(100, "same")
    assert plimsoll("compare", one, two, "--json").json["baseline"] == f"same ({one})"


def test_a_single_configuration_needs_a_second_run(plimsoll: Plimsoll, measured: Measure) -> None:
    said = plimsoll("compare", measured(100, "one"))
    assert said.code == 2
    assert "null: is all there is to compare; name a second run" in said.err


def test_wrong_names_are_answered_with_the_right_ones(plimsoll: Plimsoll, measured: Measure) -> None:
    one, two = measured(100, "one"), measured(100, "two")
    assert "no side is called that; there are 'one', 'two'" in plimsoll("compare", one, two, "--baseline", "three").err
    assert f"{one} is given twice" in plimsoll("compare", one, one).err
    assert "is not a metric" in plimsoll("compare", one, two, "--metric", "p98").err
    assert "has no unit" in plimsoll("compare", one, two, "--objective", "mean <= 20").err
    assert "is not a run: did you mean '" in plimsoll("compare", two, "steps-smal").err
    # Any run was suggested where none was near.
    assert "'nosuch' is not a run: 'plimsoll list --runs' lists those there are.\n" in plimsoll("compare", one, "nosuch").err


def test_plain_runs_are_compared_too(plimsoll: Plimsoll, engine: ScriptedEngine) -> None:
    for rate, label in ((100, "one"), (150, "two")):
        engine.jobs.clear()
        engine.scripts = [varied(rate + offset, offset) for offset in (0, 2, 1)]
        assert plimsoll("run", "small.toml", "-t", "null:", "--repeat", "3", "--label", label).code == 0
    names = [run.name for run in list_runs("results") if isinstance(run, StoredRun)]
    (row,) = plimsoll("compare", *names, "--json").json["points"]
    assert (row["side"], row["verdict"]) == ("two", "faster")
