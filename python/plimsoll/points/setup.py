"""What all points of a run share: engine, store, listener, host, and what may be done to targets.

Setup(engine, run, listener, host, total=12)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from plimsoll.engine import Engine, Json
from plimsoll.points.listener import Listener, Progress
from plimsoll.result import Result
from plimsoll.store.writer import RunWriter
from plimsoll.stored import HostFacts


@dataclass(frozen=True)
class Setup:
    """See the module. ``total`` is None when results decide how many there will be."""

    engine: Engine
    run: RunWriter
    listener: Listener
    host: HostFacts
    permission: Json | None = None
    keep: bool = False
    total: int | None = None
    stored: Sequence[Result] = ()

    @property
    def progress(self) -> Progress:
        """Who hears of the stages."""
        return self.listener.progress
