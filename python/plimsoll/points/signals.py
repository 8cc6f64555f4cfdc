"""Ctrl-C and SIGTERM for the time of a command: both are handed to one function, and what was there before comes back.

Model: a handler may interrupt any Python code, so it must not take a lock that the interrupted code may hold: it sets flags, writes to
descriptors, and calls what is safe from a signal handler.
Limits: Python hands signals to the main thread alone, so in any other nothing is handled.

    with handled(stop):
        ...
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def handled(on_signal: Callable[[], None]) -> Iterator[None]:
    """Call ``on_signal`` for every such signal until the block is left."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = [(number, signal.signal(number, lambda _number, _frame: on_signal())) for number in SIGNALS]
    try:
        yield
    finally:
        for number, handler in before:
            signal.signal(number, handler)
