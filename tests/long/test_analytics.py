"""A steps run of analytics workflows that is killed and given again."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from support.patience import HANGS_S, wait_until

COMMAND = str(Path(sys.executable).with_name("plimsoll"))


def test_a_run_that_was_killed_goes_on_with_the_levels_that_are_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    words = [
        "steps",
        "sas-analytics",
        "-t",
        "sas",
        "--over",
        "workflows=1,2",
        "--set",
        "rows=4000",
        "--set",
        "loops=1500",
        "--set",
        "memory=48MiB",
    ]
    run = subprocess.Popen([COMMAND, *words], cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_until((tmp_path / "sas" / "work" / "2" / "a.rows").exists, "the second level has begun")
    finally:
        run.kill()
        run.wait()
    ended = subprocess.run([COMMAND, *words, "--json"], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=HANGS_S)
    assert ended.returncode == 0, ended.stderr
    results = json.loads(ended.stdout)["results"]
    assert [len(result["engine"]["analytics"]["workflows"]) for result in results] == [1, 2]
    assert len({result["started"] for result in results}) == 2
    assert len(list((tmp_path / "results").iterdir())) == 1
    assert not (tmp_path / "sas").exists()
