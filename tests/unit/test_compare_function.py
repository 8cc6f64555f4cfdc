"""``plimsoll.compare``: stored runs compared from Python, as the command does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import plimsoll as package
from support.said import Plimsoll
from support.scripted_engine import Script, ScriptedEngine


@pytest.fixture
def runs(engine: ScriptedEngine) -> tuple[package.Run, package.Run]:
    """A run of 1,000 requests per second, and one of 800."""
    engine.scripts = [Script(intervals=40, latencies_ns=(100_000,) * 100)]
    before = package.run("small.toml", target="null:", label="before", repeat=3)
    engine.scripts = [Script(intervals=40, latencies_ns=(100_000,) * 80)]
    return before, package.run("small.toml", target="null:", label="after", repeat=3, fresh=True)


def test_it_says_what_the_command_says(runs: tuple[package.Run, package.Run], plimsoll: Plimsoll) -> None:
    comparison = package.compare(*runs)
    document = plimsoll("compare", *(Path(run.path).name for run in runs), "--json").json
    assert json.loads(json.dumps(comparison.to_json())) == document
    assert comparison.sides == ["before", "after"]
    assert comparison.answer and comparison.findings == document["findings"] and comparison.notes == document["notes"]


def test_runs_are_named_in_any_way(runs: tuple[package.Run, package.Run]) -> None:
    store = package.open()
    assert package.compare("before", store["after"]).to_json() == package.compare(*runs).to_json()
    assert package.compare(*runs, baseline="after").sides == ["after", "before"]


def test_the_table_has_a_row_per_figure_with_its_unit(runs: tuple[package.Run, package.Run]) -> None:
    (row,) = package.compare(*runs).table().to_dicts()
    assert (row["baseline"], row["side"], row["metric"], row["unit"]) == ("before", "after", "iops", "1/s")
    assert (row["baseline_value"], row["value"], row["ratio"]) == pytest.approx((1000, 800, 0.8))
    (row,) = package.compare(*runs, metrics="read p99").table().to_dicts()
    assert (row["operation"], row["unit"], row["value"]) == ("read", "ms", pytest.approx(0.1, rel=2e-3))
    assert len(package.compare(*runs).to_pandas()) == 1


def test_marks_have_rows_of_their_own(engine: ScriptedEngine) -> None:
    run = package.steps("small.toml", target=["null:", "queue:"], over={"queue_depth": [1, 2]}, objective="mean <= 5ms")
    rows = package.compare(run, varying=["modelled", "size"]).table().to_dicts()
    (mark,) = [row for row in rows if row["metric"] == "mark"]
    assert (mark["objective"], mark["baseline_value"], mark["at_least"]) == ("mean <= 5ms", 1000.0, True)


def test_conditions_are_those_of_the_command(runs: tuple[package.Run, package.Run]) -> None:
    comparison = package.compare(*runs)
    assert comparison.holds("throughput >= 0.5x") and not comparison.holds("throughput >= 0.95x", "throughput >= 0.5x")
    (found,) = comparison.check("throughput >= 0.95x")
    assert found.sentences()[0].startswith("throughput >= 0.95x failed for small on after: 0.80 ×")
    assert comparison.check() == []
    with pytest.raises(package.InputError, match="'thruput' is not a metric"):
        comparison.holds("thruput >= 1x")


def test_what_cannot_be_compared_is_an_input_error(runs: tuple[package.Run, package.Run]) -> None:
    other = package.run("small.toml", target="null:", settings={"block_size": "8KiB"}, label="other")
    with pytest.raises(package.InputError, match=r"this cannot be compared.*block_size"):
        package.compare(runs[0], other)
    assert package.compare(runs[0], other, varying="block_size").sides == ["before", "other"]
    with pytest.raises(package.InputError, match="nothing is named that could be compared"):
        package.compare()
    with pytest.raises(package.InputError, match="option 'varyin' is not known; did you mean 'varying'"):
        package.compare(*runs, varyin="x")  # type: ignore[call-arg]
    with pytest.raises(package.InputError, match="--varying block_siz: these runs have no such option"):
        package.compare(*runs, varying="block_siz")
