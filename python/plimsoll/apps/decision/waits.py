"""What sessions wait for while a test runs, asked four times a second beside it.

Model: the engine tells what each session is at; a share is that of all sessions over all moments. The first moment is the beginning.
Limits: engines whose sessions never wait for each other tell nothing: DuckDB and Spark undo a transaction that meets another one.

    with Waiting(database.waits, own_time) as waiting:
        ...
    waiting.shares()            # {"storage": 0.6, "processor": 0.3, "locks": 0.1}
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, suppress
from typing import Self

from plimsoll.errors import PlimsollError

_LOOK_S = 0.25


class Waiting:
    """Asks in a thread of its own, whose time is spent inside ``own_time``."""

    def __init__(self, ask: Callable[[], Mapping[str, int] | None], own_time: Callable[[], AbstractContextManager[None]]) -> None:
        self._ask = ask
        self._own_time = own_time
        self._seen: Counter[str] = Counter()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._work, name="plimsoll-waiting", daemon=True)

    def shares(self) -> dict[str, float] | None:
        """Of the time of sessions; None where nobody told, or nothing was asked at those moments."""
        total = self._seen.total()
        return {name: count / total for name, count in self._seen.most_common()} if total else None

    def _work(self) -> None:
        # A server that is gone tells nothing more; whoever asked it a query says so.
        with self._own_time(), suppress(PlimsollError):
            while (found := self._ask()) is not None:
                self._seen.update(found)
                if self._over.wait(_LOOK_S):
                    return

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
