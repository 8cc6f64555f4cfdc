"""``--live`` and ``--otlp``: a process beside the run that shows it, or sends its metrics (`plimsoll.web.companion`).

Model: it is started once the run has its directory, and before anything is measured, so that its start takes nothing from the first point.
Ctrl-C does not reach it: it ends with the run.

    with beside(Beside(live=True)) as begun:
        carry_out(undertaking, asked, replace(listener, begun=begun))
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec

import click

from plimsoll.errors import InputError
from plimsoll.near import listed

#: What the extra brings that a page on this machine needs.
_NEEDED = ("starlette", "uvicorn")
#: It is ready within so many seconds, and gone so many after the run, or left behind.
_READY_S = 30.0
_GONE_S = 20.0


@dataclass(frozen=True)
class Beside:
    """What was typed."""

    live: bool = False
    otlp: str | None = None

    def check(self) -> None:
        """Raise `InputError` for what cannot be done, before anything is measured."""
        missing = [name for name in _NEEDED if self.live and find_spec(name) is None]
        if missing:
            raise InputError(f"--live needs {listed(missing, 'and')}; install plimsoll[serve].")
        if self.otlp is not None:
            from plimsoll.metrics.collector import collector

            collector(self.otlp)


@contextmanager
def beside(asked: Beside) -> Iterator[Callable[[str], None]]:
    """What is to be called with the run's directory; the process has ended when the block is left."""
    started: list[subprocess.Popen[str]] = []

    def begun(path: str) -> None:
        document = {"path": os.path.abspath(path), "live": asked.live, "otlp": asked.otlp}
        command = [sys.executable, "-m", "plimsoll.web.companion"]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True)
        started.append(process)
        if process.stdin is not None:
            with process.stdin:
                process.stdin.write(json.dumps(document))
        address = _first_line(process)
        if address is None:
            click.echo("plimsoll: what --live and --otlp ask for could not be started; the run goes on without.", err=True)
        elif asked.live:
            click.echo(f"live: {address}", err=True)

    try:
        yield begun
    finally:
        for process in started:
            _ended(process)


def _first_line(process: subprocess.Popen[str]) -> str | None:
    """What it says as soon as it is ready; None when it is not."""
    if process.stdout is None or not select.select([process.stdout], [], [], _READY_S)[0]:
        return None
    line = process.stdout.readline()
    return line.strip() if line.endswith("\n") else None


def _ended(process: subprocess.Popen[str]) -> None:
    try:
        process.wait(_GONE_S)
    except subprocess.TimeoutExpired:
        process.terminate()
        process.wait()
    finally:
        if process.stdout is not None:
            process.stdout.close()
