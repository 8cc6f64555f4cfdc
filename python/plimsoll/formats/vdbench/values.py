"""Where a value comes from: a loop of the run before what the definition says itself.

Values(definition, {"xfersize": Word("8k")}, {"xfersize": parameter}).words("xfersize")        # (Word('8k'),)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from plimsoll.formats.vdbench.definition import Definition
from plimsoll.formats.vdbench.numbers import parse
from plimsoll.formats.vdbench.parameter import Parameter, Word


@dataclass(frozen=True)
class Values:
    """A definition in one round of the run's loops; ``choice`` are the loops' values by keyword, ``loops`` where they stand."""

    definition: Definition
    choice: Mapping[str, Word]
    loops: Mapping[str, Parameter]

    def parameter(self, name: str) -> Parameter | None:
        """The parameter that decides, a loop before the definition's own."""
        return self.loops.get(name) or self.definition.get(name)

    def words(self, name: str) -> tuple[Word, ...]:
        """The values that decide; none when neither says anything."""
        if name in self.choice:
            return (self.choice[name],)
        parameter = self.definition.get(name)
        return parameter.values if parameter is not None else ()

    def number(self, name: str, default: float) -> float:
        """The number that decides."""
        parameter = self.parameter(name)
        if parameter is None:
            return default
        found = parse(self.words(name)[0].text)
        if found is None or len(self.words(name)) != 1:
            raise parameter.wrong(f"{self.words(name)[0].text!r} is not a number; write for example {name}=50.")
        return found.value

    def percent(self, name: str, default: float) -> float:
        """The number that decides, as a percentage."""
        value = self.number(name, default)
        if not 0 <= value <= 100:
            parameter = self.parameter(name) or self.definition.head
            raise parameter.wrong(f"{value:g} is no percentage; write 0 to 100.")
        return value
