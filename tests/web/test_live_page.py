"""The live page in a real browser."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys

import pytest

from report.browsing import PATIENCE_S, until
from report.synthetic import PROFILES, Array, write_run
from support.patience import wait_until
from web.served import GoingOn, Served, served

HOSTILE = "</script><script>document.title='broken'</script><img src=x onerror=document.title='broken'>\u202egnp"


@pytest.fixture(scope="module")
def tab(browser):
    """What most tests look through one after the other; servers have other ports, so that nothing is kept from one to the next."""
    context = browser.new_context()
    context.set_default_timeout(PATIENCE_S * 1000)
    yield context.new_page()
    context.close()


@pytest.fixture
def visited(browser, tab):
    """The page of a server, with everything that went wrong in it."""
    contexts, heard, looked = [], [], []

    def page_for(options):
        if not options and tab not in looked:
            return tab
        contexts.append(browser.new_context(**options))
        contexts[-1].set_default_timeout(PATIENCE_S * 1000)
        return contexts[-1].new_page()

    def visit(server, **options):
        page, problems = page_for(options), []
        looked.append(page)
        for event, hear in (
            ("console", lambda message: problems.append(message.text) if message.type in ("error", "warning") else None),
            ("pageerror", lambda error: problems.append(str(error))),
        ):
            page.on(event, hear)
            heard.append((page, event, hear))
        page.goto(server.address)
        complete(page)
        return page, problems

    yield visit
    for page, event, hear in heard:
        page.remove_listener(event, hear)
    for context in contexts:
        context.close()
    tab.goto("about:blank")
    tab.context.clear_cookies()


def complete(page):
    until(page, "document.documentElement.dataset.complete === 'true'")


def rows(page):
    return page.locator("tbody tr[data-run]")


@pytest.fixture
def store(tmp_path):
    for name, speed in (("slow", 1.0), ("fast", 1.5)):
        write_run(tmp_path / f"2026-11-21T03-44-10_{name}", Array(name, label=name, speed=speed, seconds=5), PROFILES[:2])
    return tmp_path


def test_runs_are_found_by_their_words_and_their_status(store, serve, visited):
    GoingOn(store)
    page, problems = visited(serve(store))
    assert rows(page).count() == 3
    page.fill("#words", "SLOW")
    assert rows(page).count() == 1 and page.locator("#runs [role=status]").inner_text() == "1 run of 3"
    page.fill("#words", "")
    page.select_option("#status", "running")
    assert [rows(page).get_attribute("data-run")] == ["2026-11-23T10-00-00_going-on"]
    assert "token" not in page.url and problems == []


def test_two_runs_are_compared_by_choosing_them(store, serve, visited):
    page, problems = visited(serve(store))
    assert page.locator("button", has_text="Compare").is_disabled()
    for name in ("slow", "fast"):
        page.check(f"tr[data-run$={name}] input")
    page.click("text=Compare 2")
    page.wait_for_selector("#comparison")
    assert "slow" in page.locator(".lead").inner_text()
    page.click("text=All runs")
    page.wait_for_selector("tr[data-run$=slow]")
    assert problems == []


def test_runs_that_differ_say_so_and_are_compared_as_they_are(serve, visited, tmp_path):
    for name, profile in (("one", PROFILES[0]), ("other", PROFILES[1])):
        write_run(tmp_path / f"2026-11-21T03-44-10_{name}", Array(name, label=name, seconds=5), [profile])
    page, _ = visited(serve(tmp_path))
    page.fill("#words", "2026")
    for name in ("one", "other"):
        page.check(f"tr[data-run$=_{name}] input")
    page.click("text=Compare 2")
    page.wait_for_selector("text=no workload in common")
    page.click("text=Compare them as they are: what differs is workload")
    page.wait_for_selector("#comparison")
    page.go_back()
    page.go_back()
    # What was chosen and typed is there again.
    page.wait_for_selector("text=Compare 2")
    assert page.input_value("#words") == "2026" and page.locator("tbody input:checked").count() == 2


def test_a_run_draws_itself_as_it_goes_on(store, serve, visited):
    run = GoingOn(store)
    page, problems = visited(serve(store))
    page.click("text=going on")
    complete(page)
    assert page.locator(".progress [role=status]").inner_text().startswith("Point 3 of 3")
    run.intervals(3)
    courses = "[...document.querySelectorAll('#going figure')].filter(figure => figure.textContent.includes('Throughput over time'))"
    marks = f"Number({courses}[0]?.querySelector('.chart').dataset.marks ?? 0)"
    until(page, f"{marks} > 0")
    before = page.evaluate(marks)
    run.intervals(4)
    until(page, f"{marks} > {before}")
    run.end()
    until(page, "document.querySelector('.progress [role=status]').textContent.includes('3 points, complete')")
    until(page, "new Set([...document.querySelectorAll('#summary-table tr[data-point]')].map(row => row.dataset.point)).size === 3")
    assert page.locator("#going").is_hidden()
    page.click("text=Full report")
    page.wait_for_selector("#points")
    assert problems == []


def test_hosts_that_measure_together_have_a_line_each_and_one_for_all(store, serve, visited):
    run = GoingOn(store)
    host = {"state": "measuring", "why": None, "passed_s": 3.0, "bytes_per_s": 4e6, "mean_ns": 1e6}
    run.hosts([{**host, "name": "db1", "per_s": 1000.0}, {**host, "name": "db2", "per_s": 500.0}])
    run.intervals(3)
    page, problems = visited(serve(store))
    page.click("text=going on")
    page.wait_for_selector("#hosts")
    cells = "[...document.querySelectorAll('#hosts tbody tr')].map(row => [...row.children].map(cell => cell.textContent.replaceAll('\u202f', ' ')))"
    assert page.evaluate(cells) == [
        ["All hosts", "2 of 2 hosts measuring", "1,500", "8.00", ""],
        ["db1", "measuring", "1,000", "4.00", "1.00 ms"],
        ["db2", "measuring", "500", "4.00", "1.00 ms"],
    ]
    why = "lost 4.37 s after the start: its worker was killed by SIGKILL"
    gone = {"state": "lost", "why": why, "passed_s": 3.0, "per_s": None, "bytes_per_s": None, "mean_ns": None, "name": "db2"}
    run.hosts([{**host, "name": "db1", "per_s": 1000.0}, gone])
    until(page, "document.querySelector('#hosts tr.unwell')")
    assert page.evaluate(cells)[0][:3] == ["All hosts", "1 of 2 hosts measuring", "1,000"]
    assert page.evaluate(cells)[2] == ["db2", why, "–", "–", "–"]
    assert problems == []


def test_the_page_goes_on_when_the_server_was_started_anew(store, serve, visited, tmp_path):
    held = tmp_path / "token"
    held.write_text("0123456789abcdef0123")
    held.chmod(0o600)
    words = ("--token-file", str(held))
    server = serve(store, *words)
    page, _ = visited(server)
    server.stop()
    page.wait_for_selector(".trouble:not([hidden])")
    assert "does not answer" in page.locator(".trouble").inner_text()
    serve(store, *words, "--port", str(server.port))
    write_run(store / "2026-11-22T08-00-00_later", Array("later", label="later", seconds=5), PROFILES[:1])
    page.wait_for_selector("text=later")
    assert page.locator(".trouble").is_hidden()


def test_names_from_the_data_are_text_and_nothing_else(serve, visited, tmp_path):
    run = GoingOn(tmp_path, HOSTILE)
    meta = json.loads((run.path / "run.json").read_text())
    hostile = {
        "label": HOSTILE,
        "command": [HOSTILE],
        "suite": {"name": "x", "title": HOSTILE},
        "experiments": [{"name": HOSTILE, "workloads": [HOSTILE], "configurations": [{"name": HOSTILE, "target": HOSTILE}]}],
    }
    (run.path / "run.json").write_text(json.dumps({**meta, **hostile}))
    run.intervals(3)
    page, problems = visited(serve(tmp_path))
    assert page.locator("tbody td").nth(1).inner_text().startswith("</script><script>") and page.locator("img").count() == 0
    page.click("tr[data-run] a")
    complete(page)
    until(page, "document.querySelectorAll('#going .chart[data-marks]').length >= 2")
    assert "broken" not in page.title().split("'")[0] and page.locator("img").count() == 0
    assert page.title() != "broken" and problems == []


def test_a_phone_shows_everything_without_scrolling_sideways(store, serve, visited):
    GoingOn(store)
    page, problems = visited(serve(store), viewport={"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.click("text=going on")
    complete(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390 and problems == []


def test_everything_can_be_done_from_the_keyboard(store, serve, visited):
    page, _ = visited(serve(store))
    reached = set()
    for _ in range(14):
        page.keyboard.press("Tab")
        reached.add(
            page.evaluate(
                "document.activeElement.id || document.activeElement.getAttribute('aria-label') || document.activeElement.textContent"
            )
        )
    assert {"words", "status", "Compare slow", "Compare fast", "slow", "fast"} <= reached


def test_ten_thousand_points_are_listed_at_once(serve, visited, tmp_path):
    first = write_run(tmp_path / "2026-11-21T03-44-10_0000", Array("many", seconds=5), PROFILES[:1])
    (point,) = (first / "points").iterdir()
    for number in range(2, 101):
        shutil.copytree(point, first / "points" / f"{number:04d}-{PROFILES[0].name}")
    for number in range(1, 100):
        shutil.copytree(first, tmp_path / f"2026-11-21T03-44-10_{number:04d}", copy_function=_link)
    page, problems = visited(serve(tmp_path))
    assert page.locator("#runs [role=status]").inner_text() == "100 runs" and problems == []


def _link(source, target):
    os.link(source, target)


def test_a_server_that_ends_at_once_leaves_no_socket(tmp_path):
    server = served(tmp_path)
    assert server.stop() == 0
    again = served(tmp_path, "--port", str(server.port))
    assert again.port == server.port
    again.stop()


def test_a_suite_is_started_and_stopped_from_the_keyboard(serve, visited, tmp_path):
    server = serve(tmp_path / "store", "--allow-runs", "--target", "slow=null:", "--target", f"mine={tmp_path / 'mine'}")
    (tmp_path / "mine").write_bytes(b"precious" * 4096)
    page, problems = visited(server)
    page.wait_for_selector("#start")
    page.focus("#suite")
    page.keyboard.type("four-corners")
    assert page.input_value("#suite") == "four-corners"
    page.keyboard.press("Tab")
    page.keyboard.type("mine")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_selector(".started >> text=this workload would overwrite it")
    assert "Nothing on mine is overwritten." in page.locator("#start .note").first.inner_text()
    page.focus("#target")
    page.keyboard.type("slow")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.click("tbody tr[data-run] a")
    page.focus("text=Stop")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.textContent") == "Stop this run"
    page.keyboard.press("Enter")
    until(page, "document.querySelector('.progress [role=status]').textContent.includes('interrupted')")
    assert page.locator(".stop").is_hidden() and problems == []


@pytest.fixture
def live(tmp_path):
    """`plimsoll run --live`, as the address that it printed and its process."""
    started = []

    def start(seconds):
        words = ("run", "random-read-4k", "-t", "null:", "-d", f"{seconds}s", "-w", "0s", "--live", "--out", str(tmp_path / "store"))
        process = subprocess.Popen([sys.executable, "-m", "plimsoll", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        started.append(process)
        for line in process.stderr:
            if line.startswith("live: "):
                return Served(process, line.removeprefix("live: ").strip())
        raise AssertionError("no address came")

    yield start
    for process in started:
        process.kill()
        process.communicate()


def test_a_live_run_is_seen_to_its_end_and_takes_its_page_along(live, visited, tmp_path):
    write_run(tmp_path / "store" / "2026-11-21T03-44-10_other", Array("other", seconds=5), PROFILES[:1])
    started = live(600)
    page, problems = visited(started)
    assert page.locator(".progress [role=status]").inner_text().startswith("Point 1 of 1")
    page.click("text=All runs")
    page.wait_for_selector("tbody tr[data-run]")
    assert rows(page).count() == 1
    page.go_back()
    complete(page)
    started.process.send_signal(signal.SIGINT)
    page.wait_for_selector(".over:not([hidden])")
    until(page, "document.querySelector('.progress [role=status]').textContent.includes('interrupted')")
    until(page, "document.querySelectorAll('#summary-table tr[data-point]').length === 1")
    assert started.process.wait(PATIENCE_S) == 130 and problems == []
    assert page.locator(".trouble").is_hidden()


def test_a_live_run_that_is_killed_leaves_no_page(live, tmp_path):
    started = live(600)
    port = int(started.place.rpartition(":")[2])
    started.process.kill()
    started.process.wait()
    wait_until(lambda: not _listens(port), "the page is still there")


def _listens(port):
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0
