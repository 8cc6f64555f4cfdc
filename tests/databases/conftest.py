"""Places and servers for tests on real databases."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from plimsoll.engine import holding
from support.private_server import missing_server


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty directory that every user reaches, as the server's user has to; notes of servers go to a cache of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    made = Path(tempfile.mkdtemp(prefix="plimsoll-test-", dir="/tmp"))
    made.chmod(0o755)
    yield made
    shutil.rmtree(made, ignore_errors=True)


@pytest.fixture
def postgresql() -> None:
    """Skips where there is no server to test with."""
    if reason := missing_server():
        pytest.skip(reason)


@pytest.fixture
def held() -> Iterator[None]:
    """What is claimed stays claimed until the test ends, as in a run."""
    with holding():
        yield
