"""Ctrl-C and SIGTERM: the first stops issuing and keeps everything measured, the second leaves at once.

with Brake() as brake:
    brake.guard(control)       # the job that a signal stops
    ...
    if brake.pulled: ...
"""

from __future__ import annotations

import os
import signal
from types import FrameType
from typing import Any

from plimsoll.engine import Control
from plimsoll.errors import EXIT_INTERRUPTED

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_NOTICE = b"\nplimsoll: stopping; what is in flight is awaited, what was measured is kept (again: leave at once)\n"


class Brake:
    """Signal handlers for the time of a run."""

    def __init__(self) -> None:
        self.pulled = False
        self._control: Control | None = None
        self._before: dict[int, Any] = {}

    def guard(self, control: Control) -> Control:
        """Make ``control`` the one that a signal stops; at once, if a signal came already."""
        self._control = control
        if self.pulled:
            control.stop()
        return control

    def __enter__(self) -> Brake:
        for number in _SIGNALS:
            self._before[number] = signal.signal(number, self._pull)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _pull(self, _number: int, _frame: FrameType | None) -> None:
        if self.pulled:
            os._exit(EXIT_INTERRUPTED)
        self.pulled = True
        os.write(2, _NOTICE)
        if self._control is not None:
            self._control.stop()
