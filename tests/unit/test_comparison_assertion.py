"""Conditions on comparisons: ``compare --assert``, what they mean, and that what is undecided never passes."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from plimsoll.analysis.comparison.assertion import Asserted, Judged, parse_assertion, parse_assertions
from plimsoll.errors import InputError
from support.said import Plimsoll
from support.scripted_engine import Script, ScriptedEngine


def judged(text: str, ratio: float | None, low: float | None = None, high: float | None = None) -> Judged:
    return Judged(parse_assertion(text), "oltp-db at threads 4", "new", ratio, low, high)


@pytest.mark.parametrize(
    ("written", "text", "figure"),
    [
        ("throughput >= 0.95x", "throughput >= 0.95x", ("all", "iops")),
        ("  Read P99 ≤ 110% ", "read p99 <= 1.1x", ("read", "p99")),
        ("bandwidth > 1 ×", "bandwidth > 1x", ("all", "bytes_per_s")),
        ("p99.9<2.50x", "p99.9 < 2.5x", ("all", "p999")),
        ("mark >= 1x", "mark >= 1x", None),
    ],
)
def test_a_condition_is_read_and_written_in_one_way(written: str, text: str, figure: object) -> None:
    found = parse_assertion(written)
    assert (found.text, found.figure) == (text, figure)
    assert parse_assertion(found.text) == found


def test_several_conditions_are_joined_and_each_counts_once() -> None:
    found = parse_assertions(["throughput >= 0.95x and p99 <= 1.1x", "throughput>=95%, mark >= 1x"])
    assert [one.text for one in found] == ["throughput >= 0.95x", "p99 <= 1.1x", "mark >= 1x"]


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("", "--assert '': not a condition; write METRIC RELATION RATIO, for example 'throughput >= 0.95x'"),
        ("throughput", "not a condition"),
        (">= 1x", "not a condition"),
        ("throughput = 1x", "'=' is not a relation; write one of <=, <, >= or >"),
        ("throughput >= 5ms", "'5ms' is not a ratio to the baseline; write for example 0.95x or 95%. A limit in a unit is an objective"),
        ("throughput >= 0x", "'0x' is not a ratio"),
        ("throughput >= ", "'' is not a ratio"),
        ("thruput >= 1x", "'thruput' is not a metric; did you mean 'throughput'?"),
        ("reed p99 <= 1x", "'reed' is not an operation; did you mean 'read'?"),
        ("errors <= 1x", "'errors' cannot be aimed at"),
    ],
)
def test_a_condition_that_is_none_is_told_what_would_be_one(written: str, said: str) -> None:
    with pytest.raises(InputError) as raised:
        parse_assertions([written])
    assert said in str(raised.value)


@pytest.mark.parametrize(
    ("text", "ratio", "low", "high", "verdict", "said"),
    [
        ("throughput >= 0.95x", 1.0, 0.97, 1.03, "held", "1.00 × [0.97, 1.03]"),
        ("throughput >= 0.95x", 0.95, 0.95, 0.99, "held", "0.95 × [0.95, 0.99]"),
        ("throughput > 0.95x", 0.95, 0.95, 0.99, "undecided", "reaches across the limit"),
        ("throughput >= 0.95x", 1.0, 0.9, 1.1, "undecided", "the interval reaches across the limit: measure longer, or repeat"),
        ("throughput >= 0.95x", 0.76, 0.7, 0.8, "failed", "0.76 × [0.70, 0.80], 20.0 % below the limit"),
        ("p99 <= 1.1x", 1.65, 1.6, 1.7, "failed", "50.0 % above the limit"),
        ("p99 <= 1.1x", 1.0, None, None, "undecided", "without an interval: measure longer, or repeat"),
        ("p99 <= 1.1x", None, None, None, "undecided", "it has no ratio"),
    ],
)
def test_the_whole_interval_has_to_keep_a_condition(
    text: str, ratio: float | None, low: float | None, high: float | None, verdict: str, said: str
) -> None:
    found = judged(text, ratio, low, high)
    assert found.verdict == verdict and said in found.text
    assert Asserted(found.assertion, (found,)).holds is (verdict == "held")


def test_a_condition_that_meets_no_point_does_not_hold() -> None:
    empty = Asserted(parse_assertion("write p99 <= 1x"))
    assert not empty.holds and empty.sentences() == ["write p99 <= 1x is not shown: no point has this figure on two sides"]


def test_failures_are_told_before_what_is_undecided() -> None:
    wide, slow = judged("throughput >= 0.95x", 1, 0.9, 1.1), judged("throughput >= 0.95x", 0.5, 0.4, 0.6)
    first, second = Asserted(wide.assertion, (wide, slow)).sentences()
    assert first == "throughput >= 0.95x failed for oltp-db at threads 4 on new: 0.50 × [0.40, 0.60], 47.4 % below the limit"
    assert second.startswith("throughput >= 0.95x is undecided for oltp-db at threads 4 on new: 1.00 × [0.90, 1.10]")


def two_runs(plimsoll: Plimsoll, engine: ScriptedEngine, *per_interval: int) -> tuple[str, ...]:
    """Runs of so many requests per interval, give or take one, so that ratios have narrow intervals."""
    names = []
    for number, requests in enumerate(per_interval):
        engine.scripts = [Script(intervals=40, latencies_ns=(100_000,) * requests)]
        plimsoll("run", "small.toml", "-t", "null:", "--label", f"r{number}", "--fresh", "--repeat", "3", "-q")
        names.append(max(path.name for path in Path("results").iterdir() if path.name not in names))
    return tuple(names)


def test_the_exit_code_says_whether_every_condition_holds(plimsoll: Plimsoll, engine: ScriptedEngine) -> None:
    names = two_runs(plimsoll, engine, 100, 80)
    held = plimsoll("compare", *names, "--assert", "throughput >= 0.5x")
    assert (held.code, held.err) == (0, "")
    assert "✓ throughput >= 0.5x: held at the only point" in held.out
    said = plimsoll("compare", *names, "--assert", "throughput >= 0.95x and throughput >= 0.5x")
    assert said.code == 1
    assert "✗ throughput >= 0.95x failed for small on r1: 0.80 × [0.80, 0.80], 15.8 % below the limit" in " ".join(said.out.split())
    assert said.err.startswith("plimsoll: 1 of 2 asserted conditions do not hold; the first: throughput >= 0.95x failed for small")


def test_a_condition_may_be_about_a_figure_that_is_not_shown(plimsoll: Plimsoll, engine: ScriptedEngine) -> None:
    names = two_runs(plimsoll, engine, 100, 100)
    document = plimsoll("compare", *names, "--assert", "read mean <= 1.01x", "--json").json
    assert {row["metric"] for row in document["points"]} == {"iops"}
    (asserted,) = document["assertions"]
    assert asserted["text"] == "read mean <= 1.01x" and [point["verdict"] for point in asserted["points"]]
    assert "assertions" not in plimsoll("compare", *names, "--json").json


def test_conditions_become_tests_of_junit_and_rows_of_markdown(plimsoll: Plimsoll, engine: ScriptedEngine) -> None:
    names = two_runs(plimsoll, engine, 100, 80)
    conditions = ("--assert", "throughput >= 0.95x", "--assert", "throughput >= 0.5x", "--assert", "trim mean <= 1x")
    for ending in ("xml", "md", "json"):
        assert plimsoll("compare", *names, *conditions, "-o", f"c.{ending}").code == 1
    root = ElementTree.parse("c.xml").getroot()
    assert root.attrib == {"name": "Plimsoll", "tests": "3", "failures": "2", "errors": "0", "skipped": "0"}
    failed = [
        (case.get("classname"), case.find("failure").get("type")) for case in root.iter("testcase") if case.find("failure") is not None
    ]  # type: ignore[union-attr]
    assert failed == [("throughput >= 0.95x", "failed"), ("trim mean <= 1x", "not shown")]
    text = Path("c.md").read_text()
    assert "| throughput >= 0.95x | ❌ failed | small on r1: 0.80 × [0.80, 0.80], 15.8 % below the limit |" in text
    assert "| throughput >= 0.5x | ✅ held |" in text
    assert [one["holds"] for one in json.loads(Path("c.json").read_text())["assertions"]] == [False, True, False]


def test_a_comparison_without_conditions_is_a_suite_of_tests_that_passed(plimsoll: Plimsoll, engine: ScriptedEngine) -> None:
    names = two_runs(plimsoll, engine, 100, 80)
    assert plimsoll("compare", *names, "-o", "c.xml").code == 0
    root = ElementTree.parse("c.xml").getroot()
    assert (root.get("tests"), root.get("failures")) == ("1", "0")


def test_a_comparison_is_written_as_parquet_with_the_columns_of_its_csv(plimsoll: Plimsoll, engine: ScriptedEngine) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    names = two_runs(plimsoll, engine, 100, 80)
    for form in ("csv", "parquet"):
        # A second time over its own file, which is ours.
        assert [plimsoll("compare", *names, "-o", f"c.{form}").code for _ in range(2)] == [0, 0]
    typed, (row,) = parquet.read_table("c.parquet"), csv.DictReader(Path("c.csv").read_text().splitlines())
    assert typed.column_names == list(row)
    (found,) = typed.to_pylist()
    assert (found["side"], found["ratio"], found["modelled"]) == (row["side"], float(row["ratio"]), row["modelled"] == "true")
