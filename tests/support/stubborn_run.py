"""``plimsoll`` over a scripted engine that never ends after five intervals, whatever is asked of it; it shows each of them.

PYTHONPATH=tests python -m support.stubborn_run run small.toml -t null:
"""

from __future__ import annotations

import sys
import threading

from plimsoll.cli import main
from plimsoll.engine import block as block_engine
from plimsoll.reports import progress
from support.scripted_engine import Script, ScriptedEngine


def hang(index: int) -> None:
    """Wait for ever in the sixth interval."""
    if index == 4:
        threading.Event().wait()


progress.LINE_EVERY_S = 0.0
block_engine.native = lambda: ScriptedEngine(Script(on_interval=hang))  # type: ignore[assignment,return-value]
sys.exit(main(sys.argv[1:]))
