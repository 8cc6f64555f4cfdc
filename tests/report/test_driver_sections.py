"""Drivers have sections of their own on the page: a record each, drawn where the driver measured something and nowhere else."""

from dataclasses import replace

import pytest

from plimsoll.reports import html
from plimsoll.reports.view import drivers
from plimsoll.reports.view.report import PointRecord, RunRecord, view
from report.synthetic import plain_distribution
from support.made_results import Load, Setting, made


def operations(target, creates, *, level=None, driver="files"):
    """A point that created and deleted files."""
    one = made(Load(creates, 2e6), level, setting=Setting("mail-spool", "Mail spool", "files", target))
    other = made(Load(creates / 2, 1e6))
    definition = {**one.job.definition, "driver": driver} if driver else one.job.definition
    totals = {"create": one.totals["read"], "delete": other.totals["read"]}
    estimates = {"create": one.estimates["read"], "delete": other.estimates["read"]}
    place = {**one.place, "configuration": target} if level is not None else {}
    return replace(one, job=replace(one.job, definition=definition), totals=totals, estimates=estimates, place=place)


def report_of(*results):
    run = RunRecord("run", "complete", {"status": "complete"}, [PointRecord(result) for result in results])
    return view([run], plain_distribution)


def test_what_a_driver_measured_stands_in_its_section_side_by_side():
    section = report_of(operations("/mnt/a", 1000.0), operations("/mnt/b", 1500.0))["drivers"]["files"]
    (workload,) = section["workloads"]
    assert workload["title"] == "Mail spool"
    assert [row["op"] for row in workload["rows"]] == ["create", "delete"]
    assert [cell["per_s"]["value"] for cell in workload["rows"][0]["cells"]] == [1000.0, 1500.0]
    assert [cell["configuration"] for cell in workload["rows"][1]["cells"]] == [0, 1]


def test_each_level_has_rows_of_its_own():
    section = report_of(operations("/mnt/a", 1000.0, level=1), operations("/mnt/a", 1900.0, level=2))["drivers"]["files"]
    rows = [(row["op"], row["settings"], row["cells"][0]["per_s"]["value"]) for row in section["workloads"][0]["rows"]]
    assert rows == [
        ("create", {"queue_depth": 1}, 1000.0),
        ("delete", {"queue_depth": 1}, 500.0),
        ("create", {"queue_depth": 2}, 1900.0),
        ("delete", {"queue_depth": 2}, 950.0),
    ]


def test_a_driver_without_points_has_no_section():
    assert report_of(operations("/dev/sdb", 1000.0, driver=None))["drivers"] == {}
    failed = replace(operations("/mnt/a", 1.0), status="failed", error="no space left on device")
    assert report_of(failed)["drivers"] == {}


def test_every_section_is_declared():
    assert set(drivers._MADE) == set(drivers.DriverSections.__annotations__)


@pytest.fixture
def page(tmp_path, opened):
    def show(*results):
        path = tmp_path / "report.html"
        html.write_page(report_of(*results), path)
        return opened(path)

    return show


def test_the_page_draws_the_section_and_names_it_among_the_contents(page):
    found = page(operations("/mnt/a", 1000.0), operations("/mnt/b", 1500.0))
    section = found.page.locator("section#driver-files")
    assert section.locator("h2").inner_text() == "File operations"
    cells = section.locator("tbody tr").evaluate_all("rows => rows.map(row => [...row.cells].map(cell => cell.innerText))")
    assert cells[0] == ["create", "1,000", "2.00\u202fms", "9.21\u202fms", "1,500", "2.00\u202fms", "9.21\u202fms"]
    assert found.page.locator("nav a", has_text="File operations").get_attribute("href") == "#driver-files"
    assert found.problems == []


def test_a_page_without_such_a_driver_has_no_such_section(page):
    found = page(operations("/dev/sdb", 1000.0, driver=None))
    assert found.page.locator("section.driver").count() == 0
    assert found.problems == []
