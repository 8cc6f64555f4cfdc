"""A parameter file as it is read: parameters, and what they define.

Model: a parameter is ``keyword=value`` with the place where it stands; its value is one word or a list of words in parentheses. A word
knows whether it was quoted, since quotes protect blanks, commas, equals signs and dashes. A definition (SD, WD, run, …) has what stands in
it, over what the last ``=default`` of its kind above it said. Keywords are complete names there.

    Parameter(LinePlace("job", 3), "xfersize", (Word("4k"),), listed=False, text="xfersize=4k", column=9)
    definition.given.get("xfersize")        # the Parameter, its own or the default one; None when neither is there
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from plimsoll.displayed import quoted
from plimsoll.errors import InputError
from plimsoll.formats.place import Place
from plimsoll.formats.vdbench.options import Keyword, keyword


@dataclass(frozen=True)
class LinePlace(Place):
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

    place: LinePlace
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

    @property
    def given(self) -> Mapping[str, Parameter]:
        """The parameters that hold, by keyword."""
        return {**self.inherited, **self.own}

    @property
    def parameters(self) -> list[tuple[Keyword, Parameter]]:
        """What holds: defaults that are not overridden, then its own."""
        inherited = {name: parameter for name, parameter in self.inherited.items() if name not in self.own}
        return [(keyword(self.block, name), parameter) for name, parameter in (*inherited.items(), *self.own.items())]


@dataclass
class ParameterFile:
    """Everything of a file, in order; ``defaults`` are the ``=default`` statements."""

    source: str
    general: dict[str, Parameter] = field(default_factory=dict)
    definitions: dict[str, dict[str, Definition]] = field(default_factory=dict)
    defaults: list[Definition] = field(default_factory=list)
    #: General parameters that a later line replaced.
    replaced: list[Parameter] = field(default_factory=list)
