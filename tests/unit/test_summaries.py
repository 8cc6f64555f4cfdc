"""Summaries for CI: JUnit XML and Markdown of stored runs, and failed objectives with their value."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from plimsoll.analysis.objective.judgement import judge, parse_objective
from plimsoll.analysis.objective.misses import missed
from plimsoll.errors import EngineError
from plimsoll.reports.markdown import _text
from support.made_results import Load, failed, made
from support.said import Plimsoll
from support.scripted_engine import Script, ScriptedEngine


@pytest.mark.parametrize(
    ("objective", "said"),
    [
        ("read mean <= 5ms", None),
        ("read mean <= 1600us", "read mean latency was 2.00 ms, 25.0 % above the limit of 1.6ms"),
        ("mean <= 500us", "read mean latency was 2.00 ms, 4.00 × the limit of 500us"),
        ("iops >= 1250", "IOPS were 1,000, 20.0 % below the limit of 1250"),
        ("bandwidth >= 8.192MB/s", "bandwidth was 4.1 MB/s, 50.0 % below the limit of 8.192MB/s"),
        ("read mean < 2ms", "read mean latency was 2.00 ms, which is the limit of 2ms itself"),
        (
            "mean <= 1ms and iops >= 2k",
            "read mean latency was 2.00 ms, 2.00 × the limit of 1ms; IOPS were 1,000, 50.0 % below the limit of 2000",
        ),
    ],
)
def test_a_missed_objective_says_the_value_and_by_how_much(objective: str, said: str | None) -> None:
    assert missed(judge(parse_objective(objective), made(Load(iops=1000, mean_ns=2e6)))) == said


def test_a_failed_point_misses_by_its_error() -> None:
    assert missed(judge(parse_objective("mean <= 1s"), failed(1))) == "the point failed: no space left on device"


def test_an_asserted_objective_that_fails_says_so_with_its_value(plimsoll: Plimsoll, engine: ScriptedEngine) -> None:
    said = plimsoll("run", "small.toml", "-t", "null:", "--objective", "mean <= 50us", "--assert", "--json")
    assert said.code == 1
    sentence = "the objective 'mean <= 50us' does not hold for small on null:: read mean latency was 100 µs, 2.00 × the limit of 50us."
    assert f"plimsoll: {sentence}\n" in said.err
    assert said.json["objective"]["points"][0]["missed"] == "read mean latency was 100 µs, 2.00 × the limit of 50us"
    said = plimsoll("ramp", "small.toml", "-t", "null:", "--objective", "mean <= 80us", "--assert", "--over", "queue_depth=1..2")
    assert said.code == 1
    assert "no level of small on null: kept 'mean <= 80us': at the lowest, 1, read mean latency was 100 µs, 25.0 % above" in said.err


def stored(plimsoll: Plimsoll, *words: str) -> str:
    plimsoll(*words, "-t", "null:", "-q")
    return max(path.name for path in Path("results").iterdir())


def test_points_are_tests_and_objectives_are_tests_in_junit(plimsoll: Plimsoll, engine: ScriptedEngine) -> None:
    name = stored(plimsoll, "matrix", "small.toml", "--over", "queue_depth=1,2", "--label", "a & <b>")
    assert plimsoll("report", name, "-o", "r.xml").code == 0
    root = ElementTree.parse("r.xml").getroot()
    (suite,) = root
    assert suite.get("name") == "a & <b>" and (suite.get("tests"), suite.get("failures")) == ("2", "0")
    assert [case.get("name") for case in suite.iter("testcase")] == [
        "0001-small on null: at queue_depth 1",
        "0002-small on null: at queue_depth 2",
    ]
    assert all(float(case.get("time") or 0) == pytest.approx(1) for case in suite.iter("testcase"))


@pytest.mark.parametrize(("limit", "failures"), [("5ms", "0"), ("50us", "1")])
def test_an_objective_that_no_level_kept_is_a_failed_test(plimsoll: Plimsoll, engine: ScriptedEngine, limit: str, failures: str) -> None:
    words = ("ramp", "small.toml", "--objective", f"mean <= {limit}", "--over", "queue_depth=1..4")
    assert plimsoll("report", stored(plimsoll, *words), "-o", "r.xml").code == 0
    root = ElementTree.parse("r.xml").getroot()
    assert root.get("failures") == failures
    case = [case for case in root.iter("testcase") if case.get("classname") == "ramp"][-1]
    assert case.get("name") == f"small.toml on null: keeps mean <= {limit}"
    if failures == "1":
        assert "on null: at queue_depth 1: read mean latency was 100 µs, 2.00 × the limit of 50us" in (case.findtext("failure") or "")


def test_a_point_that_failed_is_in_error(plimsoll: Plimsoll, engine: ScriptedEngine) -> None:
    engine.scripts = [Script(raises=EngineError("the device went away."))]
    assert plimsoll("report", stored(plimsoll, "run", "small.toml"), "-o", "r.xml").code == 0
    root = ElementTree.parse("r.xml").getroot()
    (error,) = root.iter("error")
    assert (root.get("errors"), error.get("message")) == ("1", "the device went away.")
    assert plimsoll("report", Path("results").iterdir().__next__().name, "-o", "r.md").code == 0
    assert "failed: the device went away." in Path("r.md").read_text()


def test_markdown_has_conclusions_a_row_per_point_and_each_doubt_once(plimsoll: Plimsoll, engine: ScriptedEngine) -> None:
    name = stored(plimsoll, "ramp", "small.toml", "--objective", "mean <= 5ms", "--over", "queue_depth=1..2", "--label", "<mine>")
    assert plimsoll("report", name, "-o", "r.md").code == 0
    lines = Path("r.md").read_text().splitlines()
    assert lines[:2] == ["<!-- Plimsoll -->", "# \\<mine>"]
    rows = [line for line in lines if line.startswith("| small |")]
    assert len(rows) == 2 and all(" 1,000 " in row and " ✅ held " in row for row in rows)
    assert "| workload | side | point | read IOPS | write IOPS |" in lines[[line.startswith("| workload") for line in lines].index(True)]
    doubts = [line.split("**")[1] for line in lines if "**" in line]
    assert doubts and len(set(doubts)) == len(doubts)


def test_names_are_no_markup() -> None:
    assert _text("<script> *x* _y_ a_b `c` [d](e) read_mean <= 5") == "\\<script> \\*x\\* \\_y\\_ a_b \\`c\\` [d\\](e) read_mean <= 5"


@pytest.mark.parametrize("ending", ["md", "xml"])
def test_a_summary_replaces_only_a_summary(plimsoll: Plimsoll, engine: ScriptedEngine, ending: str) -> None:
    name = stored(plimsoll, "run", "small.toml")
    for _ in range(2):
        assert plimsoll("report", name, "-o", f"r.{ending}").code == 0
    Path(f"mine.{ending}").write_text("# Mine\n" if ending == "md" else '<?xml version="1.0"?><a/>')
    assert plimsoll("report", name, "-o", f"mine.{ending}").code == 2
