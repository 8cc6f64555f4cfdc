"""Where in a file something stands: the beginning of every sentence about it.

Model: ``FILE:LINE: sentence``; lines count from 1.

    Place("load.icf").wrong(12, "the ramp-up time is 'x', not a number of seconds; write for example 15.")
"""

from __future__ import annotations

from dataclasses import dataclass

from plimsoll.errors import InputError


@dataclass(frozen=True)
class Place:
    """The file whose lines are spoken of."""

    source: str

    def wrong(self, line: int, problem: str) -> InputError:
        """The error that ``problem`` on ``line`` is."""
        return InputError(f"{self.source}:{line}: {problem}")
