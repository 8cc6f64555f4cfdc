"""The sections of experiments in a real browser: drawn, readable as tables, on the screen and on paper."""

import json
from itertools import pairwise

import pytest

from plimsoll.reports import html
from plimsoll.store.reader import open_run
from report.browsing import DRAWN, bring_near, open_point, read_model, scroll_through, show_charts, show_numbers, unfold, until
from report.planned import PUBLISHED, Run, curve, matrix, ramp, scaling, single, steady, steps, write_planned

SECTIONS = "document.querySelectorAll('#comparison .chart, #experiments .chart').length"


def written_report(folder):
    experiments = [single(["oltp-db"]), steps(repeat=1), ramp(), curve(), scaling(), matrix(["oltp-db"]), steady(attained=False)]
    run = open_run(str(write_planned(folder / "run", experiments, Run(suite=PUBLISHED))))
    html.write([run], folder / "report.html")
    return folder / "report.html"


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    return written_report(tmp_path_factory.mktemp("planned"))


@pytest.fixture(scope="module")
def modelled(tmp_path_factory):
    folder = tmp_path_factory.mktemp("modelled")
    run = open_run(
        str(write_planned(folder / "run", [ramp(), scaling(), matrix(["oltp-db"]), steady()], Run(modelled=True, suite=PUBLISHED)))
    )
    html.write([run], folder / "report.html")
    return folder / "report.html"


def test_every_kind_of_experiment_has_its_chart_and_nothing_goes_wrong(report, opened):
    found = opened(report)
    show_charts(found.page)
    # Ratios; load lines of two workloads, a ramp and a curve; scaling; a heat map; rounds. Then two charts of bars.
    assert found.page.evaluate(SECTIONS) == 1 + 2 + 1 + 1 + 1 + 1 + 1
    drawn = found.page.evaluate(DRAWN)
    assert [chart for chart in drawn if chart["marks"] == 0 or chart["shapes"] < 5] == []
    assert found.problems == []
    assert found.requests == [report.as_uri()]


def test_models_have_no_table_of_what_they_cost_the_host(modelled):
    assert [subject["host"] for item in read_model(modelled)["experiments"] for subject in item["subjects"] if subject["host"]] == []


def test_points_of_experiments_open_with_everything_they_have(report, opened):
    found = opened(report)
    point = found.page.locator("details.point", has_text="threads 8").first
    # A long report has its points folded by workload; a link opens both.
    found.page.evaluate("document.querySelectorAll('details.workload').forEach(each => { each.open = true })")
    open_point(point)
    text = point.inner_text()
    assert "cold: the page cache of the target was dropped" in text
    assert "precision: iops within 2 % after 31 s" in text
    assert "read mean <= 20ms and write mean <= 20ms: held" in text
    point.get_by_text("Confidence intervals", exact=True).click()
    point.locator("caption", has_text="95 % confidence intervals").wait_for()
    assert found.problems == []


def test_the_table_of_a_load_line_holds_the_numbers_of_its_points(report, opened):
    page = opened(report).page
    (experiment,) = [item for item in read_model(report)["experiments"] if item["kind"] == "ramp"]
    figure = page.locator(".experiment", has=page.locator("h3", has_text="20 ms")).locator("figure").first
    show_numbers(figure)
    shown = figure.locator("tbody td:nth-child(3) data").evaluate_all("cells => cells.map(cell => Number(cell.value))")
    assert shown == [point["iops"]["value"] for subject in experiment["subjects"] for point in subject["lines"][0]["points"]]


def test_what_each_level_cost_the_host_is_a_table_with_the_size_of_a_block(tmp_path, opened):
    folder = write_planned(tmp_path / "run", [scaling()])
    cpu = {"user_percent": 12.4, "system_percent": 9.0, "idle_percent": 38.0, "iowait_percent": 40.6, "steal_percent": 0.0}
    for path in folder.glob("points/*/result.json"):
        monitor = {"cpu": cpu, "paging": {"blocks_in_per_s": 24310.4, "blocks_out_per_s": 8120.0}}
        path.write_text(json.dumps({**json.loads(path.read_text()), "monitor": monitor}))
    html.write([open_run(str(folder))], tmp_path / "report.html")
    (experiment,) = read_model(tmp_path / "report.html")["experiments"]
    levels = [level for subject in experiment["subjects"] for level in subject["host"]]
    found = opened(tmp_path / "report.html")
    folded = found.page.locator("details.host-use")
    assert folded.count() == 1
    assert "blocks of 4,096 bytes" in folded.locator("caption").text_content()
    rows = folded.locator("tbody tr").evaluate_all("rows => rows.map(row => [...row.children].map(cell => cell.textContent))")
    assert len(rows) == len(levels) > 1
    assert {tuple(row[2:8]) for row in rows} == {("12", "9", "38", "41", "24,310", "8,120")}
    assert [float(row[-1]) for row in rows] == pytest.approx([level["real_s"] for level in levels], abs=0.05)
    assert found.problems == []


