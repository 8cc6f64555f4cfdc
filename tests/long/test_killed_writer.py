"""SIGKILL at any moment: the run is listed, readable, and marked incomplete."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from pathlib import Path
from random import Random

from long.settings import Scale
from plimsoll.store.reader import StoredRun, list_runs

KILLS = 50
WRITER = Path(__file__).parents[1] / "support" / "killed_writer.py"


def test_a_run_killed_at_any_moment_is_listed_and_readable(tmp_path: Path, draws: Random, scale: Scale) -> None:
    statuses = set()
    # With ten and more of them some kill hits the middle of a point.
    for kill in range(scale.times(KILLS, least=10)):
        out = tmp_path / f"results-{kill}"
        _write_and_kill(out, draws.uniform(0.0, 0.08))
        runs = list_runs(str(out))
        for run in runs:
            assert isinstance(run, StoredRun), run
            for point in run.points:
                result = point.result
                assert result.status in ("complete", "incomplete")
                assert len(list(point.intervals())) <= 8
                statuses.add((run.status, result.status))
        assert len(runs) >= 1
        assert all(isinstance(run, StoredRun) and run.status in ("complete", "incomplete") for run in runs)
        assert isinstance(runs[-1], StoredRun)
        if runs[-1].status == "complete":
            assert len(runs[-1].points) == 3, "the kill fell between two runs"
    assert ("incomplete", "incomplete") in statuses, "some kill must have hit the middle of a point"


def _write_and_kill(out: Path, seconds: float) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    writer = subprocess.Popen(_command(out), stdout=subprocess.PIPE, env=environment)
    assert writer.stdout is not None
    assert writer.stdout.readline() == b"begun\n"
    # Wait by watching for output that never comes to an end: the writer goes on meanwhile.
    deadline = _now() + seconds
    while (left := deadline - _now()) > 0:
        if select.select([writer.stdout], [], [], left)[0]:
            writer.stdout.readline()
    writer.send_signal(signal.SIGKILL)
    writer.wait()
    writer.stdout.close()


def _command(out: Path) -> list[str]:
    return [sys.executable, str(WRITER), str(out)]


def _now() -> float:
    import time

    return time.monotonic()
