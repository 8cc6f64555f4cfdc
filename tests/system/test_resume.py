"""Resuming as its users meet it: the command is killed once the store holds a finished point, and given again."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

from plimsoll.store.reader import StoredRun, list_runs
from support.patience import HANGS_S, first_fair
from system.conftest import COMMAND

Ended = subprocess.CompletedProcess[str]

TRACE = "".join(f"{128166372003061629 + 2500 * at},hm,0,Read,{at * 4096},4096,4000\n" for at in range(2000))
VIRTUAL = ("-t", "queue:?service=exp:1ms&size=16MiB")
VERBS = {
    "run": ("run", "random-read-4k", "random-write-4k", "sequential-read-128k", *VIRTUAL, "-d", "20s", "-w", "0s", "--repeat", "4"),
    "replay": ("replay", "hm.csv", *VIRTUAL, "-t", "queue:?service=exp:2ms&size=16MiB", "--repeat", "6"),
    "steps": ("steps", "random-read-4k", *VIRTUAL, "--over", "queue_depth=1,2,4", "-d", "20s", "-w", "0s", "--repeat", "4"),
}


def finished(out: Path) -> dict[Path, int]:
    """The results that the store holds, with the instant each was written."""
    return {path: path.stat().st_mtime_ns for path in out.glob("*/points/*/result.json")}


def killed_after_its_first_point(words: tuple[str, ...], out: Path) -> dict[Path, int]:
    """What the store holds of a command that was killed as soon as it held something."""
    process = subprocess.Popen([COMMAND, *words, "-q", "-o", str(out)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + HANGS_S
    while not finished(out) and process.poll() is None:
        assert time.monotonic() < deadline, "no point is finished"
        time.sleep(0.001)
    process.kill()
    process.wait()
    return finished(out)


def runs(out: Path) -> list[StoredRun]:
    return [run for run in list_runs(str(out)) if isinstance(run, StoredRun)]


@pytest.mark.parametrize("verb", VERBS)
def test_the_same_command_after_a_kill_measures_only_what_is_missing(plimsoll: Callable[..., Ended], tmp_path: Path, verb: str) -> None:
    (tmp_path / "hm.csv").write_text(TRACE)
    outs = (tmp_path / f"out-{number}" for number in count())
    # A machine that stands still lets the command end before it is killed.
    out = first_fair(
        lambda: next(out for out in outs if killed_after_its_first_point(VERBS[verb], out)), lambda out: runs(out)[0].status == "incomplete"
    )
    before = finished(out)
    again = plimsoll(*VERBS[verb], "-o", str(out))
    assert again.returncode == 0, again.stderr
    (run,) = runs(out)
    said = "1 point is" if len(before) == 1 else f"{len(before)} points are"
    assert f"resuming {run.path}: {said} there (--fresh starts anew)" in again.stderr
    assert (run.status, len(run.points)) == ("complete", 12)
    assert before.items() <= finished(out).items(), "what had been measured was measured again"
    repeats = [(point.result.job.workload, point.result.place["key"]) for point in run.points]
    assert len(set(repeats)) == 12


@pytest.mark.parametrize("verb", ["run", "replay"])
def test_fresh_starts_anew_beside_what_was_killed(plimsoll: Callable[..., Ended], tmp_path: Path, verb: str) -> None:
    (tmp_path / "hm.csv").write_text(TRACE)
    outs = (tmp_path / f"out-{number}" for number in count())
    out = first_fair(
        lambda: next(out for out in outs if killed_after_its_first_point(VERBS[verb], out)), lambda out: runs(out)[0].status == "incomplete"
    )
    again = plimsoll(*VERBS[verb], "-o", str(out), "--fresh", "-q")
    assert again.returncode == 0 and "resuming" not in again.stderr, again.stderr
    assert [run.status for run in runs(out)] == ["incomplete", "complete"]
    assert os.path.isdir(runs(out)[1].path)
