"""What the system tests share: the installed command, run as its users run it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.patience import HANGS_S

COMMAND = str(Path(sys.executable).with_name("plimsoll"))


@pytest.fixture
def plimsoll(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run ``plimsoll ARGUMENTS`` in an empty directory and wait for it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([COMMAND, *arguments], check=False, capture_output=True, text=True, timeout=HANGS_S, env=dict(os.environ))

    return run


@pytest.fixture
def results(plimsoll: Callable[..., subprocess.CompletedProcess[str]]) -> Callable[..., list[dict[str, Any]]]:
    """Run ``plimsoll run ARGUMENTS --json`` and return the results."""

    def run(*arguments: str) -> list[dict[str, Any]]:
        ended = plimsoll("run", *arguments, "--json")
        assert ended.returncode == 0, ended.stderr
        document = json.loads(ended.stdout)
        return document["results"]

    return run
