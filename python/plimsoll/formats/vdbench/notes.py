"""What is to be said of a parameter, and the remarks that come of all that was said.

Model: what a run becomes is worked out from its parameters alone. Every such function hands its notes back beside what it found, and
`remarks` puts them together once: a parameter may be looked at for many runs, and the worst that is said of it stays, *unsupported* over
*ignored* over *native*; of two equals the first stays. A *surprise* stands beside, once per place and sentence.

    Translated({"dsync": True}, (native(parameter, "dsync = true"),))
    remarks([native(parameter), ignored(parameter, "no device is reset")], [])        # one, in the order of the file
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from plimsoll.formats.translation import Kind, Remark
from plimsoll.formats.vdbench.model import LinePlace, Parameter
from plimsoll.stored import Json

#: Tables of the document, and options in them.


@dataclass(frozen=True)
class Note:
    """What is to be said of a parameter."""

    parameter: Parameter
    kind: Kind
    why: str


Notes = tuple[Note, ...]


@dataclass(frozen=True)
class LineNote:
    """What is to be said of something in a line that is no parameter."""

    place: LinePlace
    text: str
    why: str
    kind: Kind = "native"


@dataclass(frozen=True)
class Translated:
    """Options of ours, and what is to be said of the parameters that they were made of."""

    options: Json
    notes: Notes = ()


def native(parameter: Parameter, why: str = "") -> Note:
    """It is in the document."""
    return Note(parameter, "native", why)


def ignored(parameter: Parameter, why: str) -> Note:
    """The run goes on without it."""
    return Note(parameter, "ignored", why)


def unsupported(parameter: Parameter, why: str) -> Note:
    """The file cannot be run faithfully."""
    return Note(parameter, "unsupported", why)


def surprise(parameter: Parameter, why: str) -> Note:
    """Vdbench does not do what the file seems to say."""
    return Note(parameter, "surprise", why)


def together(parts: Iterable[Translated]) -> Translated:
    """The options of all parts, a later one over an earlier, and their notes one after the other."""
    options: Json = {}
    notes: list[Note] = []
    for part in parts:
        options |= part.options
        notes += part.notes
    return Translated(options, tuple(notes))


_SEVERITY: dict[Kind, int] = {"native": 0, "ignored": 1, "unsupported": 2}


def remarks(notes: Iterable[Note], lines: Sequence[LineNote]) -> list[Remark]:
    """One for each parameter and line, and the surprises, in the order of the file."""
    said: dict[Parameter, Note] = {}
    surprises: dict[Note, None] = {}
    for note in notes:
        before = said.get(note.parameter)
        if note.kind == "surprise":
            surprises[note] = None
        elif before is None or _SEVERITY[note.kind] > _SEVERITY[before.kind] or (note.kind == before.kind and not before.why):
            said[note.parameter] = note
    found = [(note.parameter.order, _remark(note.parameter.place, note.parameter.text, note)) for note in (*said.values(), *surprises)]
    found += [((*line.place.order, -1), _remark(line.place, line.text, line)) for line in lines]
    # Sorting is stable: a surprise follows the verdict on the same parameter.
    return [remark for _, remark in sorted(found, key=lambda item: item[0])]


def _remark(place: LinePlace, text: str, note: Note | LineNote) -> Remark:
    return Remark(place.origin or None, text if place.included is None else f"{place.included}:{place.line}: {text}", note.kind, note.why)
