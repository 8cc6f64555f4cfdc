"""Reads an ICF of any version: its sections, in whatever order they stand, TEST SETUP and ACCESS SPECIFICATIONS.

Model: a section runs from the key that names it to its ``'END …`` line; before 1999.02.17 the next section's name ends it as well. Of the
setup a table says which field each key is and how its value is read; ``'Ramp Up Time`` is known by its beginning. Before 1999.02.17 keys
that are not in the table are kept as they stand. A specification is a name and lines of eight values, whose shares sum to exactly 100.
Before 1998.05.21 lines have six values between blanks and no names: lines belong together until their shares reach 100. Iometer names
those of one line by what the line does, and numbers the others; so do we, since workers of the file and results call them so.
Limits: what a version did not have yet is accepted in its files too, as Iometer does, except for access specifications, whose form changed.

    file = read(Path("load.icf").read_text(), "load.icf")
    file.managers[0].workers[0].targets
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from plimsoll.displayed import quoted
from plimsoll.formats.iometer.model import (
    ASSIGNMENTS,
    OLDEST_KNOWN,
    RECORDS,
    TEST_TYPES,
    AccessLine,
    AccessSpec,
    Display,
    IometerFile,
    Setup,
    Statement,
    Value,
    Version,
)
from plimsoll.formats.iometer.read_managers import read_managers
from plimsoll.formats.iometer.statements import CYCLE_MAX, WORKERS, Fields, Lexed, Range, near, statements, words
from plimsoll.formats.place import Place
from plimsoll.formats.translation import Remark

SECTIONS = ("test setup", "results display", "access specifications", "manager list")


@dataclass
class Section:
    """The statements between a section's name and its end."""

    name: str
    opening: Statement
    body: list[Statement] = field(default_factory=list)


def read(text: str, source: str) -> IometerFile:
    """The file that ``text`` is; raises `InputError` with line, what is wrong and what would be right."""
    place = Place(source)
    lexed = statements(text, place)
    sections = _sections(lexed, place)
    setup, display, specs, managers = (sections.get(name) for name in SECTIONS)
    fields = Fields(place)
    for section in (setup, display, managers):
        if section is not None:
            fields.none(section.opening)
    return IometerFile(
        version=lexed.version,
        setup=None if setup is None else read_setup(setup.body, lexed.version, place),
        display=None if display is None else _display(display),
        specs=None if specs is None else read_specs([specs.opening, *specs.body], lexed.version, place),
        managers=None if managers is None else read_managers(managers.body, place),
        notes=tuple(sorted([*_age(lexed), *lexed.notes], key=lambda note: note.line or 0)),
        version_at=lexed.version_at,
    )


def _age(lexed: Lexed) -> list[Remark]:
    if lexed.version.number >= OLDEST_KNOWN:
        return []
    return [Remark(1, lexed.version_at.text, "surprise", "Iometer itself warns that it may not understand files older than 1998.01.05")]


def _sections(lexed: Lexed, place: Place) -> dict[str, Section]:
    found: dict[str, Section] = {}
    current: Section | None = None
    for statement in lexed.statements:
        key = words(statement.key)
        if key in SECTIONS:
            if current is not None and lexed.version.strict_setup:
                raise _unended(current, statement, place)
            if key in found:
                raise place.at(statement.line).wrong(
                    f"section {statement.key} stands twice; the first begins on line {found[key].opening.line}."
                )
            current = found[key] = Section(key, statement)
        elif current is None:
            raise place.at(statement.line).wrong(f"'{statement.key[:60]} stands outside of all sections; {near(key, SECTIONS)}")
        elif key == f"end {current.name}":
            Fields(place).none(statement)
            current = None
        else:
            current.body.append(statement)
    if current is not None and lexed.version.strict_setup:
        raise _unended(current, current.opening, place)
    return found


