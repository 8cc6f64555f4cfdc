"""A parameter file as it is read: parameters, what they define, and what becomes of each.

Model: a parameter is ``keyword=value`` with the place where it stands; its value is one word or a list of words in parentheses. A word
knows whether it was quoted, since quotes protect blanks, commas, equals signs and dashes. A definition (SD, WD, run, …) has what stands in
it, over what the last ``=default`` of its kind above it said. Keywords are complete names there.
A parameter may be looked at for many runs. The worst that is said of it stays: *unsupported* over *ignored* over *native*; of two equals
the first stays. Surprises are kept beside, once per place and sentence.

    Parameter(Place("job", 3), "xfersize", (Word("4k"),), listed=False, text="xfersize=4k", column=9)
    definition.get("xfersize")        # the Parameter, its own or the default one; None when neither is there
    verdicts.ignored(parameter, "no device is reset")
    verdicts.remarks()                # one for each, in the order of the file
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from plimsoll.displayed import quoted
from plimsoll.errors import InputError
from plimsoll.formats.place import Place as PlaceInFile
from plimsoll.formats.translation import Kind, Remark
from plimsoll.formats.vdbench.options import Keyword, keyword


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
        return self.place.wrong(f"{quoted(self.text)}: {problem}")


@dataclass(frozen=True, eq=False)
class Definition:
    """One ``sd=``, ``wd=`` … with its parameters by keyword, those of the default first, in the order written."""

    block: str
    name: str
    head: Parameter
    own: Mapping[str, Parameter]
    inherited: Mapping[str, Parameter] = field(default_factory=dict)
    #: Which of several that one line with count= defines.
    number: int | None = None

    def get(self, name: str) -> Parameter | None:
        """A parameter by its keyword."""
        return self.own.get(name) or self.inherited.get(name)

    def parameters(self) -> Iterator[tuple[Keyword, Parameter]]:
        """What holds: defaults that are not overridden, then its own."""
        for name, parameter in self.inherited.items():
            if name not in self.own:
                yield keyword(self.block, name), parameter
        for name, parameter in self.own.items():
            yield keyword(self.block, name), parameter


@dataclass
class ParameterFile:
    """Everything of a file, in order; ``defaults`` are the ``=default`` statements."""

    source: str
    general: dict[str, Parameter] = field(default_factory=dict)
    definitions: dict[str, dict[str, Definition]] = field(default_factory=dict)
    defaults: list[Definition] = field(default_factory=list)
    #: General parameters that a later line replaced.
    replaced: list[Parameter] = field(default_factory=list)

    def of(self, block: str) -> dict[str, Definition]:
        """The definitions of a block by name."""
        return self.definitions.get(block, {})


_SEVERITY: dict[Kind, int] = {"native": 0, "ignored": 1, "unsupported": 2}


class Verdicts:
    """The remarks as they arise."""

    def __init__(self) -> None:
        self._said: dict[Parameter, tuple[Kind, str]] = {}
        self._surprises: dict[tuple[Parameter, str], None] = {}
        self._lines: list[tuple[Place, str, str, Kind]] = []

    def native(self, parameter: Parameter, why: str = "") -> None:
        """It is in the document."""
        self._say(parameter, "native", why)

    def ignored(self, parameter: Parameter, why: str) -> None:
        """The run goes on without it."""
        self._say(parameter, "ignored", why)

    def unsupported(self, parameter: Parameter, why: str) -> None:
        """The file cannot be run faithfully."""
        self._say(parameter, "unsupported", why)

    def surprise(self, parameter: Parameter, why: str) -> None:
        """Vdbench does not do what the file seems to say."""
        self._surprises[parameter, why] = None

    def line(self, place: Place, text: str, why: str, kind: Kind = "native") -> None:
        """Something of a line that is no parameter."""
        self._lines.append((place, text, why, kind))

    def knows(self, parameter: Parameter) -> bool:
        """Whether anything was said of it."""
        return parameter in self._said

    def remarks(self) -> list[Remark]:
        """One for each parameter and line, and the surprises, in the order of the file."""
        found: list[tuple[tuple[int, int, int, int], Remark]] = [
            (parameter.order, _remark(parameter.place, parameter.text, kind, why)) for parameter, (kind, why) in self._said.items()
        ]
        found += [(parameter.order, _remark(parameter.place, parameter.text, "surprise", why)) for parameter, why in self._surprises]
        found += [((*place.order, -1), _remark(place, text, kind, why)) for place, text, why, kind in self._lines]
        # Sorting is stable: a surprise follows the verdict on the same parameter.
        return [remark for _, remark in sorted(found, key=lambda item: item[0])]

    def _say(self, parameter: Parameter, kind: Kind, why: str) -> None:
        before = self._said.get(parameter)
        if before is None or _SEVERITY[kind] > _SEVERITY[before[0]] or (kind == before[0] and not before[1]):
            self._said[parameter] = (kind, why)


def _remark(place: Place, text: str, kind: Kind, why: str) -> Remark:
    return Remark(place.origin or None, text if place.included is None else f"{place.included}:{place.line}: {text}", kind, why)
