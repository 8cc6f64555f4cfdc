"""Where in another tool's file or command line something stands: the beginning of every sentence about it.

Model: ``FILE:LINE: sentence``; lines count from 1, words of a command line too.

    Place("load.icf", 12).wrong("the ramp-up time is 'x', not a number of seconds; write for example 15.")
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

from plimsoll.errors import InputError


@dataclass(frozen=True)
class Place:
    """A line of a file; the whole file, or a command line, where ``line`` is None."""

    source: str
    line: int | None = None

    def at(self, line: int | None) -> Self:
        """Another line of the same file."""
        return replace(self, line=line)

    def wrong(self, problem: object, word: int | None = None) -> InputError:
        """The error to raise: one sentence that begins with the place, and with the word of the command line where one is given."""
        where = self.source if self.line is None else f"{self.source}:{self.line}"
        return InputError(f"{where}: {'' if word is None else f'word {word}: '}{problem}")
