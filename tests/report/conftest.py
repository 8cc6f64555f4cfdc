"""A headless Chromium that opens reports from disk with networking off; tests that need it are skipped where it is not installed."""

from pathlib import Path

import pytest

from report.browsing import PATIENCE_S, Opened

CHROMIUM = Path("/usr/bin/chromium")


@pytest.fixture(scope="module")
def browser():
    if not CHROMIUM.exists():
        pytest.skip(f"{CHROMIUM} is not installed (apt-get install chromium): the report is not checked in a browser")
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: the report is not checked in a browser")
    with sync_api.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"], timeout=PATIENCE_S * 1000)
        yield started
        started.close()


@pytest.fixture
def opened(browser):
    contexts = []

    def open_(path, **options) -> Opened:
        context = browser.new_context(offline=True, **options)
        context.set_default_timeout(PATIENCE_S * 1000)
        contexts.append(context)
        page = context.new_page()
        found = Opened(page, [], [])
        page.route("**/*", lambda route: route.continue_() if route.request.url.startswith("file:") else route.abort())
        page.on("request", lambda request: found.requests.append(request.url))
        page.on("console", lambda message: found.problems.append(message.text) if message.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: found.problems.append(str(error)))
        page.goto(path.as_uri())
        page.bring_to_front()
        return found

    yield open_
    for context in contexts:
        context.close()
