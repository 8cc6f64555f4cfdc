"""The report in windows of every size, light and dark: nothing is wider than the window, every chart is drawn. `make test` has one size."""

from __future__ import annotations

from pathlib import Path

import pytest

from long.settings import SCALE
from plimsoll.reports import html
from report import test_experiments_page, test_page
from report.browsing import DRAWN, scroll_through, show_charts
from report.conftest import browser, opened, tab

__all__ = ["browser", "opened", "tab"]

#: Its many points look like those of the other report.
SHOW = {"points": scroll_through, "experiments": show_charts}
#: Width and height: a telephone first, then a small one, a tablet, a notebook and a large screen.
SIZES = ((390, 844), (320, 568), (768, 1024), (1280, 720), (2560, 1440))


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("points")
    html.write(test_page.written_runs(folder), folder / "report.html")
    return {"points": folder / "report.html", "experiments": test_experiments_page.written_report(tmp_path_factory.mktemp("experiments"))}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES[: SCALE.times(len(SIZES))], ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("name", SHOW)
def test_a_page_never_scrolls_sideways(reports, opened, name, size, scheme) -> None:
    width, height = size
    found = opened(reports[name], viewport={"width": width, "height": height}, color_scheme=scheme)
    SHOW[name](found.page)
    assert found.page.evaluate("document.documentElement.scrollWidth") == width
    too_wide = (
        "[...document.querySelectorAll('.chart svg, .chart canvas')]"
        f".filter(drawn => drawn.getBoundingClientRect().right > {width + 1}).length"
    )
    assert found.page.evaluate(too_wide) == 0
    assert [chart for chart in found.page.evaluate(DRAWN) if chart["marks"] == 0] == []
    assert found.problems == []
