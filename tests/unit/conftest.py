"""What the unit tests share: a scripted engine behind the command line, and a place for every file they write."""

from __future__ import annotations

from pathlib import Path

import pytest

from plimsoll.engine import block as block_engine
from support.said import Plimsoll, in_this_process
from support.scripted_engine import ScriptedEngine

WORKLOAD = """
title = "Small"
group = "random"
purpose = "A test"

[[stream]]
name = "main"
block_size = "4KiB"
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory with one workload file, and a cache of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "small.toml").write_text(WORKLOAD)
    return tmp_path


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch, here: Path) -> ScriptedEngine:
    """The engine that the command line finds."""
    scripted = ScriptedEngine()
    monkeypatch.setattr(block_engine, "native", lambda: scripted)
    # What others do on this host is no matter of a scripted engine.
    monkeypatch.setattr("plimsoll.doctor.look.quick_look", lambda facts, others: "")
    return scripted


@pytest.fixture
def plimsoll(engine: ScriptedEngine, capsys: pytest.CaptureFixture[str]) -> Plimsoll:
    """Runs a command in this process."""
    return in_this_process(capsys)
