"""Job files as people write them, really run: on `null:` and on a file of a gibibyte, for a tenth of a second each."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from formats.fio_jobs import JOBS, REFUSED
from long.tally import Tally

COMMAND = str(Path(sys.executable).with_name("plimsoll"))
#: These go on until results say that they may end.
_ENDLESS = ("steadystate", "latency_target")
#: What ends otherwise, and rightly: nothing is found again on null:, and most devices have no queue that can be polled.
_OTHER_ENDS = {("write verified", "null:?size=1TiB"): {6}, ("polled", "made.dat"): {0, 4}}


def run(name: str, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    file = folder / "job.fio"
    file.write_text(JOBS[name])
    command = [COMMAND, "run", "-q", "-d", "100ms", "-w", "0s", *words, str(file)]
    return subprocess.run(command, cwd=folder, env=os.environ | {"DATA": "data"}, capture_output=True, text=True, timeout=600, check=False)


@pytest.mark.parametrize("target", ["null:?size=1TiB", "made.dat"])
def test_every_job_runs_on_the_typed_target(target: str, tmp_path: Path, tally: Tally) -> None:
    failed = []
    for name in sorted(JOBS.keys() - REFUSED):
        if any(word in JOBS[name] for word in _ENDLESS):
            continue
        ended = run(name, tmp_path, "-t", target, *(() if target.startswith("null:") else ("--size", "1GiB")))
        beyond = "its region ends at" in ended.stderr or "longer than the region" in ended.stderr
        expected = {2} if beyond else _OTHER_ENDS.get((name, target), {0})
        fine = ended.returncode in expected and "Traceback" not in ended.stderr
        tally.count(f"a job of fio on {target}", survived=fine, named=None)
        failed += [] if fine else [(name, ended.returncode, ended.stdout[-500:], ended.stderr[-500:])]
    assert failed == []


@pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed")
def test_fio_takes_every_job_too(tmp_path: Path) -> None:
    for name, text in JOBS.items():
        (tmp_path / "job.fio").write_text(text)
        ended = subprocess.run(["fio", "--parse-only", "job.fio"], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
        assert ended.returncode == 0, (name, ended.stderr)