def _unended(section: Section, statement: Statement, place: Place) -> Exception:
    named = section.opening
    return place.at(statement.line).wrong(
        f"section {named.key} of line {named.line} has no end; write 'END {section.name} after its last line."
    )


def _display(section: Section) -> Display:
    kept = tuple((item.key, tuple(value.text for value in item.values)) for item in section.body)
    return Display(kept, tuple(section.body))


#: A job of ours lasts 1000 days at most.
RUN_TIME_MAX_S = 1000 * 86400
_TIMES = tuple(Range(f"the run time in {unit}", 0, RUN_TIME_MAX_S) for unit in ("hours", "minutes", "seconds"))
_RAMP_UP = Range("the ramp-up time", 0, RUN_TIME_MAX_S)
_RAMP_UP_KEY = "ramp up time"


def read_setup(body: Sequence[Statement], version: Version, place: Place) -> Setup:
    """The section whose statements are ``body``."""
    values: dict[str, Any] = {}
    at: dict[str, Statement] = {}
    unknown: list[tuple[str, tuple[str, ...]]] = []
    fields = Fields(place)
    for number, statement in enumerate(body):
        key = _RAMP_UP_KEY if words(statement.key).startswith(_RAMP_UP_KEY) else words(statement.key)
        if key in KEYS:
            name, reading = KEYS[key]
            if name in values:
                raise place.at(statement.line).wrong(
                    f"'{statement.key} stands twice; the first is on line {at[name].line}, so remove one of them."
                )
            values[name], at[name] = reading(fields, place, statement), statement
        elif version.strict_setup:
            raise place.at(statement.line).wrong(f"'{statement.key[:60]} is not a key of the test setup; {near(key, list(KEYS))}")
        else:
            unknown.append((statement.key, tuple(value.text for value in statement.values)))
            at[f"unknown {number}"] = statement
    return Setup(**values, unknown=tuple(unknown), at=at)


def _run_time(fields: Fields, place: Place, statement: Statement) -> tuple[int, int, int]:
    value = fields.one(statement, "0 1 0")
    parts = fields.blanks(value, (3,), "0 1 0")
    hours, minutes, seconds = (fields.whole(value.line, text, allowed) for text, allowed in zip(parts, _TIMES, strict=True))
    if hours * 3600 + minutes * 60 + seconds > RUN_TIME_MAX_S:
        raise place.at(value.line).wrong(
            f"the run time {quoted(value.text)} is longer than 1000 days; write hours, minutes and seconds, such as 0 1 0."
        )
    return hours, minutes, seconds


def _record(fields: Fields, _place: Place, statement: Statement) -> str:
    value = fields.one(statement, "ALL")
    return fields.word(value.line, value.text, RECORDS)


def _test_type(fields: Fields, place: Place, statement: Statement) -> str:
    value = fields.one(statement, "NORMAL")
    if not value.text.isdecimal():
        return fields.word(value.line, value.text, TEST_TYPES)
    number = fields.whole(value.line, value.text, Range("the test type", 0, CYCLE_MAX))
    if number >= len(TEST_TYPES):
        raise place.at(value.line).wrong(f"test type {number} is not known; write 0 to {len(TEST_TYPES) - 1}, or a name such as NORMAL.")
    return TEST_TYPES[number]


Reading = Callable[[Fields, Place, Statement], Any]

