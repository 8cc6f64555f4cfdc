"""A report of many points: the answer is there before the rest is built, and the overview leaves out what it can do without.

Counts of elements and charts stand for time and length, so that nothing depends on the machine.
"""

import pytest

from plimsoll.reports.html import write
from plimsoll.store.reader import open_run
from report.browsing import until
from report.planned import Run, ramp, steps, write_planned
from report.synthetic import Array, write_run

#: With two configurations and seven depths: 84 points.
WORKLOADS = ("oltp-db", "exchange-server", "workstation", "web-server-log", "os-paging", "media-streaming")
AT_FIRST = """addEventListener('DOMContentLoaded', () => {
    window.atFirst = { elements: document.querySelectorAll('main *').length, answer: document.querySelector('#answer')?.innerText };
})"""


def page_of(folder, *planned):
    run = write_planned(folder / "run", planned, Run())
    write([open_run(str(run))], folder / "report.html")
    return folder / "report.html"


@pytest.fixture(scope="module")
def long(tmp_path_factory):
    return page_of(tmp_path_factory.mktemp("long"), steps(WORKLOADS, repeat=1))


def test_the_answer_is_there_before_the_rest_is_built(long, opened, browser):
    context = browser.new_context(offline=True)
    page = context.new_page()
    page.add_init_script(AT_FIRST)
    page.goto(long.as_uri())
    until(page, "document.documentElement.dataset.complete === 'true'")
    found = page.evaluate("window.atFirst")
    whole = page.locator("main *").count()
    context.close()
    # The sentence with its cards is some thirty elements, the page thousands.
    assert found["answer"] and found["elements"] < 100 < whole / 10


def test_what_the_overview_can_do_without_is_folded(long, opened):
    page = opened(long).page
    for section in ("summary", "environment", "notes"):
        assert page.locator(f"#{section} > h2").is_visible()
        assert not page.locator(f"#{section} > details.part").evaluate("details => details.open")
    assert page.locator(".load-lines > .pair .chart").count() == 2
    assert page.locator(".load-lines > details .chart").count() == len(WORKLOADS) - 2


def test_a_link_unfolds_what_it_leads_to(long, opened):
    found = opened(long)
    found.page.locator("nav a", has_text="Summary").click()
    until(found.page, "document.querySelector('#summary > details.part').open")
    assert found.page.locator("#summary table.summary").is_visible()
    assert found.problems == []


def test_paper_has_the_summary_and_the_screen_is_as_before_afterwards(long, opened):
    page = opened(long).page
    page.emulate_media(media="print")
    until(page, "document.querySelector('#summary > details.part').open")
    assert page.locator("#summary table.summary").is_visible()
    page.emulate_media(media="screen")
    until(page, "!document.querySelector('#summary > details.part').open")


def test_a_short_report_folds_nothing(tmp_path, opened):
    page = opened(page_of(tmp_path, ramp())).page
    assert page.locator("details.part").count() == 0


def test_the_load_lines_of_a_ramp_stand_before_the_comparison(tmp_path, opened):
    page = opened(page_of(tmp_path, ramp())).page
    sections = page.locator("main > section").evaluate_all("all => all.map(each => each.id)")
    assert sections.index("experiments") < sections.index("comparison")
    links = page.locator("nav a").all_inner_texts()
    assert links.index("Experiments") < links.index("Comparison")


def test_the_matrix_of_a_suite_stands_before_its_load_lines(long, opened):
    page = opened(long).page
    sections = page.locator("main > section").evaluate_all("all => all.map(each => each.id)")
    assert {"comparison", "experiments"} <= set(sections)


def test_bars_that_are_the_only_picture_stay_open(tmp_path, opened):
    runs = [write_run(tmp_path / name, Array(name, speed=speed, repeats=3)) for name, speed in (("plain", 1.0), ("fast", 1.4))]
    write([open_run(str(run)) for run in runs], tmp_path / "report.html")
    page = opened(tmp_path / "report.html").page
    assert page.locator("#summary > details.part").count() == 1
    assert page.locator("section:has(figure)").count() > 0 and page.locator("section:has(figure) > details.part").count() == 0
