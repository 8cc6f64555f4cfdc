"""Suites whose sides are layouts, when they are killed or stopped: nothing is left in the end.

Loop devices need root; elsewhere these tests say that they were skipped.
"""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path

from support.patience import HANGS_S
from system.test_layout_suites import Suite
from system.test_layouts import Site, pytestmark, site

__all__ = ["pytestmark", "site"]


def test_a_killed_suite_goes_on_and_takes_away_what_it_left(site: Site) -> None:
    suite = Suite(site, ("raid0", "raid1"), interleave=False)
    with subprocess.Popen(
        [*suite.words, suite.allowed], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=site.at, env=site.environment
    ) as running:
        assert running.stderr is not None
        for line in running.stderr:
            if line.startswith("[2/4]"):
                break
        running.send_signal(signal.SIGKILL)
    assert "left behind by" in site("list").stdout
    planned = suite(suite.allowed, "--dry-run")
    assert "was left behind by a killed run and would be taken away first" in planned.stderr
    assert str(site.point) in Path("/proc/self/mounts").read_text(), "a dry run takes nothing away"
    went_on = suite(suite.allowed)
    assert went_on.returncode == 0, went_on.stderr
    assert "taking away the layout 'raid0'" in went_on.stderr
    assert "1 point is there" in went_on.stderr
    made = [line.split(":")[0] for line in went_on.stderr.splitlines() if "[1/" in line and line.startswith("layout")]
    assert made == ["layout raid0", "layout raid1"], "each side is made once, and anew after the kill"
    site.nothing_is_left()
    (run,) = (site.at / "runs").iterdir()
    states = [json.loads(point.read_text())["status"] for point in sorted(run.glob("points/*/result.json"))]
    assert states.count("complete") == 4


def test_a_suite_that_is_stopped_takes_its_layout_away(site: Site) -> None:
    suite = Suite(site, ("raid0", "raid1"), interleave=False)
    with subprocess.Popen(
        [*suite.words, suite.allowed], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=site.at, env=site.environment
    ) as running:
        assert running.stderr is not None
        for line in running.stderr:
            # Between two steps of the first layout.
            if "[5/10]" in line:
                running.send_signal(signal.SIGINT)
                break
        said = running.stderr.read()
        assert running.wait(HANGS_S) == 130, said
    assert "left behind" not in site("list").stdout
    site.nothing_is_left()
