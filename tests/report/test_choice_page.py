"""The page of a choice: the answer, cost against load with the front, what is uncertain, and why the others fell out."""

from __future__ import annotations

from typing import Any

import pytest

from plimsoll.analysis.uncertainty.interval import Cause, DrawnValue, Interval
from plimsoll.choice.candidates import Candidate, Considered
from plimsoll.choice.doubt import Doubt
from plimsoll.choice.line import Line, LinePoint
from plimsoll.choice.prices import Cost
from plimsoll.choice.ranking import Entry
from plimsoll.choice.selection import Chosen, Selection
from plimsoll.choice.trial import DEGRADED, HEALTHY, REBUILDING, Outcome, Response
from plimsoll.reports import html
from plimsoll.reports.view.choice import choice_page
from support.choices import demand

LIMIT_NS = 20e6
CAUSE = Cause(DrawnValue("destage depth", ("controller.raid",), "assumed", 4, 2, 8, "why"), 0.62, raises=True)


def outcome(state: str, value_ms: float) -> Outcome:
    response = Response("read p99 <= 20ms", value_ms * 1e6, None, None, LIMIT_NS, value_ms <= 20)
    return Outcome(state, value_ms <= 20, 1_000, (response,), None, "disks at 70%", rebuild_hours=1.5 if state == REBUILDING else None)


def entry(name: str, drives: int, price: float | None, mark: float) -> Entry:
    points = tuple(LinePoint(mark * part, part <= 1, 0.1 + 0.9 * part**4) for part in (0.5, 0.8, 1.0, 1.1))
    cost = Cost(price, "USD", price or 0.0, () if price else ("drive x",), None, None, ())
    return Entry(
        Considered(Candidate(name, f"array:{name}"), 10**12, 1, drives, (), cost),
        outcomes={state: outcome(state, 12.0) for state in (HEALTHY, DEGRADED, REBUILDING)},
        line=Line(None, mark, points, "disks", at_least=False),
        doubt=Doubt(Interval(0.8 * mark, 1.2 * mark, 0.9, 20, 1.0, 1.0, (CAUSE,)), 0.95),
        simulated=True,
    )


def chosen(*, priced: bool = True) -> Chosen:
    """Three that carry it, of which the second is beaten in both; one that failed, and one that was too small."""
    three = [entry("<cheap>", 8, 5_000, 1_500), entry("dear-and-slow", 12, 9_000, 1_300), entry("dear-and-fast", 24, 12_000, 4_000)]
    if not priced:
        three = [entry(one.candidate.name, one.considered.drives, None, one.mark_iops or 0) for one in three]
    failed = Entry(
        Considered(Candidate("slow", "array:slow"), 10**12, 1, 4),
        outcomes={HEALTHY: outcome(HEALTHY, 55.0)},
        simulated=True,
        rejected="healthy: read p99 <= 20ms: it was 55 ms",
    )
    small = Entry(Considered(Candidate("small", "array:small")), rejected="holds 0.2 TB, less than 1 TB")
    return Chosen(Selection(demand(1_000, 70, "8KiB", "read p99 <= 20ms"), ("x",)), (*three, failed, small), "USD")


def test_the_front_has_those_that_none_beats_in_both() -> None:
    page = choice_page(chosen())
    assert page["cost"] == "price"
    assert [(row["name"], row["front"]) for row in page["rows"]] == [
        ("<cheap>", True),
        ("dear-and-slow", False),
        ("dear-and-fast", True),
        ("slow", False),
    ]
    assert page["rows"][0]["mostly"] == "mostly destage depth (62 %)"
    assert [(part["how"], len(part["candidates"])) for part in page["fallen"]] == [("when simulated", 1), ("by arithmetic", 1)]


def test_without_prices_cost_is_the_number_of_drives() -> None:
    page = choice_page(chosen(priced=False))
    assert page["cost"] == "drives"
    assert [row["cost"] for row in page["rows"]] == [8, 12, 24, 4]


@pytest.fixture
def shown(tmp_path: Any, opened: Any) -> Any:
    path = tmp_path / "choice.html"
    html.write_choice_page(choice_page(chosen()), path)
    return opened(path)


def test_the_page_begins_with_what_to_buy_and_draws_both_pictures(shown: Any) -> None:
    page = shown.page
    assert page.title() == "Plimsoll: Which storage to buy for d"
    assert page.locator("#answer .lead").inner_text().startswith("Buy <cheap> for USD 5,000: it carries 1,000 requests/s")
    assert "healthy in 95 % of 20 draws of what nobody has looked up" in page.locator("#answer .lead").inner_text()
    assert page.locator("figure figcaption").count() == 2
    for place in range(2):
        page.locator("figure .chart").nth(place).scroll_into_view_if_needed()
        page.locator("figure .chart svg, figure .chart canvas").nth(place).wait_for()
    cells = page.locator("#candidates tbody tr").evaluate_all("rows => rows.map(row => [...row.cells].map(cell => cell.innerText))")
    assert [row[:5] for row in cells] == [
        ["<cheap>", "yes", "1,500", "1,200 – 1,800", "mostly destage depth (62 %)"],
        ["dear-and-slow", "yes", "1,300", "1,040 – 1,560", "mostly destage depth (62 %)"],
        ["dear-and-fast", "yes", "4,000", "3,200 – 4,800", "mostly destage depth (62 %)"],
        ["slow", "no", "–", "–", "–"],
    ]
    assert shown.problems == []
    assert all(request.startswith(("file:", "data:")) for request in shown.requests)


def test_why_the_others_fell_out_can_be_opened(shown: Any) -> None:
    folded = shown.page.locator("#fallen details")
    assert folded.locator("summary").all_inner_texts() == ["1 candidate when simulated", "1 candidate by arithmetic"]
    folded.nth(1).locator("summary").click()
    assert folded.nth(1).locator("tbody tr").inner_text().split("\t") == ["small", "holds 0.2 TB, less than 1 TB"]


def test_paper_says_why_the_others_fell_out(shown: Any) -> None:
    shown.page.emulate_media(media="print")
    shown.page.locator("html.printing").wait_for()
    assert "holds 0.2 TB, less than 1 TB" in shown.page.locator("#fallen").inner_text()
    assert shown.page.locator("#fallen summary:visible").count() == 0
    shown.page.emulate_media(media="screen")
    shown.page.locator("html:not(.printing)").wait_for()
    assert shown.page.locator("#fallen details[open]").count() == 0


def test_what_is_not_drawn_is_not_explained(shown: Any, tmp_path: Any, opened: Any) -> None:
    bars = "Bars: between what the load lies in 90 % of draws"
    assert bars in shown.page.locator("figure").first.inner_text()
    page = choice_page(chosen())
    for row in page["rows"]:
        row["low_per_s"] = row["high_per_s"] = None
    html.write_choice_page(page, tmp_path / "plain.html")
    assert bars not in opened(tmp_path / "plain.html").page.locator("figure").first.inner_text()
