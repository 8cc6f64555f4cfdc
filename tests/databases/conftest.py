"""Places and servers for tests on real databases."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest

from plimsoll.engine.claims import holding
from support.private_server import copied_data, missing_server
from support.reachable import reachable_place


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty directory that every user reaches, as the server's user has to; notes of servers go to a cache of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with reachable_place() as made:
        yield made


@pytest.fixture(scope="session", autouse=True)
def data() -> Iterator[None]:
    """What initdb makes is made once and copied: but for `test_data_are_made_where_the_server_is_to_work` this is about other things."""
    with nullcontext() if missing_server() else copied_data():
        yield


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
