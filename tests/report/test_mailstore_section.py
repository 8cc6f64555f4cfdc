"""The section of mail stores: a mark and a sheet for each side, with the parts and the counters of the original's report, on the page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from plimsoll.cli import main
from plimsoll.reports import html
from plimsoll.reports.view.report import PointRecord, RunRecord, view
from plimsoll.store.reader import StoredRun, list_runs
from report.browsing import bring_near
from report.synthetic import plain_distribution

SUITE = """
title = "Short"
purpose = "20 ms"
source = "here"
rationale = "short"

[[experiment]]
name = "20 ms"
kind = "ramp"
workloads = ["mailstore-2010"]
over = { threads = "1..64" }
objective = "read mean <= 20ms and write mean <= 20ms"
resolution = "20%"
set = { duration = "2s", warmup = "0s", databases = 2 }
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """A ramp on a slow and on a fast side, in virtual time."""
    folder = tmp_path_factory.mktemp("stores")
    suite = folder / "short.toml"
    suite.write_text(SUITE)
    sides = [f"{name}=queue:?servers={servers}&service=const:5ms&size=8GiB" for name, servers in (("four", 4), ("eight", 8))]
    out = str(folder / "results")
    assert main(["suite", str(suite), "-t", sides[0], "-t", sides[1], "--out", out, "--quiet"]) == 0
    (run,) = list_runs(out)
    assert isinstance(run, StoredRun)
    return [point.result for point in run.points]


def report_of(*results: Any) -> Any:
    return view([RunRecord("run", "complete", {"status": "complete"}, [PointRecord(result) for result in results])], plain_distribution)


def test_each_side_has_a_mark_by_the_rule_of_the_original_and_a_sheet_of_the_point_at_it(results: list[Any]) -> None:
    (workload,) = report_of(*results)["drivers"]["mailstore"]["workloads"]
    four, eight = workload["marks"]
    assert (four["configuration"], eight["configuration"]) == (0, 1)
    assert four["transfers_per_s"] == pytest.approx(four["reads_per_s"] + four["writes_per_s"], rel=0.01)
    assert four["transfers_per_s"] < eight["transfers_per_s"] and four["crossed_first"] in ("read", "write")
    assert four["read_mean_ns"] <= 20e6 and not four["at_least"]
    assert [sheet["settings"]["threads"] for sheet in workload["sheets"]] == [four["threads"], eight["threads"]]


def test_a_sheet_has_the_parts_of_the_original(results: list[Any]) -> None:
    sheet = report_of(*results)["drivers"]["mailstore"]["workloads"][0]["sheets"][0]
    assert [row["name"] for row in sheet["transactional"]] == ["database-1", "database-2", "all databases"]
    sizing = {fact["name"]: fact["value"] for fact in sheet["sizing"]}
    total = sheet["transactional"][-1]
    assert float(sizing["Achieved transactional I/O per second"].replace(",", "")) == pytest.approx(
        total["reads_per_s"] + total["writes_per_s"], abs=0.1
    )
    assert sizing["Databases"] == "2" and "Initial database size" in sizing
    parameters = {fact["name"]: fact["value"] for fact in sheet["parameters"]}
    assert parameters["Insert/delete/replace/read"] == "40/20/5/35 %" and parameters["Background maintenance, each"] == "5 MB/s"
    assert sheet["maintenance"] and not sheet["replication"], "copies are none"
    assert sheet["together"][0]["reads_per_s"] > sheet["transactional"][0]["reads_per_s"]
    assert sheet["warnings"] == ["delete_percent 20 is above 10"]


def test_operations_per_second_are_those_of_the_time_that_was_measured(results: list[Any]) -> None:
    result = results[0]
    longer = replace(result, job=replace(result.job, duration_s=result.job.duration_s * 10))
    sizing = [report_of(one)["drivers"]["mailstore"]["workloads"][0]["sheets"][0]["sizing"] for one in (result, longer)]
    assert sizing[0] == sizing[1], "a run that ends sooner than asked has not done less per second"


@pytest.fixture
def page(tmp_path: Path, opened: Callable[[Path], Any]) -> Callable[..., Any]:
    def show(*results: Any) -> Any:
        path = tmp_path / "report.html"
        html.write_page(report_of(*results), path)
        return opened(path)

    return show


def test_no_sheet_is_parted_from_its_title_on_paper(page: Callable[..., Any], results: list[Any]) -> None:
    shown = page(*results).page
    shown.emulate_media(media="print")
    tables = shown.locator("section#driver-mailstore .sheet table").evaluate_all("all => all.map(one => getComputedStyle(one).breakInside)")
    assert len(tables) >= 7 and set(tables) == {"avoid"}
    assert shown.locator("#summary h2 + p").first.evaluate("one => getComputedStyle(one).breakAfter") == "avoid"


def test_the_page_shows_a_bar_for_each_side_and_the_counters_by_their_names(page: Callable[..., Any], results: list[Any]) -> None:
    found = page(*results)
    section = found.page.locator("section#driver-mailstore")
    assert section.locator("h2").inner_text() == "Mail stores"
    assert "not Jetstress" in section.inner_text()
    marks = section.locator(":scope > .scroll tbody tr").evaluate_all("rows => rows.map(row => row.cells[0].innerText)")
    assert marks == ["four", "eight"]
    captions = section.locator(".sheet").first.locator("caption").all_inner_texts()
    assert captions == [
        "Test summary",
        "Database sizing and throughput",
        "System parameters",
        "Limits of the generation",
        "Transactional I/O performance",
        "Background database maintenance I/O",
        "Total I/O performance",
    ]
    counters = (
        section.locator(".sheet").first.locator("table", has_text="Transactional I/O performance").locator("tbody th").all_inner_texts()
    )
    assert (
        counters[:4]
        == [
            "Database reads average latency",
            "Database writes average latency",
            "Database reads/s",
            "Database writes/s",
        ]
        and len(counters) == 12
    )
    bring_near(section.locator("figure .chart"))
    legend = section.locator("figure").inner_text()
    assert "four" in legend and "eight" in legend
    assert found.problems == []
