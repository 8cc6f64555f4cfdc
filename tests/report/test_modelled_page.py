"""What the page says of a modelled array: what limited it, what failed in it, and its name as it was typed."""

import re

import pytest

from plimsoll.reports import html
from plimsoll.store.reader import open_run
from report.browsing import bring_near, open_point, read_model
from report.synthetic import PROFILES, Array, component, write_run

TARGET = "array:msa50-sas-10k-raid10-8?fail=0@1s&spares=1"
ENGINE = {
    "components": [
        component("disk", 0.97),
        component("disk", 0.95),
        component("pci-x", 0.04, "link"),
        component("nvme", 0.03, "flash") | {"written_bytes": 4096, "programmed_bytes": 10240, "write_amplification": 2.5},
    ],
    "facts": {"incidents": "1.000 s: member 0 of group vd0 failed", "rebuild_s": "412.731"},
}


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("array")
    array = Array("array", target=TARGET, seconds=5, modelled=True, engine=ENGINE)
    html.write([open_run(str(write_run(folder / "run", array, PROFILES[:2])))], folder / "report.html")
    return folder / "report.html"


def test_the_bottleneck_stands_at_the_verdict_in_the_summary_and_at_the_top_of_its_point(report, opened):
    found = opened(report)
    limited, failed = found.page.locator("#answer .sentences li").all_inner_texts()
    assert limited == f"{TARGET} (modelled): limited by the disks in all 2 measurements."
    # The verdict said nothing of what failed.
    assert failed.startswith(f"{TARGET}, failures: 1.000 s: member 0 of group vd0 failed (modelled")
    assert failed.endswith("the rebuild took 412.731 s. So at 2 of 2 points.")
    assert found.page.locator("#summary-table .limit").all_inner_texts() == ["limited by the disks"] * 2
    point = found.page.locator("details.point").first
    open_point(point)
    told = point.locator(".body > p.told")
    bottleneck = told.nth(0).inner_text()
    assert bottleneck.startswith("Bottleneck: limited by the disks; 2 × disk 96% busy (at most 97%), pci-x 4% busy, nvme 3% busy.")
    assert told.locator(".badge.modelled").count() == told.count() == 2
    assert found.problems == []


def test_failures_and_rebuilds_are_told_in_the_point(report, opened):
    page = opened(report).page
    point = page.locator("details.point").first
    open_point(point)
    words = read_model(report)["points"][0]["incidents"]
    assert words.endswith("the rebuild took 412.731 s")
    assert point.locator(".body > p.told").nth(1).inner_text().startswith(f"Failures: {words}.")


def test_the_table_of_components_says_how_often_flash_was_written(report, opened):
    point = opened(report).page.locator("details.point").first
    open_point(point)
    table = point.locator("table", has_text="Components of the array")
    assert table.locator("thead th").last.inner_text() == "Write amplification"
    last = {row.locator("th").inner_text(): row.locator("td").last.inner_text() for row in table.locator("tbody tr").all()}
    assert last["nvme"] == "2.5" and last["pci-x"] in ("", "–")


def test_time_charts_have_labelled_lines_where_something_failed(report, opened):
    found = opened(report)
    point = found.page.locator("details.point").first
    open_point(point)
    for title in ("Throughput over time", "Latency over time", "Every I/O by latency over time"):
        figure = point.locator("figure", has=found.page.locator("figcaption", has_text=re.compile(f"^{title}")))
        chart = figure.locator(".chart")
        bring_near(chart)
        said = chart.get_attribute("aria-label")
        assert re.search(r"Vertical lines, from the beginning of the warm-up: 1\ss: member 0 failed\.$", said), said
        if figure.locator("svg").count():
            assert figure.locator("svg text", has_text="member 0 failed").count() == 1
    assert found.problems == []


def test_a_target_is_named_as_it_was_typed(report, opened):
    # Hyphens had become blanks: 'Target array:msa50 sas 10k raid10 8'.
    page = opened(report).page
    card = page.locator("#environment .card", has=page.locator("h3", has_text="Target"))
    assert card.locator("h3").inner_text() == f"Target {TARGET}"
