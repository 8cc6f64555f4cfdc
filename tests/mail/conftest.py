"""Places for tests on real mail servers."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from plimsoll.apps.mail.programs import programs
from plimsoll.errors import PlimsollError


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty directory that every user reaches, as the servers' user has to; notes of servers go to a cache of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    made = Path(tempfile.mkdtemp(prefix="plimsoll-test-", dir="/tmp"))
    made.chmod(0o755)
    yield made
    shutil.rmtree(made, ignore_errors=True)


@pytest.fixture
def mail_server() -> None:
    """Skips where there is no server to test with."""
    try:
        programs()
    except PlimsollError as missing:
        pytest.skip(str(missing))
