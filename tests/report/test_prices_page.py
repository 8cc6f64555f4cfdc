"""Prices on the page: what a unit of each side's figure costs, the price lists, and nothing where nobody named a price."""

from pathlib import Path

import pytest

from plimsoll.analysis.comparison.sides import Side
from plimsoll.analysis.price.per_unit import prices
from plimsoll.analysis.price.price import Item, Price
from plimsoll.reports import html
from plimsoll.reports.view.report import PointRecord, RunRecord, Shown, view
from report.synthetic import plain_distribution
from support.made_results import Load, Setting, made

RESULTS = {name: made(Load(iops, 1e6), setting=Setting(target=name)) for name, iops in (("A", 10_000.0), ("B", 12_500.0))}
LISTED = Price.of_items([Item("Array <24>", 4000.0), Item("Server", 500.0, 2)], "USD", 3)


@pytest.fixture
def page(tmp_path: Path, opened):
    def show(priced: bool):
        sides = [Side(name, [result], run=name) for name, result in RESULTS.items()]
        found = prices(sides, {"A": LISTED, "B": Price(3000.0, "USD", 3)}, {}) if priced else None
        run = RunRecord("run", "complete", {"status": "complete"}, [PointRecord(result) for result in RESULTS.values()])
        path = tmp_path / "report.html"
        html.write_page(view([run], plain_distribution, Shown(prices=found)), path)
        return opened(path)

    return show


def test_the_page_says_what_a_unit_costs_on_each_side(page):
    found = page(priced=True)
    section = found.page.locator("section#prices")
    assert section.locator(".findings li").all_inner_texts() == ["A costs 0.50 USD per IOPS; B 0.24 USD per IOPS, 0.48 × of that."]
    rows = (
        section.locator("table")
        .first.locator("tbody tr")
        .evaluate_all("rows => rows.map(row => [...row.cells].map(cell => cell.innerText))")
    )
    assert rows == [
        ["OLTP database", "A", "5,000 USD for 3 years", "rate", "10,000 IOPS", "0.50 USD", "[0.50, 0.51]", "–"],
        ["OLTP database", "B", "3,000 USD for 3 years", "rate", "12,500 IOPS", "0.24 USD", "[0.24, 0.24]", "0.48 ×"],
    ]
    assert found.page.locator("nav a", has_text="Prices").get_attribute("href") == "#prices"
    assert found.problems == []


def test_a_price_list_can_be_opened_item_by_item(page):
    found = page(priced=True)
    folded = found.page.locator("section#prices details")
    assert folded.count() == 1
    folded.locator("summary").click()
    rows = folded.locator("tbody tr").evaluate_all("rows => rows.map(row => [...row.cells].map(cell => cell.innerText))")
    assert rows == [["Array <24>", "1", "4,000.00 USD", "4,000.00 USD"], ["Server", "2", "500.00 USD", "1,000.00 USD"]]


def test_a_page_without_prices_has_no_such_section(page):
    found = page(priced=False)
    assert found.page.locator("section#prices").count() == 0
    assert found.page.locator("nav a", has_text="Prices").count() == 0
    assert found.problems == []
