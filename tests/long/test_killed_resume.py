"""Runs that are killed at random moments again and again until one comes to its end have the points of one that was not killed."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import pytest

from long.settings import Scale
from plimsoll.store.reader import StoredRun, list_runs
from support.patience import first_fair
from unit.conftest import WORKLOAD

KILLS = 20


def _run(out: str) -> StoredRun | None:
    found = list_runs(out)
    assert all(isinstance(run, StoredRun) for run in found)
    return next((run for run in found if isinstance(run, StoredRun)), None)


class Killed:
    """The command in processes of its own, killed at random moments until one comes to its end."""

    WORDS = ("steps", "small.toml", "-t", "queue:?service=exp:1ms", "--over", "queue_depth=1..16", "--repeat", "2", "-d", "20s", "-w", "0")

    def __init__(self, out: Path) -> None:
        self.out = str(out)
        self._environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}

    def start(self, *more: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "plimsoll", *self.WORDS, "-o", self.out, "--report", "r.json", *more]
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=self._environment)

    def ended(self) -> bool:
        """Whether the run has all its points; it may have been killed while it wrote its report."""
        run = _run(self.out)
        return run is not None and run.status == "complete"

    def measured(self) -> dict[str, Any]:
        run = _run(self.out)
        assert run is not None and len(list_runs(self.out)) == 1
        return {point.result.place["key"]: (point.result.status, point.result.totals) for point in run.points}

    def torn(self) -> int:
        run = _run(self.out)
        assert run is not None
        superseded = Path(run.path, "superseded")
        return len(list(superseded.iterdir())) if superseded.exists() else 0


def killed_at_random(here: Path, moments: Random, kills_min: int) -> int:
    """Kill runs at so many moments, each of which must end with the points of one that was not killed; how many points were torn."""
    here.mkdir()
    whole = Killed(here / "whole")
    begun_s = time.monotonic()
    assert whole.start().wait() == 0
    whole_s = time.monotonic() - begun_s
    expected = whole.measured()
    assert len(expected) == 10
    kills = torn = rounds = 0
    while kills < kills_min:
        rounds += 1
        killed = Killed(here / f"killed-{rounds}")
        while not killed.ended():
            begun_s, fresh = time.monotonic(), not Path(killed.out).exists()
            process = killed.start()
            try:
                assert process.wait(timeout=whole_s * moments.uniform(0.15, 0.95) if kills < kills_min else None) == 0
                # Kills come while a run would go on, however slow this machine was when it was not killed.
                whole_s = min(whole_s, time.monotonic() - begun_s) if fresh else whole_s
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                kills += 1
        assert killed.measured() == expected
        torn += killed.torn()
    return torn


def test_runs_killed_at_random_moments_end_with_the_points_of_one_that_was_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, draws: Random, scale: Scale
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "small.toml").write_text(WORKLOAD)
    batches, kills_min = count(), scale.times(KILLS, least=5)
    # Some kill must have hit the middle of a point; on a machine that slows down meanwhile all of them come before the first.
    first_fair(lambda: killed_at_random(tmp_path / f"batch-{next(batches)}", draws, kills_min), lambda torn: torn > 0)
