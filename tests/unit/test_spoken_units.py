"""Large requests are spoken of in MB/s, in answers, comparisons, marks and conclusions; small ones in IOPS."""

from __future__ import annotations

from dataclasses import replace

import pytest

from plimsoll import catalog
from plimsoll.analysis.comparison.comparison import compare
from plimsoll.analysis.comparison.sides import Side
from plimsoll.analysis.objective.judgement import parse_objective
from plimsoll.analysis.point.metric import LARGE_BYTES, load_noun
from plimsoll.catalog.figures import published, published_names
from plimsoll.engine.block import native
from plimsoll.experiments.plan import Ask
from plimsoll.experiments.probe import Bounds
from plimsoll.experiments.search import ramp
from plimsoll.experiments.sweep import scaling, steps
from plimsoll.points.point import defined
from plimsoll.reports.terminal.comparison import comparison_text
from support.made_results import Load, Setting, made
from support.synthetic_result import Answer, conducted

MIB = 1 << 20
LIMIT = {"steps": parse_objective("mean <= 20ms")}


def side(label: str, factor: float, block_bytes: int = MIB) -> Side:
    levels = [(1, 100.0, 5.0), (2, 180.0, 9.0), (4, 250.0, 30.0)]
    setting = Setting("orion-sequential-streams", "ORION sequential", "sequential", f"/dev/{label}")
    return Side(
        label, [made(Load(iops * factor, mean * 1e6, block_bytes=block_bytes), level, setting=setting) for level, iops, mean in levels]
    )


def test_a_comparison_of_large_requests_speaks_of_bandwidth() -> None:
    one = compare([side("a", 1.0), side("b", 1.5)])
    assert {(row.op, row.metric) for row in one.points} == {("all", "bytes_per_s")}
    found = one.findings()
    # 180 and 270 requests of 1 MiB per second.
    assert any("from 189 MB/s to 283 MB/s" in sentence or "from 105 MB/s to 157 MB/s" in sentence for sentence in found)
    assert "IOPS" not in " ".join([*found, one.answer(), comparison_text(one)])


def test_marks_of_large_requests_are_compared_in_bandwidth() -> None:
    one = compare([side("a", 1.0), side("b", 1.5)], objectives=LIMIT)
    assert "(283 against 189 MB/s)" in one.answer()
    assert one.to_json()["marks"][0]["noun"] == "MB/s"
    assert "283 MB/s at 2" in comparison_text(one)


def test_small_requests_stay_requests() -> None:
    one = compare([side("a", 1.0, 8192), side("b", 1.5, 8192)], objectives=LIMIT)
    assert {row.metric for row in one.points} == {"iops"}
    assert "(270 against 180 IOPS)" in one.answer() and one.to_json()["marks"][0]["noun"] == "IOPS"


def test_a_metric_that_was_asked_for_is_compared() -> None:
    one = compare([side("a", 1.0), side("b", 1.5)], figures=[("all", "iops")])
    assert {row.metric for row in one.points} == {"iops"}


def large(ask: Ask) -> Answer:
    return Answer(iops=50.0 * float(ask.level or 1), mean_ms={"read": float(ask.level or 1)}, block_bytes=MIB)


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        (ramp("threads", Bounds(1, 8, integer=True), parse_objective("mean <= 5ms")), "(262 MB/s)"),
        (steps("threads", [1, 2]), "The highest throughput was 105 MB/s at 2 threads"),
    ],
    ids=["ramp", "steps"],
)
def test_conclusions_on_large_requests_speak_of_bandwidth(plan, said: str) -> None:
    conclusion, _ = conducted(plan, large)
    assert said in conclusion.sentences[0] and "IOPS" not in " ".join(conclusion.sentences)


def test_the_highest_throughput_of_scaling_is_a_bandwidth_where_requests_are_large() -> None:
    conclusion, _ = conducted(
        scaling("threads", [1, 2, 4]), lambda ask: Answer(iops={1: 50.0, 2: 90.0, 4: 80.0}[int(ask.level or 0)], block_bytes=MIB)
    )
    assert "The highest throughput was 94.4 MB/s at 2 threads." in conclusion.sentences


def test_where_a_report_gives_only_bandwidth_the_requests_of_its_loads_are_large() -> None:
    # So that what is said of them is in the unit of their source.
    loads: dict[str, set[str]] = {}
    for name in published_names():
        for row in published(name)["rows"]:
            workload = (row["match"] or {}).get("workload")
            if workload in catalog.names():
                loads.setdefault(workload, set()).add(row["metric"].rpartition(" ")[2])
    only = [workload for workload, metrics in loads.items() if "bytes_per_s" in metrics and "iops" not in metrics]
    assert only
    for workload in only:
        document = catalog.load(workload)
        if document.get("driver"):
            continue
        (definition, _) = defined(workload, native())
        assert all(int(stream["block_size"]) >= LARGE_BYTES for stream in definition["stream"]), workload


def test_a_workload_whose_source_speaks_of_bandwidth_is_spoken_of_in_it() -> None:
    (definition, _) = defined("se6920-sequential-8k", native())
    result = made(Load(5000, 1e6, block_bytes=8192), 1)
    assert load_noun([result]) == "IOPS"
    tagged = replace(result, job=replace(result.job, definition=definition))
    assert load_noun([tagged]) == "MB/s" and load_noun([tagged, result]) == "IOPS"
