"""What a run shows while it goes on, chosen by where it is shown.

progress(quiet=False)        # the live view on a terminal
"""

from __future__ import annotations

import sys

from plimsoll.cli.streams import bare
from plimsoll.reports.progress import FailuresOnly, PlainLines, Progress


def progress(*, quiet: bool = False) -> Progress:
    """The live view on a terminal, lines elsewhere; only failures when it shall be quiet."""
    if quiet:
        return FailuresOnly(sys.stderr)
    if sys.stderr.isatty():
        from plimsoll.reports.live import LiveView

        return LiveView(bare(sys.stderr))
    return PlainLines(sys.stderr)