def test_marks_are_listed_as_they_were_computed(report, opened):
    page = opened(report).page
    (experiment,) = [item for item in read_model(report)["experiments"] if item["kind"] == "ramp"]
    rows = page.locator(".experiment", has=page.locator("h3", has_text="20 ms")).locator(".marks-table tbody tr")
    values = rows.evaluate_all("rows => rows.map(row => Number(row.querySelector('data').value))")
    assert values == [subject["mark"]["iops"] for subject in experiment["subjects"]]


def test_findings_come_before_ratios_and_match_the_comparison(report, opened):
    page = opened(report).page
    compared = read_model(report)["comparison"]
    shown = page.locator("#comparison .findings li").all_text_contents()
    assert shown == compared["findings"]
    assert page.locator("#comparison .remarks li").all_text_contents() == compared["notes"]
    show_numbers(page.locator("#comparison figure"))
    ratios = page.locator("#comparison figure tbody tr").count()
    # Requests of some loads, bytes of those whose requests are large, in one chart.
    throughputs = [row for row in compared["points"] if row["metric"] in ("iops", "bytes_per_s")]
    assert {row["metric"] for row in throughputs} == {"iops", "bytes_per_s"} and ratios == len(throughputs)


def test_a_click_on_a_heading_sorts_and_another_turns_it_around(report, opened):
    page = opened(report).page
    show_numbers(page.locator("#comparison figure"))
    button = page.locator("#comparison figure").get_by_role("button", name="Ratio", exact=True)
    column = "rows => rows.map(row => Number(row.children[3].querySelector('data').value))"
    button.click()
    rising = page.locator("#comparison figure tbody tr").evaluate_all(column)
    assert rising == sorted(rising)
    assert page.locator("#comparison figure th[aria-sort]").get_attribute("aria-sort") == "ascending"
    button.press("Enter")
    assert page.locator("#comparison figure tbody tr").evaluate_all(column) == sorted(rising, reverse=True)


def test_the_summary_sorts_by_rate_and_keeps_the_operations_of_a_point_together(report, opened):
    page = opened(report).page
    unfold(page)
    page.locator("#summary-table th button", has_text="IOPS").click()
    sums = page.evaluate(
        """() => [...document.querySelectorAll('#summary-table tbody')].map(
            body => [...body.querySelectorAll("[data-key='iops'] data")].reduce((sum, data) => sum + Number(data.value), 0))"""
    )
    assert all(after >= before * (1 - 1e-9) for before, after in pairwise(sums))
    assert page.locator("#summary-table tbody small.interval").count() > 0


def test_the_legend_hides_a_configuration(report, opened):
    page = opened(report).page
    figure = page.locator(".load-lines figure").first
    bring_near(figure.locator(".chart"))
    before = int(figure.locator(".chart").get_attribute("data-marks"))
    button = figure.locator(".legend button", has_text="15K SAS")
    button.click()
    assert figure.locator(".legend button", has_text="15K SAS").get_attribute("aria-pressed") == "false"
    assert int(figure.locator(".chart").get_attribute("data-marks")) < before
    figure.locator(".legend button", has_text="15K SAS").click()
    assert int(figure.locator(".chart").get_attribute("data-marks")) == before


def test_choices_change_the_charts_they_stand_above(report, opened):
    found = opened(report)
    unfold(found.page)
    page = found.page
    lines = page.locator(".load-lines").first
    lines.locator("select").select_option("write p99")
    lines.get_by_label("MB/s").press("Space")
    assert "write p99 by throughput" in lines.locator("figcaption").first.inner_text()
    maps = page.locator(".matrix")
    maps.get_by_label("mean latency").press("Space")
    assert "mean latency" in maps.locator("figcaption").first.inner_text()
    page.get_by_label("Points at").select_option("queue depth 8")
    assert page.locator("#random").is_visible()
    show_charts(page)
    assert found.problems == []


def test_not_attained_is_said_where_it_was_not(report, opened):
    page = opened(report).page
    assert page.locator("figcaption", has_text="steady state not attained").count() == 1


