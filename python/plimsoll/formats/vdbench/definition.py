"""What a parameter file defines, before anything is planned: general parameters, hosts, SDs, WDs and runs, each with its own parameters.

Model: a definition has what stands in it, over what the last ``=default`` of its kind above it said. Keywords are complete names here.

    definition.get("xfersize")        # the Parameter, its own or the default one; None when neither is there
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from plimsoll.formats.vdbench.keywords import Keyword, keyword
from plimsoll.formats.vdbench.parameter import Parameter


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
