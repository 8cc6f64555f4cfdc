"""Reads section ACCESS SPECIFICATIONS, in the form with names (since 1998.05.21) and in the one without.

Model: a specification is a name and lines of eight values, whose shares sum to exactly 100. Before 1998.05.21 lines have six values between
blanks and no names: lines belong together until their shares reach 100. Iometer names those of one line by what the line does, and numbers
the others; so do we, since workers of the file and results call them so.

    read_specs(statements, Version("1.1.0"), Place("load.icf"))[0].name
"""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.formats.iometer.fields import Fields, Range, near
from plimsoll.formats.iometer.model import ASSIGNMENTS, AccessLine, AccessSpec, Statement, Value
from plimsoll.formats.iometer.place import Place
from plimsoll.formats.iometer.statements import words
from plimsoll.formats.iometer.version import Version

#: The specification of workers that do nothing.
IDLE = "Idle"
LINES_MAX = 100
SIZE_MAX = 2**30 - 1

_PERCENT = 100
#: Values of a line, in their order. Bursts and delays end where our options do.
RANGES = (
    Range("the transfer size", 1, SIZE_MAX),
    Range("the percentage of size", 1, _PERCENT),
    Range("the percentage of reads", 0, _PERCENT),
    Range("the percentage of random", 0, _PERCENT),
    Range("the delay in milliseconds", 0, 86_400_000),
    Range("the burst length", 1, 1_000_000),
    Range("the alignment", 0, SIZE_MAX),
    Range("the reply size", 0, SIZE_MAX),
)
_IDLE_SIZE = Range("the transfer size", 0, SIZE_MAX)
_EXAMPLE = "2048,100,67,100,0,1,2048,0"
_EXAMPLE_OLD = "2048 100 67 100 0 1"
_NAME_KEY = "access specification name"
_LINES_KEY = "size,"


def read_specs(section: Sequence[Statement], version: Version, place: Place) -> tuple[AccessSpec, ...]:
    """The specifications of ``section``, whose first statement is its name."""
    return _named(section, place) if version.named_specs else _nameless(section, place)


def _nameless(section: Sequence[Statement], place: Place) -> tuple[AccessSpec, ...]:
    specs: list[AccessSpec] = []
    group: list[AccessLine] = []
    for value in [value for statement in section for value in statement.values]:
        group.append(_line(value, Fields(place).blanks(value, (6,), _EXAMPLE_OLD), RANGES, place))
        total = sum(line.share for line in group)
        if total > _PERCENT or len(group) > LINES_MAX:
            raise place.wrong(
                value.line, f"the percentages of size reach {total} here; those of one specification must come to exactly 100."
            )
        if total == _PERCENT:
            name = name_of(group, [spec.name for spec in specs])
            specs.append(AccessSpec(name, "ALL", tuple(group), {"name": Statement(group[0].at.line, name)}))
            group = []
    if group:
        total = sum(line.share for line in group)
        raise place.wrong(group[-1].at.line, f"the percentages of size of the last specification sum to {total}; they must sum to 100.")
    return tuple(specs)


def _said(line: AccessLine) -> str:
    """What a line does, in Iometer's words: ``2 KiB random 67% reads``, ``512 B sequential writes``."""
    size = " ".join(f"{count} {unit}" for count, unit in _parts(line.size) if count)
    random = {0: "sequential", _PERCENT: "random"}.get(line.random, f"{line.random}% random")
    reads = {0: "writes", _PERCENT: "reads"}.get(line.reads, f"{line.reads}% reads")
    return f"{size} {random} {reads}"


def _parts(size: int) -> tuple[tuple[int, str], ...]:
    """A size as Iometer's dialogs divide it."""
    return (size >> 20, "MiB"), (size >> 10 & 1023, "KiB"), (size & 1023, "B")


def name_of(lines: Sequence[AccessLine], taken: Sequence[str]) -> str:
    """The name of a specification without one, with a number behind it from the second of its kind on; Untitled from the first."""
    name, number = _said(lines[0]) if len(lines) == 1 else "Untitled", 1
    while (found := f"{name} {number}" if number > 1 or name == "Untitled" else name) in taken:
        number += 1
    return found


