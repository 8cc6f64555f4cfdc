"""One ``keyword=value`` of a parameter file, with the place where it stands.

Model: a value is one word or a list of words in parentheses; a word knows whether it was quoted, since quotes protect blanks, commas,
equals signs and dashes.

    Parameter(Place("job", 3), "xfersize", (Word("4k"),), listed=False, text="xfersize=4k", column=9)
"""

from __future__ import annotations

from dataclasses import dataclass

from plimsoll.errors import InputError
from plimsoll.formats.place import Place as PlaceInFile


@dataclass(frozen=True)
class Place(PlaceInFile):
    """A line: of the file itself, or of one that line ``origin`` of it includes.

    Of several files on one command line, ``file`` counts; their origin is 0. The command line itself has no line.
    """

    origin: int = 0
    included: str | None = None
    file: int = 0

    @property
    def order(self) -> tuple[int, int, int]:
        """Where it stands among all others."""
        return (self.file, self.origin, self.line or 0)


@dataclass(frozen=True)
class Word:
    """One value."""

    text: str
    quoted: bool = False


@dataclass(frozen=True, eq=False)
class Parameter:
    """A keyword with its values. Two parameters are the same only if they are the same one: each place in a file counts by itself."""

    place: Place
    keyword: str
    values: tuple[Word, ...]
    listed: bool
    text: str
    column: int

    @property
    def order(self) -> tuple[int, int, int, int]:
        """Where it stands among all others."""
        return (*self.place.order, self.column)

    @property
    def word(self) -> str:
        """The value, where there is one."""
        return self.values[0].text if self.values else ""

    @property
    def texts(self) -> tuple[str, ...]:
        """All values."""
        return tuple(value.text for value in self.values)

    def wrong(self, problem: str) -> InputError:
        """The error that names place and parameter."""
        return self.place.wrong(f"{self.text!r}: {problem}")
