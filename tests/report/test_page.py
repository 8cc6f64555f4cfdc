"""The report in a real browser: Chromium opens it from disk with networking off, and every claim is read from the page itself."""

import json
import math
import re
from dataclasses import replace
from itertools import pairwise

import pytest

from plimsoll.reports import html
from plimsoll.store.reader import open_run
from report.browsing import DRAWN, bring_near, open_point, read_model, scroll_through, show_numbers, tip_over, until
from report.synthetic import PROFILES, Array, write_run

HOSTILE = "</script><script>document.title='broken'</script><img src=x onerror=document.title='broken'>"
UNITS_NS = {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}

#: Two of each group.
SIX = [
    profile
    for profile in PROFILES
    if profile.name in {"os-paging", "web-server-log", "oltp-db", "exchange-server", "workstation", "web-file-server4k"}
]
ARRAYS = (
    Array(
        "disk",
        seconds=10,
        repeats=2,
        parts=("0:/dev/sdb", "1:/dev/sdc"),
        flags=(("oltp-db", "sparse-target"), ("workstation", "not-steady")),
        broken=(("os-paging", "failed"), ("exchange-server", "interrupted")),
    ),
    Array("model", target="queue:", speed=1.2, seconds=10, modelled=True, open_loop=True),
)


def written_runs(folder):
    return [open_run(str(write_run(folder / array.name, array, SIX))) for array in ARRAYS]


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    return written_runs(tmp_path_factory.mktemp("runs"))


