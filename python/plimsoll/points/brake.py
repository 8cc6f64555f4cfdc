"""Ctrl-C and SIGTERM: the first stops issuing and keeps everything measured, the second leaves at once.

Model: whoever runs a program of our own asks for signals; a function that somebody else's program calls leaves them alone.

with Brake(listener.stopping) as brake:
    brake.guard(control)       # the job that a signal stops
    ...
    if brake.pulled: ...
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack

from plimsoll.engine.protocol import Control
from plimsoll.errors import EXIT_INTERRUPTED
from plimsoll.points.signals import handled


class Brake:
    """Signal handlers for the time of a run; ``stopping`` is called by the first signal. None leaves signals alone."""

    def __init__(self, stopping: Callable[[], None] | None = None) -> None:
        self.pulled = False
        self._stopping = stopping
        self._control: Control | None = None
        self._handled = ExitStack()

    def guard(self, control: Control) -> Control:
        """Make ``control`` the one that a signal stops; at once, if a signal came already."""
        self._control = control
        if self.pulled:
            control.stop()
        return control

    def __enter__(self) -> Brake:
        if self._stopping is not None:
            self._handled.enter_context(handled(self._pull))
        return self

    def __exit__(self, *_: object) -> None:
        self._handled.close()

    def _pull(self) -> None:
        if self.pulled:
            os._exit(EXIT_INTERRUPTED)
        self.pulled = True
        if self._stopping is not None:
            self._stopping()
        if self._control is not None:
            self._control.stop()
