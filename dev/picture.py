"""Takes the picture of README: the comparison of a report, in headless Chromium, 1,200 pixels wide.

.venv/bin/plimsoll suite proliant-generations --quick --keep --label 'queue depth 1'
.venv/bin/plimsoll suite proliant-generations --quick --set queue_depth=8 --label 'queue depth 8'
.venv/bin/plimsoll compare RUN-1 RUN-8 --varying queue_depth --output comparison.html
.venv/bin/python dev/picture.py comparison.html
"""

from __future__ import annotations

import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

OUT = Path(__file__).resolve().parents[1] / "docs" / "picture-report.png"
CHROMIUM = "/usr/bin/chromium"
SIZE = {"width": 1200, "height": 1500}


def main(report: Path) -> None:
    """Write the picture of ``report``."""
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport=SIZE, color_scheme="light")
        page.goto(report.resolve().as_uri())
        page.locator("#comparison").scroll_into_view_if_needed()
        page.wait_for_timeout(1500)
        page.screenshot(path=str(OUT))
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
