"""Analytics workflows from 1 to 16, killed in the middle and resumed: every level is there once, and nothing is left behind.

Model: the command is killed by SIGKILL as soon as some points are stored, wherever it is then; the same command goes on. What its workflows
left is for the next command to remove.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

from long.conftest import COMMAND
from support.patience import wait_until

LEVELS = [1, 2, 4, 8, 16]
SCALE = ("scale", "sas-analytics", "--over", "workflows=1..16", "--iterations", "2", "-t", "wf", "--json")
SMALL = ("--set", "rows=20000", "--set", "loops=50", "--set", "memory=48MiB", "--set", "interval=250ms")


def started(here: Path) -> subprocess.Popen[str]:
    environment = {**os.environ, "XDG_CACHE_HOME": str(here / "cache")}
    words = [COMMAND, *SCALE, *SMALL]
    return subprocess.Popen(words, cwd=here, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def stored(here: Path) -> list[dict[str, Any]]:
    """The points that have come to their end."""
    found = [json.loads(path.read_text()) for path in sorted((here / "results").glob("*/points/*/result.json"))]
    return [result for result in found if result["status"] == "complete"]


def test_a_run_over_sixteen_levels_that_was_killed_goes_on_and_leaves_nothing(tmp_path: Path) -> None:
    first = started(tmp_path)
    wait_until(lambda: len(stored(tmp_path)) >= 3, "three points are stored")
    kept = [result["started"] for result in stored(tmp_path)]
    os.kill(first.pid, signal.SIGKILL)
    first.communicate()
    second = started(tmp_path)
    out, said = second.communicate(timeout=600)
    assert second.returncode == 0, said
    assert len(list((tmp_path / "results").iterdir())) == 1, "the run goes on in its own directory"
    document = json.loads(out)
    results = document["results"]
    assert [result["place"]["level"] for result in results] == LEVELS * 2
    assert [result["started"] for result in results][: len(kept)] == kept, "what was measured before is not measured again"
    (side,) = document["analytics"]["sides"]
    assert [(level["workflows"], len(level["iterations"]), level["failed"]) for level in side["levels"]] == [(n, 2, 0) for n in LEVELS]
    for result in results:
        # Sixteen processes that compute cannot take less than the processor time of their steps over the processors there are. That of the
        # whole processes has their start and their end as well, and is more.
        (iteration,) = result["engine"]["analytics"]["iterations"]
        steps = [step for workflow in result["engine"]["analytics"]["workflows"] for step in workflow["steps"]]
        computed_s = sum(step["user_s"] + step["system_s"] for step in steps)
        assert iteration["real_s"] * (os.cpu_count() or 1) >= 0.9 * computed_s
        assert iteration["cpu_s"] > computed_s > 0
    for level in side["levels"]:
        assert level["total_cpu_s"] > 0.9 * level["workflow_cpu_s"] * level["workflows"]
    assert side["levels"][0]["stretch"] == 1.0 and side["fit"] is not None
    assert not (tmp_path / "wf").exists()


def test_both_phases_of_the_io_test_are_resumed_after_a_kill(tmp_path: Path) -> None:
    words = [COMMAND, "suite", "sas-iotest", "--quick", "--size", "64MiB", "--set", "streams=2", "--repeat", "3", "-t", "io", "--json"]
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    first = subprocess.Popen(words, cwd=tmp_path, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_until(lambda: bool(stored(tmp_path)), "a point is stored")
    first.kill()
    first.wait()
    done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert [result["job"]["workload"] for result in document["results"]] == ["sas-iotest-write"] * 3 + ["sas-iotest-read"] * 3
    (found,) = document["io_test"]
    assert (found["write"]["repeats"], found["read"]["repeats"]) == (3, 3)
    assert not (tmp_path / "io").exists()