def _named(section: Sequence[Statement], place: Place) -> tuple[AccessSpec, ...]:
    specs: list[AccessSpec] = []
    heading: Statement | None = None
    Fields(place).none(section[0])
    for statement in section[1:]:
        key = words(statement.key)
        if key.startswith(_NAME_KEY) and heading is None:
            heading = statement
        elif key.startswith(_LINES_KEY) and heading is not None:
            specs.append(_spec(heading, statement, specs, place))
            heading = None
        elif key.startswith((_NAME_KEY, _LINES_KEY)):
            wanted = "'size,% of size,… and its lines" if heading else "'Access specification name,default assignment"
            raise place.wrong(statement.line, f"'{statement.key[:60]} stands where {wanted} should; write name and lines in turn.")
        else:
            known = ("access specification name,default assignment", "size,% of size,% reads,% random,delay,burst,align,reply")
            raise place.wrong(statement.line, f"'{statement.key[:60]} is not a key of the access specifications; {near(key, known)}")
    if heading is not None:
        raise place.wrong(heading.line, "the access specification has no lines; write 'size,% of size,… and its lines below it.")
    return tuple(specs)


def _spec(heading: Statement, lines: Statement, before: Sequence[AccessSpec], place: Place) -> AccessSpec:
    fields = Fields(place)
    value = fields.one(heading, "Default,NONE")
    name, comma, assignment = (part.strip() for part in value.text.rpartition(","))
    if not comma:
        name, assignment = value.text, "NONE"
    if not name:
        raise place.wrong(value.line, f"{value.text[:60]!r} names no access specification; write for example Default,NONE.")
    if name.lower() in [spec.name.lower() for spec in before]:
        raise place.wrong(value.line, f"access specification {name!r} stands twice; give each a name of its own.")
    if assignment.isdecimal():
        assignment = _numbered(value, assignment, place)
    return AccessSpec(
        name=name,
        assignment=fields.word(value.line, assignment, ASSIGNMENTS),
        lines=_lines(name, lines, place),
        at={"name": heading, "lines": lines},
    )


def _numbered(value: Value, assignment: str, place: Place) -> str:
    """Older versions write the place of the word in its list."""
    if int(assignment) < len(ASSIGNMENTS):
        return ASSIGNMENTS[int(assignment)]
    raise place.wrong(value.line, f"default assignment {assignment[:20]} is not known; write one of {', '.join(ASSIGNMENTS)}.")


def _lines(name: str, statement: Statement, place: Place) -> tuple[AccessLine, ...]:
    if not statement.values:
        raise place.wrong(statement.line, f"access specification {name[:80]!r} has no lines; write for example {_EXAMPLE}.")
    if len(statement.values) > LINES_MAX:
        extra = statement.values[LINES_MAX]
        raise place.wrong(extra.line, f"access specification {name[:80]!r} has more than {LINES_MAX} lines; write at most {LINES_MAX}.")
    ranges = (_IDLE_SIZE, *RANGES[1:]) if name.lower() == IDLE.lower() else RANGES
    lines = tuple(_line(value, Fields(place).split(value, (8,), _EXAMPLE), ranges, place) for value in statement.values)
    total = sum(line.share for line in lines)
    if total != _PERCENT:
        last = statement.values[-1].line
        raise place.wrong(
            last, f"the percentages of size of access specification {name[:80]!r} sum to {total}; they must sum to exactly 100."
        )
    return lines


def _line(value: Value, parts: Sequence[str], ranges: Sequence[Range], place: Place) -> AccessLine:
    fields = Fields(place)
    numbers = [fields.whole(value.line, text, allowed) for text, allowed in zip(parts, ranges, strict=False)]
    size, share, reads, random, delay_ms, burst, *later = numbers
    align, reply = later or (0, 0)
    return AccessLine(size, share, reads, random, delay_ms, burst, align, reply, value)
