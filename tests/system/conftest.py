"""What the system tests share: the installed command, run as its users run it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from support.commands import Commands

COMMAND = str(Path(sys.executable).with_name("plimsoll"))


@pytest.fixture(scope="session")
def commands(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Commands]:
    """What commands are forked from."""
    with Commands(tmp_path_factory.mktemp("streams")) as running:
        yield running


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What Plimsoll keeps of this machine, which is measured once."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def plimsoll(
    commands: Commands, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run ``plimsoll ARGUMENTS`` in an empty directory and wait for it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return commands.run(arguments)

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
