"""Reports opened from disk in a headless Chromium with networking off; tests that need it are skipped where it is not installed."""

import pytest

from report.browsing import KEPT, Opened, Tab


@pytest.fixture(scope="module")
def browser():
    return KEPT.browser()


@pytest.fixture(scope="module")
def tab(browser):
    """What the tests of a file look through one after the other, since a new tab takes twice as long as a report in it."""
    found = Tab(browser)
    yield found
    found.close()


@pytest.fixture
def opened(browser, tab):
    others = []

    def open_(path, **options) -> Opened:
        if tab.is_free and not options:
            return tab.open(path)
        others.append(Tab(browser, **options))
        return others[-1].open(path)

    yield open_
    tab.clear()
    for other in others:
        other.close()
