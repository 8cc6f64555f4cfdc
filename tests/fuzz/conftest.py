"""Each reader is tried in a process of its own, which a text that asks for all memory or for all time may end.

Model: `PLIMSOLL_FUZZ_SECONDS` is the time for each reader, one second unless it is set; the long suite gives a minute
(`tests/long/test_fuzz.py`). Half of it at least is processor time.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest

from fuzz.readers import READERS
from fuzz.trial import Trial, begin, tried

SECONDS = float(os.environ.get("PLIMSOLL_FUZZ_SECONDS", "1"))


def seconds_of(reader: str) -> float:
    """The time that a reader gets."""
    return SECONDS * READERS[reader].share


@pytest.fixture(scope="session")
def trial_of() -> Iterator[Callable[[str], Trial]]:
    """Tries one reader; spawned, since threads of the other tests must not be forked."""
    with ProcessPoolExecutor(1, get_context("spawn"), initializer=begin) as pool:
        yield lambda reader: pool.submit(tried, reader, seconds_of(reader)).result()
