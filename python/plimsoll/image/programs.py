"""How the live image carries commands out: every step is a program of its own, and what it says is heard line by line.

Processes().run(["plimsoll", "doctor"], print)
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence
from typing import Protocol

from plimsoll.displayed import displayed_in_line

Heard = Callable[[str], None]


class Programs(Protocol):
    """How commands are carried out."""

    def run(self, words: Sequence[str], heard: Heard) -> int:
        """Each line that it says is ``heard``; its exit code, negative where a signal ended it."""

    def output(self, words: Sequence[str]) -> str:
        """What it says on stdout."""


class Processes:
    """As processes of this machine."""

    def run(self, words: Sequence[str], heard: Heard) -> int:
        with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
            assert process.stdout is not None
            for line in process.stdout:
                heard(displayed_in_line(line.decode("utf-8", "replace").rstrip("\r\n")))
            return process.wait()

    def output(self, words: Sequence[str]) -> str:
        return subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, check=False).stdout.decode("utf-8", "replace")
