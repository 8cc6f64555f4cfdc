"""Tests that do not run side by side are handed to one process."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from support.patience import HANGS_S

ROOT = Path(__file__).parents[1]
#: Of two files that measure in real time; these two tests take no time.
MEASURING = (
    "tests/system/test_catalog.py::test_equal_seeds_issue_the_recorded_requests_of_every_shipped_workload",
    "tests/system/test_files.py::test_equal_seeds_draw_the_recorded_operations_of_every_shipped_workload_of_files",
)


def test_tests_that_measure_are_handed_to_one_of_two_processes(tmp_path: Path) -> None:
    # A new pytest let the groups of pytest-xdist be without effect, and everything ran side by side.
    command = [sys.executable, "-m", "pytest", "-vv", "--numprocesses=2", f"--basetemp={tmp_path / 'own'}", *MEASURING]
    ran = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True, timeout=HANGS_S)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    found = re.findall(r"\[(gw\d)\].* PASSED (\S+)", ran.stdout)
    assert sorted(name for _, name in found) == sorted(MEASURING)
    assert len({process for process, _ in found}) == 1
    assert re.search(r"^ +\d+\.\d +\d+\.\d +2 tests/system$", ran.stdout, re.MULTILINE), "what they cost is told"
