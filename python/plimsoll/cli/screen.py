"""The terminal on stdout: how wide it is, whether it shows colours, and how painted text gets there.

Model: as wide as the terminal, or what the environment says in COLUMNS. Elsewhere results are as wide as they are, because who reads a file
can scroll, and lists are folded at 120. Colours are for terminals; NO_COLOR
turns them off, FORCE_COLOR on (https://no-color.org, https://force-color.org).

    say(table(rows, left=1, screen=screen()))
"""

from __future__ import annotations

import os
import shutil
import sys

import click

from plimsoll.cli.streams import bare
from plimsoll.displayed import displayed
from plimsoll.reports.terminal.screen import Screen, coloured

_ELSEWHERE = 120


def terminal_width() -> int:
    """Characters of a line on stdout."""
    return shutil.get_terminal_size((_ELSEWHERE, 24)).columns


def screen() -> Screen:
    """What is known of stdout."""
    known = sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdecimal()
    return Screen(terminal_width() if known else None, _shows_colours())


def say(text: str) -> None:
    """Print painted text on stdout; colours stay where the screen has them."""
    shown = displayed(text)
    painted = coloured(shown)
    if painted == shown:
        click.echo(shown)
    else:
        bare(sys.stdout).write(f"{painted}\n")


def _shows_colours() -> bool:
    if os.environ.get("NO_COLOR"):
        return False
    forced = os.environ.get("FORCE_COLOR")
    if forced is not None and forced not in ("", "0", "false"):
        return True
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