@pytest.fixture(scope="module")
def report(runs, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    html.write(runs, path)
    return path


def test_every_chart_has_marks_and_nothing_goes_wrong_offline(report, opened):
    found = opened(report)
    scroll_through(found.page)
    charts = found.page.evaluate(DRAWN)
    # Two for each of three groups; then four for each point, less the two that failed, and two more of the host where it was observed.
    assert len(charts) == 3 * 2 + (18 - 2) * 4 + (12 - 2) * 2
    assert [chart for chart in charts if chart["marks"] == 0 or chart["shapes"] < 5] == []
    assert found.problems == []
    assert found.requests == [report.as_uri()]


def test_the_table_of_numbers_equals_the_store(report, runs, opened):
    shown = opened(report).page.evaluate(
        """() => [...document.querySelectorAll('#summary-table tr[data-op]')].flatMap(row => [...row.querySelectorAll('td[data-key] data')].map(
            data => [Number(row.dataset.point), row.dataset.op, data.parentElement.dataset.key, Number(data.value), data.textContent]))"""
    )
    model = read_model(report)
    points = {point.id: point.result for run in runs[:1] for point in run.points} | {
        ("model", point.id): point.result for point in runs[1].points
    }
    stored = {}
    for point in model["points"]:
        result = points[point["id"] if point["run"] == 0 else ("model", point["id"])]
        for op, total in result.totals.items():
            latency = {key: getattr(total.latency_ns, key) for key in ("mean", "p50", "p99", "p999", "max")}
            for key, value in {"iops": total.iops, "bytes_per_s": total.bytes_per_s, **latency}.items():
                stored[point["index"], op, key] = value
    assert {(index, op, key): value for index, op, key, value, _ in shown} == stored
    for _, _, key, value, text in shown:
        assert math.isclose(meant(key, text), value, rel_tol=0.006), f"{key}: {text} stands for {value}"


def meant(key: str, text: str) -> float:
    """The number a reader takes from a cell."""
    words = text.replace(",", "").split()
    if key in ("iops", "bytes_per_s"):
        scale = 1e6 if key == "bytes_per_s" else {"k": 1e3, "M": 1e6}.get(words[-1], 1)
        return float(words[0]) * scale
    return float(words[0]) * UNITS_NS[words[1]]


def test_the_tables_under_the_charts_hold_the_numbers_of_the_charts(report, opened):
    page = opened(report).page
    model = read_model(report)
    point = next(point for point in model["points"] if point["workload"] == "oltp-db")
    section = page.locator(f"#point-{point['index']}-{point['id']}")
    open_point(section)
    figure = section.locator("figure", has_text="Throughput over time")
    show_numbers(figure)
    cells = figure.locator("tbody td data").evaluate_all("cells => cells.map(cell => Number(cell.value))")
    read = point["timeline"]["ops"]["read"]
    assert len(cells) == len(read["iops"]) * 7
    assert cells[1::7] == read["iops"]


def test_hovering_shows_the_value(report, opened):
    page = opened(report).page
    chart = page.locator("#random .chart").first
    bring_near(chart)
    tip = tip_over(chart, "OLTP database")
    oltp = next(profile for group in read_model(report)["groups"] for profile in group["profiles"] if profile["workload"] == "oltp-db")
    iops = oltp["cells"][0]["ops"]["read"]["iops"]["mean"]
    assert f"{iops:,.6f}".rstrip("0").rstrip(".") in tip.inner_text()


def test_the_choice_of_measure_changes_every_group(report, opened):
    found = opened(report)
    found.page.get_by_label("p99.9").check(force=True)
    found.page.get_by_label("logarithmic latency").check()
    titles = found.page.locator("#profiles figcaption").all_inner_texts()
    assert sum("99.9th percentile latency" in title for title in titles) == 3
    assert found.problems == []


def test_charts_follow_the_colour_scheme(report, opened):
    page = opened(report, color_scheme="light").page
    bring_near(page.locator("#random .chart").first)
    colours = "[...document.querySelectorAll('#random svg text')].map(text => text.getAttribute('fill')).join()"
    light = page.evaluate(colours)
    page.emulate_media(color_scheme="dark")
    until(page, f"light => {colours} !== light", light)


def test_paper_gets_everything_in_light_colours_and_the_screen_is_restored(report, opened):
    found = opened(report, color_scheme="dark")
    page = found.page
    open_point(page.locator("details.point.complete").first)
    page.emulate_media(media="print", color_scheme="dark")
    until(page, "document.documentElement.classList.contains('printing')")
    charts = page.evaluate(DRAWN)
    # The bars of three groups, and the point that the reader has opened: 24 points, each with all it has, were 76 pages.
    assert len(charts) > 3 * 2
    assert [chart for chart in charts if chart["marks"] == 0 or chart["shapes"] < 5] == []
    assert page.locator("details.point:visible").count() == 1 and not page.locator("#environment").is_visible()
    assert page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--surface')") == "#ffffff"
    page.emulate_media(media="screen", color_scheme="dark")
    until(page, "!document.documentElement.classList.contains('printing')")
    assert page.locator("details.point:visible").count() == 18
    page.locator("details.point.complete summary").first.click()
    # 24 points without long flags take five sheets; these 18 have flags on every point.
    assert 1 < len(re.findall(rb"/Type\s*/Page\b", page.pdf(format="A4"))) <= 8
    assert found.problems == []


def test_failed_and_modelled_points_are_marked_wherever_they_stand(report, opened):
    page = opened(report).page
    failed = page.locator("#summary-table tbody.failed")
    assert failed.count() == 2
    assert "no space left on the device" in failed.first.inner_text()
    modelled = [point["index"] for point in read_model(report)["points"] if point["modelled"]]
    for index in modelled:
        assert page.locator(f"#summary-table tr[data-point='{index}'] .badge.modelled").count() == 1
        assert page.locator(f"[id^='point-{index}-'] > summary .badge.modelled").count() == 1
    assert page.locator("#profiles figure .badge.modelled").count() == 6
    assert page.locator("header .badge.modelled").inner_text() == "6 of 18 points are modelled"


def test_names_from_the_data_are_text_and_nothing_else(runs, opened, tmp_path):
    path = tmp_path / "hostile.html"
    folder = tmp_path / "runs"
    profile = replace(PROFILES[4], title=HOSTILE)
    html.write([open_run(str(write_run(folder, Array("hostile", target=HOSTILE, label=HOSTILE, seconds=5), [profile])))], path)
    found = opened(path)
    scroll_through(found.page)
    tip_over(found.page.locator("#random .chart").first, "onerror")
    assert found.page.title() != "broken"
    assert found.page.locator("h1").inner_text() == HOSTILE
    assert found.page.locator("img").count() == 0
    assert found.problems == []


def test_a_run_without_points_still_opens(opened, tmp_path):
    folder = tmp_path / "empty"
    folder.mkdir()
    (folder / "points").mkdir()
    (folder / "run.json").write_text(json.dumps({"schema": "plimsoll.run/1", "status": "failed", "created": "2026-11-21T03:44:10+00:00"}))
    html.write([open_run(str(folder))], tmp_path / "empty.html")
    found = opened(tmp_path / "empty.html")
    assert found.page.locator(".lead").inner_text() == "Nothing was measured."
    assert found.problems == []


def test_headings_descend_without_gaps_and_charts_say_what_they_are(report, opened):
    page = opened(report).page
    levels = page.evaluate("[...document.querySelectorAll('h1, h2, h3, h4')].map(heading => Number(heading.tagName[1]))")
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert page.evaluate("[...document.querySelectorAll('.chart')].every(chart => chart.ariaLabel && chart.tabIndex === 0)")
    assert page.evaluate("[...document.querySelectorAll('th')].every(heading => heading.scope)")


def test_twelve_profiles_in_two_configurations_stay_small(tmp_path):
    run = open_run(str(write_run(tmp_path / "run", Array("run", seconds=150), PROFILES[4:6])))
    html.write([run], tmp_path / "report.html")
    bundle_bytes = len(html.page({"answer": {"title": ""}, "runs": []}))
    point_bytes = ((tmp_path / "report.html").stat().st_size - bundle_bytes) / 2
    assert bundle_bytes + 24 * point_bytes < 3_500_000
