"""Decision support through the installed command, on DuckDB at a hundredth of scale 1: what is loaded, asked, kept and cleared away."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from support.commands import Commands
from support.observed_queries import check_observed

pytest.importorskip("duckdb", reason="skipped: DuckDB is not installed")

Run = Callable[..., CompletedProcess[str]]


@pytest.fixture(scope="module")
def suite(commands: Commands, cache: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path]:
    """What the whole suite says, with a price, and the directory that it ran in."""
    folder = tmp_path_factory.mktemp("suite")
    words = ("suite", "decision-support", "-t", "duckdb:db", "--scale", "0.01", "--price", "12,000 EUR", "--json")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("XDG_CACHE_HOME", str(cache))
        ended = commands.run(words)
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout), folder


def test_the_suite_says_metrics_and_queries_and_leaves_nothing_behind(suite: tuple[dict[str, Any], Path]) -> None:
    document, folder = suite
    assert document["derived"] == "derived from TPC-H, not comparable with published TPC-H results"
    assert "not comparable with published TPC-H results" in document["answer"]
    composites = [run["composite"] for run in document["sides"][0]["runs"]]
    assert len(composites) == 2
    assert document["metrics"]["composite"] == min(composites)
    assert set(document["metrics"]) == {"power", "throughput", "composite", "price_per_composite"}
    queries = document["queries"]
    assert [one["number"] for one in queries if one["phase"] == "power"][:3] == [14, 2, 9]
    assert {(one["phase"], one["stream"]) for one in queries} == {("power", 0), ("throughput", 1), ("throughput", 2)}
    assert len(queries) == 66
    check_observed(document["phases"][1:], queries)
    assert all(one["validated"] is True and one["seconds"] > 0 for one in queries)
    assert all(one["bytes_read"] is None for one in queries if one["phase"] == "throughput")
    assert [phase["name"] for phase in document["phases"]] == ["load", "power", "throughput"]
    assert len(document["refreshes"]) == 6
    assert not (folder / "db").exists()


def test_streams_are_levels_and_a_loaded_database_is_used_again(plimsoll: Run, tmp_path: Path) -> None:
    words = ("-t", "duckdb:db", "--scale", "0.01", "--queries", "1,6", "--no-refresh", "--keep", "--json")
    first = plimsoll("run", "decision-support", "--over", "streams=1..2", *words)
    assert first.returncode == 0, first.stderr
    results = json.loads(first.stdout)["results"]
    assert [result["totals"]["q6"]["count"] for result in results] == [1, 2]
    loads = {result["engine"]["decision"]["load"]["load_s"] for result in results}
    again = plimsoll("run", "decision-support", "--fresh", *words)
    assert again.returncode == 0, again.stderr
    loads |= {result["engine"]["decision"]["load"]["load_s"] for result in json.loads(again.stdout)["results"]}
    assert len(loads) == 1
    assert (tmp_path / "db" / "duckdb" / "plimsoll.duckdb").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--scale", "0"), "'0' is no scale"),
        (("--queries", "23"), "names no queries"),
        (("-t", "mysql:db"), "there is no engine"),
    ],
)
def test_what_cannot_be_is_one_sentence(plimsoll: Run, tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    ended = plimsoll("suite", "decision-support", *words)
    assert ended.returncode == 2
    assert said in ended.stderr
    assert "Traceback" not in ended.stderr
    assert not (tmp_path / "results").exists()


def test_a_directory_that_is_not_ours_is_refused(plimsoll: Run, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("mine")
    ended = plimsoll("suite", "decision-support", "-t", "duckdb:mine", "--scale", "0.01")
    assert ended.returncode == 3
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["letter.txt"]


def test_a_database_that_another_process_has_open_is_said_so_and_stays_theirs(plimsoll: Run, tmp_path: Path) -> None:
    import duckdb

    words = ("run", "decision-support", "-t", "duckdb:db", "--scale", "0.01", "--queries", "6", "--no-refresh", "--keep")
    assert plimsoll(*words, "--quiet").returncode == 0
    path = tmp_path / "db" / "duckdb" / "plimsoll.duckdb"
    with duckdb.connect(str(path)) as connection:
        ended = plimsoll(*words, "--fresh", "--json")
        assert connection.execute("SELECT count(*) FROM region").fetchall() == [(5,)]
    assert ended.returncode == 4
    (result,) = json.loads(ended.stdout)["results"]
    assert result["error"] == f"{path}: another process has this database open; end it, or name another directory."
    assert "Traceback" not in ended.stderr
    assert plimsoll(*words, "--fresh", "--quiet").returncode == 0


def test_a_price_and_the_metrics_of_the_contract_stand_in_the_document(suite: tuple[dict[str, Any], Path]) -> None:
    document, _ = suite
    assert document["metrics"]["price_per_composite"] == pytest.approx(12000 / document["metrics"]["composite"])
    wanted = {"number", "phase", "stream", "seconds", "bytes_read", "bytes_written", "validated"}
    assert all(wanted <= query.keys() for query in document["queries"])
