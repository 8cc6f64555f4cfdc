"""Readers are tried in two processes of their own, from the beginning of a session on, in the time that the other tests leave.

Model: `PLIMSOLL_FUZZ_SECONDS` is the time for each reader, one second unless it is set; CI sets 60 (`dev/test.sh`). Half of it at least is
processor time. The tests that ask for the verdicts come last. When the first asks, nothing is left to wait for, so what has not begun yet
moves to two processes that yield to nobody: only root may give the first two their priority back.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor

import pytest

from fuzz.readers import READERS
from fuzz.trial import Trial, begin, begin_yielding, tried

SECONDS = float(os.environ.get("PLIMSOLL_FUZZ_SECONDS", "1"))
_PROCESSES = 2
_SESSION = pytest.StashKey["Trials"]()


def seconds_of(reader: str) -> float:
    """The time that a reader gets."""
    return SECONDS * READERS[reader].share


class Trials:
    """The verdicts on all readers that were asked for, as they come."""

    def __init__(self, readers: list[str]) -> None:
        self._pools = [_pool(begin_yielding)]
        self._verdicts = {name: self._pools[0].submit(tried, name, seconds_of(name)) for name in readers}

    def hurry(self) -> None:
        """Let what has not begun no longer yield to others."""
        waiting = [name for name, verdict in self._verdicts.items() if verdict.cancel()]
        if waiting:
            self._pools.append(_pool(begin))
            self._verdicts |= {name: self._pools[-1].submit(tried, name, seconds_of(name)) for name in waiting}

    def of(self, reader: str) -> Trial:
        """Wait for the verdict on one reader."""
        return self._verdicts[reader].result()

    def end(self) -> None:
        """Stop all that goes on."""
        for pool in self._pools:
            workers = list(pool._processes.values())
            pool.shutdown(wait=False, cancel_futures=True)
            for worker in workers:
                worker.terminate()


def _pool(initializer: Callable[[], None]) -> ProcessPoolExecutor:
    # Spawned, since threads of the other tests must not be forked.
    return ProcessPoolExecutor(_PROCESSES, multiprocessing.get_context("spawn"), initializer=initializer)


def _is_verdict(item: pytest.Item) -> bool:
    return "trials" in getattr(item, "fixturenames", ())


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=_is_verdict)


def pytest_collection_finish(session: pytest.Session) -> None:
    asked = [item.callspec.params["reader"] for item in session.items if _is_verdict(item)]  # type: ignore[attr-defined]
    if asked and not session.config.option.collectonly:
        session.stash[_SESSION] = Trials(asked)


def pytest_sessionfinish(session: pytest.Session) -> None:
    if _SESSION in session.stash:
        session.stash[_SESSION].end()


@pytest.fixture(scope="session")
def trials(request: pytest.FixtureRequest) -> Trials:
    """The verdicts on all readers."""
    found = request.session.stash[_SESSION]
    found.hurry()
    return found