def test_published_figures_are_marked_as_such(report, opened):
    page = opened(report).page
    unfold(page)
    show_charts(page)
    section = page.locator("#published")
    assert section.locator(".badge", has_text="published").count() == 1
    assert "Made-up test report, 2007, table 3" in section.inner_text()
    assert "not measured" in section.locator("tr", has_text="tape").inner_text()
    assert page.locator(".load-lines .legend li", has_text="published: six 15K").count() == 2


def test_modelled_experiments_say_so_at_every_chart_and_table(modelled, opened):
    page = opened(modelled).page
    figures = page.locator("#experiments figure, #comparison figure")
    assert figures.count() > 4
    assert (
        page.locator("#experiments figure figcaption .badge.modelled, #comparison figure figcaption .badge.modelled").count()
        == figures.count()
    )
    assert "Modelled: these figures come from a model" in page.locator("#comparison .remarks").inner_text()
    # Once per experiment and table, not in every row: everything here is modelled.
    captions = page.locator("#experiments .marks-table caption")
    assert captions.count() == captions.filter(has_text="(modelled)").count() > 0
    assert page.locator(".experiment").count() == page.locator(".experiment > h3 .badge.modelled").count() > 0
    assert page.locator("#experiments .marks-table tbody .badge.modelled").count() == 0


def test_modelled_figures_are_not_called_measured_beside_published_ones(modelled, opened):
    # "Measured here" and "Measured over published" stood above figures of a model.
    section = opened(modelled).page.locator("#published")
    assert "Measured" not in " ".join(section.locator("th, caption").all_inner_texts())
    assert section.locator("thead th", has_text="Modelled over published").count() == 1
    assert section.locator("tr", has_text="six 15K").locator(".badge.modelled").count() == 1
    assert section.locator("tr", has_text="tape").locator(".badge.modelled").count() == 0


def test_labels_of_a_chart_do_not_overlap(report, opened):
    page = opened(report).page
    unfold(page)
    show_charts(page)
    overlaps = page.evaluate(
        """() => [...document.querySelectorAll('#experiments .chart')].flatMap(chart => {
            const boxes = [...chart.querySelectorAll('text')].map(text => [text.textContent, text.getBoundingClientRect()]);
            return boxes.flatMap(([name, a], index) => boxes.slice(index + 1).filter(([, b]) =>
                Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 4
            ).map(([other]) => [chart.getAttribute('aria-label'), name, other]));
        })"""
    )
    assert overlaps == []


def test_paper_gets_every_chart_of_the_experiments(report, opened):
    found = opened(report, color_scheme="dark")
    page = found.page
    page.emulate_media(media="print", color_scheme="dark")
    until(page, "document.documentElement.classList.contains('printing')")
    drawn = page.evaluate(
        "[...document.querySelectorAll('#experiments .chart, #comparison .chart')]"
        ".filter(chart => chart.clientWidth > 0).map(chart => Number(chart.dataset.marks) > 0)"
    )
    assert len(drawn) > 4 and all(drawn)
    page.emulate_media(media="screen", color_scheme="dark")
    until(page, "!document.documentElement.classList.contains('printing')")
    assert found.problems == []


def test_headings_descend_without_gaps(report, opened):
    page = opened(report).page
    levels = page.evaluate("[...document.querySelectorAll('h1, h2, h3, h4')].map(heading => Number(heading.tagName[1]))")
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert page.evaluate("[...document.querySelectorAll('th')].every(heading => heading.scope)")


def test_a_run_of_rounds_alone_has_no_empty_section_of_bars(opened, tmp_path):
    run = open_run(str(write_planned(tmp_path / "run", [steady()])))
    html.write([run], tmp_path / "report.html")
    found = opened(tmp_path / "report.html")
    scroll_through(found.page)
    assert found.page.locator("#profiles").count() == 0
    assert "attained after round" in found.page.locator("#experiments figcaption").inner_text()
    assert found.problems == []


def test_an_interval_is_shown_by_its_ends_which_need_not_be_equally_far(tmp_path, opened):
    run = write_planned(tmp_path / "run", [single(("oltp-db",))], Run())
    found = next(run.glob("points/*/result.json"))
    result = json.loads(found.read_text())
    result["estimates"]["read"]["iops"] |= {"value": 1000.0, "low": 990.0, "high": 1100.0}
    found.write_text(json.dumps(result))
    html.write([open_run(str(run))], tmp_path / "report.html")
    page = opened(tmp_path / "report.html").page
    assert page.locator("#summary [data-key=iops] .interval").first.inner_text() == "[990, 1,100]"