#: Keys in the order in which they are written: field, and how its value is read.
KEYS: dict[str, tuple[str, Reading]] = {
    "test description": ("description", lambda fields, _, statement: fields.text(statement)),
    "run time": ("run_time", _run_time),
    _RAMP_UP_KEY: ("ramp_up_s", lambda fields, _, statement: fields.number(statement, _RAMP_UP)),
    "default workers to spawn": ("workers_to_spawn", lambda fields, _, statement: fields.number(statement, WORKERS)),
    "default disk workers to spawn": ("disk_workers", lambda fields, _, statement: fields.workers(statement)),
    "default network workers to spawn": ("network_workers", lambda fields, _, statement: fields.workers(statement)),
    "record results": ("record", _record),
    "worker cycling": ("worker_cycling", lambda fields, _, statement: fields.cycling(statement, with_end=False)),
    "disk cycling": ("target_cycling", lambda fields, _, statement: fields.cycling(statement, with_end=False)),
    "target cycling": ("target_cycling", lambda fields, _, statement: fields.cycling(statement, with_end=False)),
    "queue depth cycling": ("queue_cycling", lambda fields, _, statement: fields.cycling(statement, with_end=True)),
    "test type": ("test_type", _test_type),
}


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
            raise place.at(value.line).wrong(
                f"the percentages of size reach {total} here; those of one specification must come to exactly 100."
            )
        if total == _PERCENT:
            name = name_of(group, [spec.name for spec in specs])
            specs.append(AccessSpec(name, "ALL", tuple(group), {"name": Statement(group[0].at.line, name)}))
            group = []
    if group:
        total = sum(line.share for line in group)
        raise place.at(group[-1].at.line).wrong(f"the percentages of size of the last specification sum to {total}; they must sum to 100.")
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
            raise place.at(statement.line).wrong(f"'{statement.key[:60]} stands where {wanted} should; write name and lines in turn.")
        else:
            known = ("access specification name,default assignment", "size,% of size,% reads,% random,delay,burst,align,reply")
            raise place.at(statement.line).wrong(f"'{statement.key[:60]} is not a key of the access specifications; {near(key, known)}")
    if heading is not None:
        raise place.at(heading.line).wrong("the access specification has no lines; write 'size,% of size,… and its lines below it.")
    return tuple(specs)


def _spec(heading: Statement, lines: Statement, before: Sequence[AccessSpec], place: Place) -> AccessSpec:
    fields = Fields(place)
    value = fields.one(heading, "Default,NONE")
    name, comma, assignment = (part.strip() for part in value.text.rpartition(","))
    if not comma:
        name, assignment = value.text, "NONE"
    if not name:
        raise place.at(value.line).wrong(f"{quoted(value.text[:60])} names no access specification; write for example Default,NONE.")
    if name.lower() in [spec.name.lower() for spec in before]:
        raise place.at(value.line).wrong(f"access specification {quoted(name)} stands twice; give each a name of its own.")
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
    raise place.at(value.line).wrong(f"default assignment {assignment[:20]} is not known; write one of {', '.join(ASSIGNMENTS)}.")


def _lines(name: str, statement: Statement, place: Place) -> tuple[AccessLine, ...]:
    if not statement.values:
        raise place.at(statement.line).wrong(f"access specification {quoted(name[:80])} has no lines; write for example {_EXAMPLE}.")
    if len(statement.values) > LINES_MAX:
        extra = statement.values[LINES_MAX]
        raise place.at(extra.line).wrong(
            f"access specification {quoted(name[:80])} has more than {LINES_MAX} lines; write at most {LINES_MAX}."
        )
    ranges = (_IDLE_SIZE, *RANGES[1:]) if name.lower() == IDLE.lower() else RANGES
    lines = tuple(_line(value, Fields(place).split(value, (8,), _EXAMPLE), ranges, place) for value in statement.values)
    total = sum(line.share for line in lines)
    if total != _PERCENT:
        last = statement.values[-1].line
        raise place.at(last).wrong(
            f"the percentages of size of access specification {quoted(name[:80])} sum to {total}; they must sum to exactly 100."
        )
    return lines


def _line(value: Value, parts: Sequence[str], ranges: Sequence[Range], place: Place) -> AccessLine:
    fields = Fields(place)
    numbers = [fields.whole(value.line, text, allowed) for text, allowed in zip(parts, ranges, strict=False)]
    size, share, reads, random, delay_ms, burst, *later = numbers
    align, reply = later or (0, 0)
    return AccessLine(size, share, reads, random, delay_ms, burst, align, reply, value)
