"""Reads an ICF of any version: its sections, in whatever order they stand.

Model: a section runs from the key that names it to its ``'END …`` line; before 1999.02.17 the next section's name ends it as well.
Limits: what a version did not have yet is accepted in its files too, as Iometer does, except for access specifications, whose form changed.

    file = read(Path("load.icf").read_text(), "load.icf")
    file.managers[0].workers[0].targets
"""

from __future__ import annotations

from dataclasses import dataclass, field

from plimsoll.formats.iometer.fields import Fields, near
from plimsoll.formats.iometer.manager_reader import read_managers
from plimsoll.formats.iometer.model import Display, IometerFile, Statement
from plimsoll.formats.iometer.place import Place
from plimsoll.formats.iometer.setup_reader import read_setup
from plimsoll.formats.iometer.spec_reader import read_specs
from plimsoll.formats.iometer.statements import Lexed, statements, words
from plimsoll.formats.iometer.version import OLDEST_KNOWN
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
                raise place.wrong(
                    statement.line, f"section {statement.key} stands twice; the first begins on line {found[key].opening.line}."
                )
            current = found[key] = Section(key, statement)
        elif current is None:
            raise place.wrong(statement.line, f"'{statement.key[:60]} stands outside of all sections; {near(key, SECTIONS)}")
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
    return place.wrong(
        statement.line, f"section {named.key} of line {named.line} has no end; write 'END {section.name} after its last line."
    )


def _display(section: Section) -> Display:
    kept = tuple((item.key, tuple(value.text for value in item.values)) for item in section.body)
    return Display(kept, tuple(section.body))
