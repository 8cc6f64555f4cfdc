"""Lines of an ICF become statements: keys with the values below them, between two version lines.

Model: a line that begins with an apostrophe is a key (never a comment); any other line is a value of the key above it. A key line whose
words are indented is a heading over columns and says nothing. ``Version x`` in the first column begins and ends the file.
Limits: keys are compared without case and with blanks run together; a row of ``=`` after a section's name is left off.

    lexed = statements("Version 1.1.0\\n'TEST SETUP ====\\n'Run Time\\n\\t0 1 0\\nVersion 1.1.0\\n", Place("a.icf"))
    lexed.statements[1].values[0].text        # '0 1 0'
"""

from __future__ import annotations

from dataclasses import dataclass, field

from plimsoll.formats.iometer.model import Statement, Value
from plimsoll.formats.iometer.place import Place
from plimsoll.formats.iometer.version import Version
from plimsoll.formats.translation import Remark

#: A longer line is not of such a file.
LINE_LENGTH_MAX = 10_000


@dataclass
class Lexed:
    """What stands in the file, line by line."""

    version: Version
    version_at: Statement
    statements: list[Statement] = field(default_factory=list)
    notes: list[Remark] = field(default_factory=list)


def statements(text: str, place: Place) -> Lexed:
    """The statements of ``text``."""
    lines = text.removeprefix("\ufeff").split("\n")
    while lines and not lines[-1].strip():
        lines.pop()
    if not lines:
        raise place.wrong(1, "the file is empty; an Iometer file begins with a line such as 'Version 1.1.0'.")
    lexed = _begun(lines, place)
    ends = [number for number, line in enumerate(lines[1:], start=2) if _is_version(line)]
    if ends and ends[0] != len(lines):
        raise place.wrong(ends[0], f"{lines[ends[0] - 1].strip()!r} ends the file, but more follows; leave it to the last line.")
    _check_end(lines, bool(ends), lexed)
    _Collector(lexed, place).collect(lines[1:-1] if ends else lines[1:])
    return lexed


def words(key: str) -> str:
    """A key as keys are compared."""
    return " ".join(key.lower().split())


def _is_version(line: str) -> bool:
    return line[:8].lower() in ("version ", "version\t")


def _unfilled(key: str) -> str:
    """Without the row of ``=`` behind it, however often blanks interrupt it."""
    while key != (shorter := key.rstrip("=").rstrip()):
        key = shorter
    return key


def _begun(lines: list[str], place: Place) -> Lexed:
    if not _is_version(lines[0]):
        first = lines[0].strip()[:60]
        raise place.wrong(1, f"{first!r} is not the version line that an Iometer file begins with; write for example 'Version 1.1.0'.")
    version = Version(lines[0][8:].strip())
    if not version.is_readable:
        raise place.wrong(
            1, f"version {version.text[:60]!r} is not like 1.1.0 or 2006.07.27; write the version of Iometer that wrote the file."
        )
    return Lexed(version, Statement(1, lines[0].strip()))


def _check_end(lines: list[str], ended: bool, lexed: Lexed) -> None:
    last = lines[-1].strip()
    if not ended:
        lexed.notes.append(Remark(len(lines), last[:80], "surprise", "the file does not end with its version line, as a whole one does"))
    elif last[8:].strip() != lexed.version.text:
        why = f"the file begins with version {lexed.version.text}, which is the one that counts"
        lexed.notes.append(Remark(len(lines), last[:80], "surprise", why))


class _Collector:
    """Puts values below their keys."""

    def __init__(self, lexed: Lexed, place: Place) -> None:
        self._lexed, self._place = lexed, place
        self._key: tuple[int, str] | None = None
        self._values: list[Value] = []

    def collect(self, lines: list[str]) -> None:
        for number, line in enumerate(lines, start=2):
            self._line(number, line)
        self._close()

    def _line(self, number: int, line: str) -> None:
        stripped = line.strip()
        if len(line) > LINE_LENGTH_MAX:
            raise self._place.wrong(number, f"the line has {len(line)} characters; lines of an Iometer file are short, so this is none.")
        if not stripped:
            why = "blank lines are not of Iometer's grammar, and Iometer itself may refuse them"
            self._lexed.notes.append(Remark(number, "", "surprise", why))
        elif not stripped.startswith("'"):
            self._value(number, stripped)
        elif not stripped[1:2].isspace():
            self._close()
            self._key = (number, _unfilled(stripped[1:]))

    def _value(self, number: int, text: str) -> None:
        if self._key is None:
            raise self._place.wrong(
                number, f"{text[:60]!r} stands below no key; write a key such as 'Run Time, after an apostrophe, above it."
            )
        self._values.append(Value(number, text))

    def _close(self) -> None:
        if self._key is not None:
            self._lexed.statements.append(Statement(*self._key, tuple(self._values)))
        self._key, self._values = None, []
