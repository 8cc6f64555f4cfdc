"""Takes the picture of README: the upper part of a run's report in headless Chromium, 1,200 pixels wide.

.venv/bin/plimsoll run proliant
.venv/bin/python dev/picture.py results/RUN
"""

from __future__ import annotations

import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

OUT = Path(__file__).resolve().parents[1] / "docs" / "picture-report.png"
CHROMIUM = "/usr/bin/chromium"
SIZE = {"width": 1200, "height": 1350}


def main(run: Path) -> None:
    """Write the picture of ``run``'s report."""
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport=SIZE, color_scheme="light")
        page.goto((run / "report.html").resolve().as_uri())
        page.wait_for_timeout(1500)
        page.screenshot(path=str(OUT))
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
