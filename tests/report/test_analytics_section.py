"""Analytics on the page: workflows as curves with their timelines below, and the I/O test beside what is asked of each core."""

from __future__ import annotations

from dataclasses import replace

import pytest

from plimsoll.reports import html
from plimsoll.reports.view.report import PointRecord, RunRecord, view
from report.synthetic import plain_distribution
from support.made_results import Load, Setting, made
from support.made_workflows import MB, STEPS, Workflows, ran

REAL_S = {1: 20.0, 2: 20.0, 4: 20.0, 8: 40.0}


def levels(target="/mnt/a", **told):
    return [
        ran(target, number, Workflows(5.0, real_s, 40.0 * min(number, 4), 30.0 * min(number, 4), **told))
        for number, real_s in REAL_S.items()
    ]


def phase(name, seconds, target="/mnt/a"):
    one = made(Load(1.0, 1e9), setting=Setting(f"sas-iotest-{name}", "I/O test", "sequential", target))
    said = {
        "phase": name,
        "streams": 4,
        "cores": 4,
        "file_bytes": 1000 * MB,
        "total_bytes": 4000 * MB,
        "memory_bytes": 4000 * MB,
        "wanted_bytes": 4000 * MB,
        "is_shrunk": False,
        "content": "incompressible",
        "direct": False,
        "stream_s": [seconds] * 4,
    }
    definition = {"name": f"sas-iotest-{name}", "driver": "io-test", "stream": [{"name": name, "phase": name}]}
    return replace(one, job=replace(one.job, definition=definition), engine={"io_test": said})


def report_of(*results):
    run = RunRecord("run", "complete", {"status": "complete"}, [PointRecord(result) for result in results])
    return view([run], plain_distribution)


@pytest.fixture
def page(tmp_path, opened):
    def show(*results):
        path = tmp_path / "report.html"
        html.write_page(report_of(*results), path)
        return opened(path)

    return show


def test_the_section_has_every_level_with_its_lanes_and_what_ended_the_growth():
    section = report_of(*levels())["drivers"]["analytics"]
    (side,) = section["sides"]
    assert (side["ended_at"], side["cores"]) == (4, 4)
    assert [level["workflows"] for level in side["levels"]] == [1, 2, 4, 8]
    assert [len(level["lanes"]) for level in side["levels"]] == [1, 2, 4, 8]
    assert [span["name"] for span in side["levels"][0]["lanes"][0]["spans"]] == list(STEPS)
    assert side["levels"][-1]["limited_by"].startswith("storage: workflows waited for ")
    assert section["asked_per_core"] == [("every file system", 100e6), ("temporary data", 150e6)]
    assert "not a SAS benchmark" in section["banner"]


def test_a_law_that_does_not_fit_has_no_curve_and_a_sentence():
    bent = [ran("/mnt/a", number, Workflows(real_s=20.0 * max(number / 4, 1))) for number in (1, 2, 4, 8, 16, 32, 64)]
    (side,) = report_of(*bent)["drivers"]["analytics"]["sides"]
    assert side["fit"] is None and side["fit_note"].startswith("The Universal Scalability Law does not describe this")
    smooth = [ran("/mnt/a", number, Workflows(real_s=20.0 * (1 + 0.2 * (number - 1)))) for number in (1, 2, 4, 8, 16)]
    (side,) = report_of(*smooth)["drivers"]["analytics"]["sides"]
    # X = N / (1 + 0.2 (N - 1)).
    assert side["fit"] is not None and side["fit"]["contention"]["value"] == pytest.approx(0.2, abs=1e-6)


def test_the_page_draws_curves_tables_and_the_last_timeline_and_folds_the_others(page):
    found = page(*levels())
    section = found.page.locator("section#driver-analytics")
    assert section.locator("h2").inner_text() == "Analytics workflows"
    captions = section.locator("figcaption").all_inner_texts()
    assert captions[:6] == ["Throughput", "MB/s per core", "Time of a workflow", "Processors", "Blocks in and out per 2 s", "Stretch"]
    assert captions[6:] == ["8 workflows over time"]
    folded = section.locator("details.more > summary").all_inner_texts()
    assert [text.split(",")[0] for text in folded] == ["1 workflow", "2 workflows", "4 workflows"]
    cells = (
        section.locator("table")
        .first.locator("tbody tr")
        .evaluate_all("rows => rows.map(row => [...row.cells].map(cell => cell.innerText))")
    )
    assert [row[0] for row in cells] == ["1", "2", "4", "8"]
    # Two workflows on each core's share of the disk take twice as long as alone.
    assert cells[3][5] == "2.00\u202f×" or cells[3][5] == "2.00 ×"
    assert cells[3][-1] == "storage"
    section.locator("details.more > summary").first.click()
    section.locator("figcaption", has_text="1 workflow over time").wait_for()
    assert found.problems == []


def test_workflows_have_no_chart_of_requests_by_level_beside_their_own(page):
    assert page(*levels()).page.locator(".scaling").count() == 0


def test_a_workflow_that_failed_is_told_above_the_curves(page):
    found = page(*levels()[:-1], ran("/mnt/a", 8, Workflows(real_s=40.0, failed=2)))
    assert "8 workflows: 2 failed; figures are of the others." in found.page.locator("section#driver-analytics").inner_text()


def test_two_sides_share_every_chart(page):
    found = page(*levels("/mnt/a"), *levels("/mnt/b", util_percent=50.0))
    section = found.page.locator("section#driver-analytics")
    first = section.locator("figure").first
    first.scroll_into_view_if_needed()
    first.locator("ul.legend button").first.wait_for()
    assert first.locator("ul.legend button").all_inner_texts() == ["a", "b"]
    assert section.locator("h3").all_inner_texts() == ["Who was in which step on a", "Who was in which step on b"]


def test_the_page_opens_with_the_figures_where_throughput_ends(page):
    cards = page(*levels()).page.locator("#answer dl.extremes > div").all_inner_texts()
    assert [card.split("\n")[0] for card in cards] == ["Throughput", "Devices", "Per core", "Stretch", "Limited by"]
    assert "720 /h" in cards[0] and "misses the 100 MB/s" in cards[2] and "storage" in cards[4]


def test_the_io_test_has_a_bar_for_each_phase_and_its_verdicts(page):
    found = page(phase("write", 10.0), phase("read", 5.0))
    section = found.page.locator("section#driver-io-test")
    rows = (
        section.locator("table")
        .last.locator("tbody tr")
        .evaluate_all("rows => rows.map(row => [...row.cells].map(cell => cell.innerText))")
    )
    assert [row[1] for row in rows] == ["write", "read"]
    assert [row[3] for row in rows] == ["100", "200"]
    assert [row[-2:] for row in rows] == [["reaches", "misses"], ["reaches", "reaches"]]
    assert found.problems == []
