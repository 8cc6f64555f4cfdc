"""What a run shows while it goes on, chosen by where it is shown.

listener(quiet=False).progress        # the live view on a terminal
"""

from __future__ import annotations

import os
import sys

import click

from plimsoll.cli.streams import bare
from plimsoll.points.listener import Listener, Progress
from plimsoll.reports.progress import FailuresOnly, PlainLines

_STOPPING = b"\nplimsoll: stopping; what is in flight is awaited, what was measured is kept (again: leave at once)\n"


def listener(*, quiet: bool = False) -> Listener:
    """Shows stages and remarks on stderr."""
    return Listener(progress(quiet=quiet), lambda sentence: click.echo(sentence, err=True), _say_stopping)


def progress(*, quiet: bool = False) -> Progress:
    """The live view on a terminal, lines elsewhere; only failures when it shall be quiet."""
    if quiet:
        return FailuresOnly(sys.stderr)
    if sys.stderr.isatty():
        from plimsoll.reports.live import LiveView

        return LiveView(bare(sys.stderr))
    return PlainLines(sys.stderr)


def _say_stopping() -> None:
    # From a signal handler: no lock may be taken.
    os.write(2, _STOPPING)
