"""Lines of an ICF become statements, and values of statements become numbers and words; each refused in a sentence when it is not so.

Model: a line that begins with an apostrophe is a key (never a comment); any other line is a value of the key above it. A key line whose
words are indented is a heading over columns and says nothing. ``Version x`` in the first column begins and ends the file. Of a value the
caller names what it expects; a sentence says what stands there, and an example of what would be right.
Limits: keys are compared without case and with blanks run together; a row of ``=`` after a section's name is left off.

    lexed = statements("Version 1.1.0\\n'TEST SETUP ====\\n'Run Time\\n\\t0 1 0\\nVersion 1.1.0\\n", Place("a.icf"))
    lexed.statements[1].values[0].text               # '0 1 0'
    Fields(Place("load.icf")).whole(value, "3", Range("the ramp-up time", 0, 86400))    # 3
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast

from plimsoll.displayed import quoted
from plimsoll.formats.iometer.model import NUMBER_OF_CPUS, Cycling, Statement, StepType, Value, Version
from plimsoll.formats.place import Place
from plimsoll.formats.translation import Remark
from plimsoll.near import meant

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
        raise place.at(1).wrong("the file is empty; an Iometer file begins with a line such as 'Version 1.1.0'.")
    lexed = _begun(lines, place)
    ends = [number for number, line in enumerate(lines[1:], start=2) if _is_version(line)]
    if ends and ends[0] != len(lines):
        raise place.at(ends[0]).wrong(f"{quoted(lines[ends[0] - 1].strip())} ends the file, but more follows; leave it to the last line.")
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
        raise place.at(1).wrong(
            f"{quoted(first)} is not the version line that an Iometer file begins with; write for example 'Version 1.1.0'."
        )
    version = Version(lines[0][8:].strip())
    if not version.is_readable:
        raise place.at(1).wrong(
            f"version {quoted(version.text[:60])} is not like 1.1.0 or 2006.07.27; write the version of Iometer that wrote the file."
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
            raise self._place.at(number).wrong(f"the line has {len(line)} characters; lines of an Iometer file are short, so this is none.")
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
            raise self._place.at(number).wrong(
                f"{quoted(text[:60])} stands below no key; write a key such as 'Run Time, after an apostrophe, above it."
            )
        self._values.append(Value(number, text))

    def _close(self) -> None:
        if self._key is not None:
            self._lexed.statements.append(Statement(*self._key, tuple(self._values)))
        self._key, self._values = None, []


_WHOLE = re.compile(r"[0-9]{1,20}")
_SWITCHES = {"ENABLED": True, "DISABLED": False}
_STEP_TYPES = ("LINEAR", "EXPONENTIAL")
#: Steps and numbers of workers and targets above this are slips of the pen.
CYCLE_MAX = 1_000_000


@dataclass(frozen=True)
class Range:
    """A whole number as the file means it: what it is called, and between which two it lies."""

    what: str
    least: int
    most: int


#: Queue depths of ours end at 65536.
DEPTH_RANGES = tuple(Range(f"the {name} of the cycling", 0, 65536) for name in ("start", "end", "step"))
STEP_RANGES = tuple(Range(f"the {name} of the cycling", 0, CYCLE_MAX) for name in ("start", "step"))
WORKERS = Range("the number of workers", 0, 4096)


class Fields:
    """Reads values of the file that ``place`` names."""

    def __init__(self, place: Place) -> None:
        self._place = place

    def one(self, statement: Statement, example: str) -> Value:
        """The only line of values."""
        if not statement.values:
            raise self._place.at(statement.line).wrong(
                f"'{statement.key} has no value; write one on the line below it, for example {example}."
            )
        if len(statement.values) > 1:
            second = statement.values[1]
            raise self._place.at(second.line).wrong(
                f"{quoted(second.text[:60])} is a second value of '{statement.key}, which takes one; remove it."
            )
        return statement.values[0]

    def none(self, statement: Statement) -> None:
        """Nothing may stand below this key."""
        if statement.values:
            first = statement.values[0]
            raise self._place.at(first.line).wrong(f"{quoted(first.text[:60])} is a value, but '{statement.key} takes none; remove it.")

    def text(self, statement: Statement) -> str:
        """A text that may be missing."""
        return self.one(statement, "a text").text if statement.values else ""

    def whole(self, line: int, text: str, allowed: Range) -> int:
        """A whole number within its range."""
        if not _WHOLE.fullmatch(text):
            bounds = f"write a whole number from {allowed.least} to {allowed.most}."
            raise self._place.at(line).wrong(f"{allowed.what} is {quoted(text[:60])}, which is no number; {bounds}")
        number = int(text)
        if not allowed.least <= number <= allowed.most:
            raise self._place.at(line).wrong(f"{allowed.what} is {number}; write a whole number from {allowed.least} to {allowed.most}.")
        return number

    def number(self, statement: Statement, allowed: Range) -> int:
        """The whole number that is the only value."""
        value = self.one(statement, str(allowed.least))
        return self.whole(value.line, value.text, allowed)

    def workers(self, statement: Statement) -> int | str:
        """A number of workers, or that of the CPUs."""
        value = self.one(statement, NUMBER_OF_CPUS)
        if value.text.upper() == NUMBER_OF_CPUS:
            return NUMBER_OF_CPUS
        if not _WHOLE.fullmatch(value.text):
            raise self._place.at(value.line).wrong(
                f"the number of workers is {quoted(value.text[:60])}; write a number or {NUMBER_OF_CPUS}."
            )
        return self.whole(value.line, value.text, WORKERS)

    def word(self, line: int, text: str, choices: Sequence[str]) -> str:
        """One of several words, in whatever case."""
        found = "".join(text.upper().split())
        if found in choices:
            return found
        raise self._place.at(line).wrong(f"{quoted(text[:60])} is not known; {near(found, choices)}")

    def switch(self, line: int, text: str) -> bool:
        """ENABLED or DISABLED."""
        return _SWITCHES[self.word(line, text, tuple(_SWITCHES))]

    def split(self, value: Value, counts: Sequence[int], example: str) -> list[str]:
        """Fields between commas, as many as one of ``counts``."""
        return self._counted(value, [part.strip() for part in value.text.split(",")], counts, example)

    def blanks(self, value: Value, counts: Sequence[int], example: str) -> list[str]:
        """Fields between blanks, as many as one of ``counts``."""
        return self._counted(value, value.text.split(), counts, example)

    def numbered(self, statement: Statement, what: str) -> tuple[int, str]:
        """A number and a name, ``1,HOST``; the name may have commas itself."""
        value = self.one(statement, "1,HOST")
        number, comma, name = value.text.partition(",")
        if not comma:
            raise self._place.at(value.line).wrong(
                f"{quoted(value.text[:60])} is not a number and a name of {what}; write for example 1,HOST."
            )
        return self.whole(value.line, number.strip(), Range(f"the number of {what}", 0, CYCLE_MAX)), name.strip()

    def cycling(self, statement: Statement, *, with_end: bool) -> Cycling:
        """Start, end if there is one, step, and how it steps."""
        example = "1 32 2 EXPONENTIAL" if with_end else "1 1 LINEAR"
        value = self.one(statement, example)
        parts = self.blanks(value, (4,) if with_end else (3,), example)
        ranges = DEPTH_RANGES if with_end else STEP_RANGES
        numbers = [self.whole(value.line, text, allowed) for text, allowed in zip(parts, ranges, strict=False)]
        kind = cast(StepType, self.word(value.line, parts[-1], _STEP_TYPES))
        return Cycling(numbers[0], numbers[-1], kind, numbers[1] if with_end else None)

    def _counted(self, value: Value, parts: list[str], counts: Sequence[int], example: str) -> list[str]:
        if len(parts) not in counts:
            wanted = " or ".join(str(count) for count in counts)
            raise self._place.at(value.line).wrong(
                f"{quoted(value.text[:80])} has {len(parts)} values, not {wanted}; write for example {example}."
            )
        return parts


def near(word: str, known: Sequence[str]) -> str:
    """The question that names the nearest known word, or the list of all."""
    return meant(word, known, f"write one of {', '.join(known)}.")
