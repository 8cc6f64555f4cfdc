"""Where a word of a job file stands: for messages the file it stands in, for remarks the line of the file that was asked about.

Model: an included file has lines of its own. A message names that file and its line; a remark belongs to the ``include`` line of the file
that is translated, and says the other place in its text.

    Place("job.fio", 12).wrong("'bs=4.5k' is not a size")     # InputError: job.fio:12: 'bs=4.5k' is not a size
"""

from __future__ import annotations

from dataclasses import dataclass

from plimsoll.errors import InputError


@dataclass(frozen=True)
class Place:
    """A line of a file; on a command line there is no line. ``outer`` is the line of the outermost file."""

    source: str
    line: int | None
    outer: int | None = None

    def wrong(self, problem: object) -> InputError:
        """The error to raise: one sentence that begins with the place."""
        where = self.source if self.line is None else f"{self.source}:{self.line}"
        return InputError(f"{where}: {problem}")

    @property
    def remark_line(self) -> int | None:
        """The line that a remark carries."""
        return self.line if self.outer is None else self.outer

    @property
    def suffix(self) -> str:
        """What a remark's text adds to say that it stands in an included file."""
        return "" if self.outer is None else f" ({self.source}:{self.line})"
