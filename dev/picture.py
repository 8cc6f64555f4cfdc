"""Takes the picture of README: the beginning of the tutorial's report, in headless Chromium, 1,200 pixels wide.

.venv/bin/plimsoll ramp oltp-db --over queue_depth=1..128 --objective 'mean <= 20ms' --label 'RAID 10 or RAID 5' \\
    -t 'RAID 10=array:msa50-sas-10k-raid10-10' -t 'RAID 5=array:msa50-sas-10k-raid5-10'
.venv/bin/plimsoll report latest --output report.html
.venv/bin/python dev/picture.py report.html
"""

from __future__ import annotations

import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

OUT = Path(__file__).resolve().parents[1] / "docs" / "picture-report.png"
CHROMIUM = "/usr/bin/chromium"
SIZE = {"width": 1200, "height": 1840}


def main(report: Path) -> None:
    """Write the picture of ``report``."""
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport=SIZE, color_scheme="light")
        page.goto(report.resolve().as_uri())
        page.wait_for_timeout(1500)
        page.screenshot(path=str(OUT))
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
