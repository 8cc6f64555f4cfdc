"""The observer of requests and the process that runs job files with our engine, once for each process that tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from differential.observed import Worker, compiled


@pytest.fixture(scope="session")
def observer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(tmp_path_factory.mktemp("observer"))


@pytest.fixture(scope="session")
def worker(observer: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worker]:
    worker = Worker(tmp_path_factory.mktemp("ours"), observer)
    yield worker
    worker.close()
