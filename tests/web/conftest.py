"""Servers of the live page as the command starts them, and a browser for it."""

import pytest

from report.browsing import KEPT
from web.served import served


@pytest.fixture(scope="module")
def browser():
    return KEPT.browser()


@pytest.fixture
def serve():
    """`plimsoll serve` on a store; ended with the test."""
    started = []

    def start(store, *words):
        started.append(served(store, *words))
        return started[-1]

    yield start
    for one in started:
        one.stop()
