"""Decision support and order entry have sections: metrics, queries and transactions A beside B, streams over time, and what limited them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from plimsoll.analysis.decision.limit import limit
from plimsoll.reports import html
from plimsoll.reports.terminal import decision as terminal
from plimsoll.reports.view.report import PointRecord, RunRecord, view
from report.browsing import show_charts, until
from report.synthetic import plain_distribution
from support.made_drivers import SEEN, entered, killed, queried

S = 1_000_000_000
DEVICE = {"r_per_s": 10.0, "w_per_s": 1.0, "read_bytes_per_s": 50e6, "write_bytes_per_s": 5e6, "queue_mean": 1.0}


def samples(count):
    """A sample of half a second each of what the device did."""
    return [
        {"index": index, "end_ns": (index + 1) * S // 2, "seconds": 0.5, "devices": {"sdb": DEVICE}, "cpu": {}} for index in range(count)
    ]


def on_device(result):
    host = {**result.host, "target": {**result.host["target"], "devices": [{"name": "sdb"}]}}
    return PointRecord(replace(result, host=host), (), samples(18))


def report_of(*records):
    points = [record if isinstance(record, PointRecord) else PointRecord(record) for record in records]
    return view([RunRecord("run", "complete", {"status": "complete"}, points)], plain_distribution)


def both_runs(target, seconds):
    return queried(target, seconds), queried(target, 1.1 * seconds, repeat=2)


def test_of_two_runs_the_lower_is_shown_with_the_metrics_of_the_other_beside_it():
    section = report_of(*both_runs("duckdb:/mnt/a", 0.01), *both_runs("duckdb:/mnt/b", 0.005))["drivers"]["decision_support"]
    assert section["banner"] == "derived from TPC-H, not comparable with published TPC-H results"
    first, second = section["sides"]
    assert [side["configuration"] for side in section["sides"]] == [0, 1]
    assert first["metrics"]["composite"] == pytest.approx(first["other"]["composite"] / 1.1)
    assert second["metrics"]["composite"] == pytest.approx(2 * first["metrics"]["composite"])
    # Two streams of 22 queries.
    assert first["queries_per_hour"] == pytest.approx(first["metrics"]["throughput"])


def test_queries_have_their_time_alone_and_the_mean_of_their_times_in_streams():
    (side,) = report_of(queried("duckdb:/mnt/a", 0.01))["drivers"]["decision_support"]["sides"]
    names = [query["name"] for query in side["queries"]]
    assert names == [*(f"Q{number}" for number in range(1, 23)), "RF1", "RF2"]
    # Query 22 alone takes 22 times 0.01 s, beside another stream twice as long.
    assert (side["queries"][21]["alone_s"], side["queries"][21]["beside_s"]) == (pytest.approx(0.22), pytest.approx(0.44))
    assert side["queries"][5]["asks"].startswith("How much")
    assert all(query["right"] is True for query in side["queries"][:22])


def test_a_wrong_answer_is_wrong_in_the_section():
    one = queried("duckdb:/mnt/a", 0.01)
    said = one.engine["decision"]
    queries = [{**query, "validated": query["number"] != 6} for query in said["queries"]]
    wrong = replace(one, engine={**one.engine, "decision": {**said, "queries": queries}})
    (side,) = report_of(wrong)["drivers"]["decision_support"]["sides"]
    assert [query["name"] for query in side["queries"] if query["right"] is False] == ["Q6"]


def test_streams_are_lanes_of_what_they_asked_and_when():
    (side,) = report_of(queried("duckdb:/mnt/a", 0.01))["drivers"]["decision_support"]["sides"]
    assert [lane["name"] for lane in side["lanes"]] == ["alone", "stream 1", "stream 2", "refreshes"]
    # Order 0 of the specification, with the refreshes around it.
    assert [span["name"] for span in side["lanes"][0]["spans"]][:4] == ["RF1", "Q14", "Q2", "Q9"]
    assert side["lanes"][1]["spans"][0]["start_s"] == side["lanes"][0]["spans"][-1]["end_s"]
    many = report_of(queried("duckdb:/mnt/a", 0.001, test="throughput", streams=45))["drivers"]["decision_support"]["sides"][0]
    assert (len(many["lanes"]), many["left_out"]) == (40, 6)


@pytest.mark.parametrize(
    ("seen", "what"),
    [
        ({**SEEN, "seconds": 1.0}, "storage"),
        ({**SEEN, "seconds": 1.0, "waiting_share": 0.1, "cpu": {"user_percent": 80.0, "system_percent": 15.0}}, "processors"),
        # One thread kept one processor of many busy.
        ({**SEEN, "seconds": 0.4, "waiting_share": 0.1, "engine_cpu_s": 0.4}, "one processor"),
        ({**SEEN, "seconds": 4.0, "waiting_share": 0.1}, "nothing seen"),
        # What sessions say goes before what the host shows: it is theirs alone.
        ({**SEEN, "seconds": 1.0, "waits": {"locks": 0.4, "internal locks": 0.2, "storage": 0.4}}, "locks"),
        ({**SEEN, "seconds": 1.0, "waits": {"locks": 0.4, "storage": 0.6}}, "storage"),
        # Of a server on another host, sessions are all that there is.
        ({"seconds": 1.0, "waits": {"locks": 0.4, "storage": 0.6}}, "storage of sessions"),
        ({"seconds": 1.0, "waits": {"processor": 0.9, "storage": 0.1}}, "processors of sessions"),
        ({"seconds": 1.0, "waits": {"client": 1.0}}, "none of them"),
    ],
)
def test_what_limited_a_test_is_what_its_time_was_spent_on(seen, what):
    found = limit(seen)
    assert found is not None and found.what == what


def test_the_terminal_has_a_row_for_each_test_with_what_storage_did_and_what_limited_it():
    head, _, power, throughput = terminal.phases([queried("duckdb:/mnt/a", 0.01)]).splitlines()
    assert head.split("  ")[0] == "test" and "point" not in head
    words = ("60%", "–", "35%", "40.0", "1.0", "5.0", "64 KiB", "4 KiB", "1.50 ms", "0.50 ms", "0.80")
    assert [word for word in words if word not in power] == []
    assert power.endswith("storage: some task waited for it for 60% of the time")
    assert throughput.startswith("throughput")
    levels = terminal.phases([queried("duckdb:/mnt/a", 0.01, test="throughput", level=number) for number in (1, 2)]).splitlines()
    assert levels[0].split()[:2] == ["point", "test"]
    assert [line.split()[:3] for line in levels[2:]] == [["streams", "1", "throughput"], ["streams", "2", "throughput"]]
    assert terminal.phases([entered("sqlite:/mnt/a", 200.0)]) == ""


def test_nothing_is_said_to_have_limited_what_nobody_saw():
    assert limit({"seconds": 1.0, "waiting_share": None, "cpu": None}) is None


def test_order_entry_has_new_orders_per_minute_and_what_transactions_waited_for():
    section = report_of(entered("sqlite:/mnt/a", 200.0), entered("sqlite:/mnt/b", 300.0, storage=0.1))["drivers"]["order_entry"]
    first, second = section["sides"]
    # 45 % of 200 per second are new orders, 1 % of which are rolled back.
    assert first["new_orders_per_min"]["value"] == pytest.approx(200 * 0.45 * 60 * 0.99)
    assert [kind["op"] for kind in first["kinds"]] == ["new-order", "payment", "order-status", "delivery", "stock-level"]
    assert (first["waits"][0]["what"], second["waits"][0]["what"]) == ("storage", "processor")
    assert (first["wal_bytes_per_s"], first["retries"], first["consistent"]) == (8e6, 3, True)
    assert (first["commits"], first["rolled_back"], first["wal_bytes"]) == (2000, 9, 80_000_000)
    assert (first["checkpoints"], first["vacuums"]) == (2, None)
    assert section["engines"] == [0, 1]
    assert {"name": "wal_autocheckpoint", "values": ["1000", "1000"]} in section["settings"]


def test_a_failed_point_of_a_database_has_no_figures():
    failed = replace(entered("sqlite:/mnt/a", 200.0), status="failed", error="the server died")
    assert report_of(failed)["drivers"] == {}


@pytest.fixture
def page(tmp_path, opened):
    def show(*records):
        path = tmp_path / "report.html"
        html.write_page(report_of(*records), path)
        return opened(path)

    return show


def test_the_page_draws_queries_streams_and_devices_and_speaks_of_no_iops(page):
    found = page(*map(on_device, both_runs("duckdb:/mnt/a", 0.01)), *map(on_device, both_runs("duckdb:/mnt/b", 0.005)))
    section = found.page.locator("section#driver-decision-support")
    assert section.locator("h2").inner_text() == "Decision support"
    assert section.locator("figcaption").all_inner_texts() == [
        "Each query alone",
        "Each query in streams",
        "Who asked what, and when on a",
        "Who asked what, and when on b",
    ]
    rows = section.locator("tbody tr").evaluate_all("rows => rows.map(row => [...row.cells].map(cell => cell.innerText))")
    assert [row[0] for row in rows[:2]] == ["a", "b"]
    assert rows[2][:2] == ["power of a", "storage: some task waited for it for 60% of the time"]
    # Lanes and below them reads and writes of the device.
    charts = section.locator(".chart")
    show_charts(found.page)
    assert int(charts.nth(0).get_attribute("data-marks")) == 2 * 24
    # The last query of the lower run ends after 1.1 × (2.57 + 5.06) s; of 18 columns of half a second 17 have their middle before that.
    assert int(charts.nth(2).get_attribute("data-marks")) == 24 + 2 * 22 + 4 + 2 * 17
    text = found.page.locator("main").inner_text()
    # Each side was measured twice.
    assert "measured once" not in text
    assert "By access pattern" not in text and "Other access" not in text and "IOPS" not in section.inner_text()
    assert found.problems == []


def test_the_page_draws_order_entry_side_by_side_and_says_what_limited_it(page):
    found = page(entered("sqlite:/mnt/a", 200.0), entered("sqlite:/mnt/b", 300.0, storage=0.1))
    section = found.page.locator("section#driver-order-entry")
    assert section.locator("dd.value").all_inner_texts() == ["5,346", "8,019"]
    assert (
        section.locator("ul.sentences li").first.inner_text() == "a: limited by storage (70.0\u202f% of the time waiting for the storage)."
    )
    settings = section.locator("details", has_text="Settings of the database")
    settings.locator("summary").click()
    assert settings.locator("tbody tr").first.inner_text().split("\t") == ["journal_mode", "wal", "wal"]
    log = section.locator("table", has_text="In the measured time")
    assert log.locator("tbody tr").first.inner_text().split("\t") == ["a", "2,000", "9", "3", "76.29\u202fMiB", "2", "–"]
    assert "Highest rate" in found.page.locator("main").inner_text()
    assert "320 IOPS" not in found.page.locator("main").inner_text() and "IOPS" not in found.page.locator("#summary").inner_text()
    assert found.problems == []


def test_levels_but_the_last_are_folded(page):
    found = page(*(queried("duckdb:/mnt/a", 0.01, test="throughput", streams=level, level=level) for level in (1, 2)))
    section = found.page.locator("section#driver-decision-support")
    assert section.locator("details.more > summary").all_inner_texts() == ["Queries and streams at streams 1"]
    assert section.locator("details.more figure").count() == 0
    section.locator("details.more > summary").click()
    # What unfolds is drawn a moment later.
    section.locator("details.more figure").nth(1).wait_for()
    assert section.locator("details.more figure").count() == 2
    assert found.problems == []


def test_the_load_line_of_streams_is_in_queries_per_hour(tmp_path, opened):
    """It said 'IOPS', and its mark was one of a second."""
    levels = [queried("duckdb:/mnt/a", 0.01, test="throughput", streams=level, level=level) for level in (1, 2, 4)]
    definition = {
        "name": "steps",
        "kind": "steps",
        "over": [{"option": "streams", "levels": [1, 2, 4]}],
        "objective": "p95 <= 500ms",
        "workloads": [],
    }
    run = RunRecord("run", "complete", {"status": "complete", "experiments": [definition]}, [PointRecord(level) for level in levels])
    report = view([run], plain_distribution)
    (subject,) = report["experiments"][0]["subjects"]
    assert (subject["rate_noun"], subject["rate_factor"]) == ("queries per hour", 3600)
    # What the objective asks for comes first, then each query has its own.
    assert [(line["op"], line["metric"], line["limit_ns"]) for line in subject["lines"]][:3] == [
        ("all", "p95", 5e8),
        ("all", "mean", None),
        ("q1", "p95", None),
    ]
    html.write_page(report, tmp_path / "report.html")
    found = opened(tmp_path / "report.html")
    show_charts(found.page)
    experiment = found.page.locator("#experiment-0")
    table = experiment.locator(".marks-table")
    assert "Mark, queries per hour [95 %]" in table.locator("thead").inner_text()
    # They move no bytes of their own: a mark of 0 MB/s would be said of every one.
    assert "Mark, MB/s" not in table.locator("thead").inner_text()
    # Streams beside each other take as much longer as there are of them: 22 queries in 2.53 s, however many streams.
    assert table.locator("tbody data").first.inner_text() == "31.3\u202fk"
    assert "throughput, queries per hour" in experiment.locator(".chart svg").first.inner_html()
    assert "IOPS" not in experiment.inner_text()
    assert found.problems == []


def test_a_phone_shows_the_mark_of_terminals_without_scrolling_sideways(tmp_path, opened):
    """A mark in transactions/s was wider than its half of the screen."""
    levels = [entered(f"sqlite:/mnt/{side}", 100.0 * level, terminals=level, level=level) for side in "ab" for level in (1, 16, 64)]
    definition = {"name": "steps", "kind": "steps", "over": [{"option": "terminals", "levels": [1, 16, 64]}], "workloads": []}
    told = {"status": "complete", "experiments": [{**definition, "objective": "p90 of new-order <= 500ms"}]}
    html.write_page(
        view([RunRecord("run", "complete", told, [PointRecord(level) for level in levels])], plain_distribution), tmp_path / "x.html"
    )
    found = opened(tmp_path / "x.html")
    found.page.set_viewport_size({"width": 390, "height": 800})
    show_charts(found.page)
    assert "≥ 6,400 transactions/s" in found.page.locator("#answer .value").all_inner_texts()
    assert found.page.evaluate("document.documentElement.scrollWidth") <= 390
    assert found.problems == []


def test_a_phone_shows_the_sections_without_scrolling_sideways(page):
    sides = [entered(f"postgresql:new:/mnt/{side}arrayofdisks", 300.0) for side in ("first", "other")]
    found = page(*map(on_device, both_runs("duckdb:/mnt/a", 0.01)), *sides)
    found.page.set_viewport_size({"width": 390, "height": 800})
    show_charts(found.page)
    assert found.page.evaluate("document.documentElement.scrollWidth") <= 390
    # There a cell says itself what its heading says on a wide screen, and neither queries nor transactions are I/Os.
    rates = found.page.locator("#summary [data-key=iops]").evaluate_all("cells => cells.map(cell => cell.dataset.label)")
    assert set(rates) == {"per second"}
    assert found.problems == []


def test_one_terminal_is_one(page):
    found = page(entered("sqlite:/mnt/a", 300.0, terminals=1))
    assert "committed by 1 terminal [" in found.page.locator("#driver-order-entry").inner_text()


LOST = [{}, {"lost": ["RF1 of set 3"], "halves": ["RF2 of set 2"]}, {"under_way": "RF1 of set 9", "became": "undone"}]


def test_a_trial_of_durability_has_its_kills_and_what_was_found_after_each():
    (side,) = report_of(killed("duckdb:/mnt/a", LOST))["drivers"]["database_durability"]["sides"]
    assert (side["kills"], side["acknowledged"], side["found"], side["lost"], side["halves"]) == (3, 30, 28, 2, 1)
    assert [(one["acknowledged_so_far"], one["found"], one["lost"]) for one in side["rounds"]] == [(10, 10, 0), (20, 18, 2), (30, 28, 2)]
    assert [one["wrong"] for one in side["rounds"]] == [None, "1 lost, 1 there by half", None]
    assert side["faults"][0] == "1 refresh is acknowledged and not there, first RF1 of set 3 after kill 2"
    assert side["recovery_s"] == (0.5, 0.5)


def test_of_a_database_that_does_not_open_again_nothing_is_found():
    unopened = {"unopened": "it is damaged.", "open_s": None, "recovery_s": None}
    (side,) = report_of(killed("duckdb:/mnt/a", [{}, unopened]))["drivers"]["database_durability"]["sides"]
    assert (side["acknowledged"], side["found"], side["lost"]) == (20, 0, 20)
    assert side["rounds"][1]["wrong"] == "it did not open again"


def test_kills_are_drawn_on_a_line_of_time_with_what_was_acknowledged_and_found(page):
    found = page(killed("duckdb:/mnt/a", LOST), killed("duckdb:/mnt/b", [{}, {}]))
    section = found.page.locator("section#driver-database-durability")
    show_charts(found.page)
    rows = (
        section.locator("table")
        .first.locator("tbody tr")
        .evaluate_all("rows => rows.map(row => [...row.cells].map(cell => cell.innerText))")
    )
    assert [(row[1], row[3], row[4], row[5], row[6], row[8]) for row in rows] == [
        ("duckdb", "30", "28", "1", "1", "NOT kept"),
        ("duckdb", "20", "20", "0", "0", "all kept"),
    ]
    assert section.locator("figcaption").all_inner_texts() == ["Kills of a", "Kills of b"]
    # A bar of work and one of restart, a cross, and two parts of a bar below for each kill.
    marks = [int(chart.get_attribute("data-marks")) for chart in section.locator(".chart").all()]
    assert marks == [3 * (2 + 1 + 2), 2 * (2 + 1 + 2)]
    text = found.page.locator("main").inner_text()
    assert "a does not keep what it acknowledges: 1 refresh is acknowledged and not there" in text
    assert "28 of 30" in text and "20 of 20" in text
    assert "IOPS" not in text.partition("Meaning")[0].partition("Points")[0]
    found.page.set_viewport_size({"width": 390, "height": 800})
    show_charts(found.page)
    # Charts are drawn anew for the width, each when its turn comes.
    until(found.page, "document.documentElement.scrollWidth <= 390")
    assert found.problems == []


def test_on_paper_kills_keep_their_words_apart_and_nobody_is_told_to_point(page):
    shown = page(killed("duckdb:/mnt/a", LOST), killed("duckdb:/mnt/b", [{}, {}])).page
    section = shown.locator("section#driver-database-durability")
    shown.emulate_media(media="print")
    # Numbers end where the words of the next column began.
    gaps = section.locator("table").first.evaluate(
        """table => {
            const ends = (cell, end) => { const range = document.createRange(); range.selectNodeContents(cell); return range.getBoundingClientRect()[end]; };
            const cells = [...table.tBodies[0].rows[0].cells];
            return cells.slice(1).map((cell, place) => ends(cell, "left") - ends(cells[place], "right"));
        }"""
    )
    assert len(gaps) >= 6 and min(gaps) > 9
    figure, facts = section.locator("figure").last.bounding_box(), section.locator("figure + .note").first.bounding_box()
    assert facts["y"] - figure["y"] - figure["height"] >= 5
    note = shown.locator("#summary .note").first
    assert note.evaluate("one => getComputedStyle(one).breakInside") == "avoid"
    assert note.inner_text().startswith("Measured phase only.") and "Hover" not in note.inner_text()
    shown.emulate_media(media="screen")
    assert "Hover over a number" in note.inner_text()
