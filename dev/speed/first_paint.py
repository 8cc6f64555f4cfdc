"""Goal for the live page: with 10,000 stored points the list of runs is on the screen within a second.

The points are one measured point, again and again as hard links: in a hundred runs, and in a run each, which is the most that a list can be
asked for. A server is started for each round, and the page loaded three times in Chromium, each in a context of its own: the first load
reads the store. The time is that of the browser itself, from the beginning of navigation to the first contentful paint (Paint Timing);
when the rows were there stands beside it, to 5 ms.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from speed import process
from speed.row import Row, unmeasured
from speed.setting import Setting

POINTS = 10_000
GOAL_MS = 1000.0
LOADS = 3
CHROMIUM = "/usr/bin/chromium"
_PAINTED = """() => {
    const [entry] = performance.getEntriesByName('first-contentful-paint');
    return entry && document.querySelector('tr[data-run]') ? [entry.startTime, performance.now()] : null;
}"""


@dataclass(frozen=True)
class Paint:
    """Milliseconds to the first paint: of the first load of a server, and of the slowest later one."""

    first_ms: float
    later_ms: float
    #: When the rows of the first load were there.
    rows_ms: float


def rows(setting: Setting) -> list[Row]:
    """All goals of this group."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return [unmeasured("first paint", "playwright is not installed; pip install playwright")]
    if not Path(CHROMIUM).exists():
        return [unmeasured("first paint", f"{CHROMIUM} is not installed; apt-get install chromium")]
    with tempfile.TemporaryDirectory(prefix="plimsoll-bench-", dir="/var/tmp") as made, sync_playwright() as driver:
        stores = {f"{POINTS} points in {runs:,} runs": _store(setting, Path(made) / str(runs), runs) for runs in (100, POINTS)}
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        contestants = {name: partial(_painted, setting, browser, store) for name, store in stores.items()}
        found = setting.interleaved("first paint", contestants)
        browser.close()
    return [_row(name, paints) for name, paints in found.items()]


def _row(name: str, paints: list[Paint]) -> Row:
    first = [paint.first_ms for paint in paints]
    later = median(paint.later_ms for paint in paints)
    shown = median(paint.rows_ms for paint in paints)
    detail = f"first load of a server {min(first):.0f} to {max(first):.0f} ms, its rows {shown:.0f} ms; later loads {later:.0f} ms"
    return Row(f"live page, {name}", "at most", GOAL_MS, "ms to the first paint", median(first), detail)


def _painted(setting: Setting, browser: Any, store: Path, _round: int) -> Paint:
    command = [setting.plimsoll.command, "serve", "--out", str(store), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        address = server.stdout.readline().strip() if server.stdout else ""
        times = []
        for _ in range(LOADS):
            context = browser.new_context()
            page = context.new_page()
            page.goto(address)
            while (painted := page.evaluate(_PAINTED)) is None:
                page.wait_for_timeout(5)
            times.append(painted)
            context.close()
        server.terminate()
    return Paint(times[0][0], max(paint for paint, _ in times[1:]), times[0][1])


def _store(setting: Setting, store: Path, runs: int) -> Path:
    """A store with so many runs, and `POINTS` points altogether."""
    load = ["run", "random-read-4k", "--target", "queue:?service=exp:1ms", "--duration", "1s", "--warmup", "0s"]
    process.run([setting.plimsoll.command, *load, "--quiet", "--out", str(store)])
    (run,) = store.iterdir()
    (point,) = (run / "points").iterdir()
    (run / "report.html").unlink(missing_ok=True)
    for number in range(2, POINTS // runs + 1):
        shutil.copytree(point, run / "points" / f"{number:04d}-random-read-4k", copy_function=os.link)
    for number in range(1, runs):
        shutil.copytree(run, store / f"{run.name}-{number}", copy_function=os.link)
    return store
