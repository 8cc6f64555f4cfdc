"""How the tests of the page look at it: waiting, scrolling, and reading what was drawn."""

from __future__ import annotations

import base64
import json
import time
import zlib
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

PATIENCE_S = 180
CHROMIUM = Path("/usr/bin/chromium")


class _Kept:
    """The browser of this process: started when the first test asks for it, and kept for the next file, since a start takes a second of the
    processor."""

    def __init__(self) -> None:
        self._all = ExitStack()
        self._browser = None

    def browser(self):
        """A headless Chromium; skips the test where it is not installed."""
        if self._browser is None:
            if not CHROMIUM.exists():
                pytest.skip(f"{CHROMIUM} is not installed (apt-get install chromium): pages are not checked in a browser")
            sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pages are not checked in a browser")
            driver = self._all.enter_context(sync_api.sync_playwright())
            self._browser = driver.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"], timeout=PATIENCE_S * 1000)
            self._all.callback(self._browser.close)
        return self._browser

    def close(self) -> None:
        """Away with it, so that tests after it may have an event loop of their own: that of the browser runs as long as it is open."""
        self._browser = None
        self._all.close()


KEPT = _Kept()


@dataclass
class Opened:
    """A report open in a browser, with everything that went wrong in it."""

    page: object
    problems: list[str]
    requests: list[str]


class Tab:
    """A tab of a browser; between two tests it is as it was at first: nothing loaded, the same size, light and on the screen."""

    def __init__(self, browser, **options):
        self._context = browser.new_context(offline=True, **options)
        self._context.set_default_timeout(PATIENCE_S * 1000)
        self._page = self._context.new_page()
        self._size = self._page.viewport_size
        self._found = Opened(self._page, [], [])
        self.is_free = True
        page = self._page
        page.route("**/*", lambda route: route.continue_() if route.request.url.startswith("file:") else route.abort())
        page.on("request", lambda request: self._found.requests.append(request.url))
        page.on("console", lambda message: self._found.problems.append(message.text) if message.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: self._found.problems.append(str(error)))

    def open(self, path) -> Opened:
        """A report that is drawn."""
        self.is_free = False
        self._found = Opened(self._page, [], [])
        self._page.goto(path.as_uri())
        self._page.bring_to_front()
        # The answer is painted first, the rest is built then.
        until(self._page, "document.documentElement.dataset.complete === 'true'")
        return self._found

    def clear(self):
        """Ready for the next test."""
        if not self.is_free:
            self._page.goto("about:blank")
            self._page.emulate_media(media="null", color_scheme="null")
            self._page.set_viewport_size(self._size)
            self._page.mouse.move(0, 0)
            self.is_free = True

    def close(self):
        """Away with it."""
        self._context.close()


def until(page, condition, argument=None):
    """Wait until the page says so. Playwright's own waiting evaluates text inside the page, which the page's policy forbids."""
    deadline = time.monotonic() + PATIENCE_S
    waits = pauses_ms()
    while not page.evaluate(condition, argument):
        assert time.monotonic() < deadline, f"never became true: {condition}"
        page.wait_for_timeout(next(waits))


def pauses_ms():
    """How long to wait before looking again: each look costs three processes some milliseconds of the time that the page needs itself."""
    pause = 5
    while True:
        yield pause
        pause = min(2 * pause, 80)


_BROUGHT_NEAR = """chart => {
    if (!chart.dataset.marks) chart.scrollIntoView();
    return Boolean(chart.dataset.marks);
}"""


def bring_near(chart):
    """Scroll to a chart until it is drawn: again if what is drawn before it has pushed it away."""
    until(chart.page, _BROUGHT_NEAR, chart.element_handle())


def unfold(page):
    """Open the sections that a long report keeps folded."""
    page.evaluate("document.querySelectorAll('details.part').forEach(part => { part.open = true })")


def show_charts(page):
    """Bring every chart that is there near the screen once."""
    unfold(page)
    for chart in page.locator(".chart").all():
        bring_near(chart)


def scroll_through(page):
    """Open every point and bring every chart near the screen once."""
    page.evaluate("document.querySelectorAll('details.point').forEach(point => { point.open = true })")
    until(page, "[...document.querySelectorAll('details.point')].every(point => point.querySelector('.body'))")
    show_charts(page)


def open_point(point):
    """Open a point as a reader does and wait for what is inside: the page builds it after the click has returned."""
    point.locator("summary").first.click()
    point.locator(".body").wait_for()


def show_numbers(figure):
    """Open the table under a figure and wait for its rows; the chart is drawn first, since that moves what stands below."""
    bring_near(figure.locator(".chart"))
    figure.locator("details.data > summary").click()
    figure.locator("tbody tr").first.wait_for()


def tip_over(chart, text):
    """Move the mouse over a chart until a tip with this text is shown: what is drawn meanwhile may push the chart away from the mouse."""
    deadline = time.monotonic() + PATIENCE_S
    tip = chart.page.locator(".tip", has_text=text)
    waits = pauses_ms()
    while True:
        for x in (20, 21):
            chart.hover(position={"x": x, "y": 40})
        if tip.is_visible():
            return tip
        assert time.monotonic() < deadline, f"no tip said {text!r}"
        chart.page.wait_for_timeout(next(waits))


DRAWN = """() => [...document.querySelectorAll('.chart')].map(chart => {
    const canvas = chart.querySelector('canvas');
    const colours = new Set();
    if (canvas) {
        const pixels = new Uint32Array(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.buffer);
        pixels.forEach(pixel => colours.add(pixel));
    }
    const shapes = [...chart.querySelectorAll('svg path')].filter(path => path.getBBox().width + path.getBBox().height > 0);
    return { name: chart.getAttribute('aria-label'), marks: Number(chart.dataset.marks), shapes: canvas ? colours.size : shapes.length };
})"""


def read_model(path: Path):
    text = path.read_text()
    element = text.split('id="data"', 1)[1].split("</script>", 1)[0]
    attributes, _, data = element.partition(">")
    return json.loads(zlib.decompress(base64.b64decode(data), -zlib.MAX_WBITS) if "data-length" in attributes else data)
