"""What the planning of one file shares: its definitions, the verdicts on its parameters, what is known of sizes, and which parts runs use.

planning.storage("sd1")       # the SD as a target; from then on it counts as used
"""

from __future__ import annotations

from dataclasses import dataclass, field

from plimsoll.formats.known_targets import KnownTargets
from plimsoll.formats.vdbench.definition import Definition, ParameterFile
from plimsoll.formats.vdbench.names import chosen
from plimsoll.formats.vdbench.parameter import Parameter
from plimsoll.formats.vdbench.storage import Storage, storage
from plimsoll.formats.vdbench.verdicts import Verdicts

#: Names of this host.
LOCAL = frozenset(("localhost", "127.0.0.1", "::1"))


@dataclass
class Planning:
    """The file under translation."""

    file: ParameterFile
    verdicts: Verdicts
    targets: KnownTargets
    used: set[Definition] = field(default_factory=set)
    _storages: dict[str, Storage] = field(default_factory=dict)

    def storage(self, name: str) -> Storage:
        """An SD by its name."""
        if name not in self._storages:
            definition = self.file.of("sd")[name]
            self.used.add(definition)
            self._storages[name] = storage(definition, self.targets, self.verdicts)
        return self._storages[name]

    def storages(self, parameter: Parameter) -> list[Storage]:
        """The SDs that ``sd=`` means."""
        return [self.storage(name) for name in chosen(parameter, list(self.file.of("sd")))]

    def workloads(self, parameter: Parameter) -> list[Definition]:
        """The WDs that ``wd=`` means."""
        found = [self.file.of("wd")[name] for name in chosen(parameter, list(self.file.of("wd")))]
        self.used |= set(found)
        return found

    def general(self, name: str) -> Parameter | None:
        """A general parameter."""
        return self.file.general.get(name)

    def switched_on(self, name: str) -> bool:
        """Whether a general switch is on; the word alone means yes."""
        parameter = self.general(name)
        return parameter is not None and (not parameter.values or parameter.word.lower() in ("yes", "y"))
