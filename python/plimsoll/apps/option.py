"""An option of a driver's stream, and what is said of one that is wrong or that there is not.

Model: a driver declares its options once, by name; a reader gives the canonical value of whatever was written, or raises `ValueError` with
what would be right, and the sentence is made here.

    declared = Declared("order entry has", {"terminals": Option(8, whole, "terminals that ask")}, {"threads": "terminals"})
    declared.read("terminals", "many", "mine.toml: stream")     # InputError: mine.toml: stream: terminals is 'many', but must be …
    declared.unknown("threads", "mine.toml: stream")            # …: order entry has no option 'threads'; did you mean 'terminals'?
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from plimsoll.displayed import quoted
from plimsoll.errors import InputError
from plimsoll.near import listed, meant


@dataclass(frozen=True)
class Option:
    """``read`` gives the canonical value or raises `ValueError` with what would be right."""

    default: Any
    read: Callable[[Any], Any]
    meaning: str


@dataclass(frozen=True)
class Declared:
    """The options of a stream by name, in the order of the reference; ``has`` begins the sentence on one that there is not.

    ``other_words`` are options that other drivers have, with what is meant here.
    """

    has: str
    options: Mapping[str, Option]
    other_words: Mapping[str, str] = field(default_factory=dict)
    #: Whether sentences have a number between quotes, as it stands on a command line.
    quotes_numbers: bool = False

    def read(self, name: str, value: Any, where: str) -> Any:
        """The canonical value of one option."""
        try:
            return self.options[name].read(value)
        except ValueError as right:
            said = quoted(str(value) if self.quotes_numbers else value)
            raise InputError(f"{where}: {name} is {said}, but must be {right}.") from None

    def read_all(self, given: Mapping[str, Any], where: str) -> dict[str, Any]:
        """The canonical value of every option, the default where nothing is given."""
        return {name: self.read(name, given[name], where) if name in given else one.default for name, one in self.options.items()}

    def unknown(self, name: str, where: str) -> InputError:
        """What to say of an option that there is not."""
        other = self.other_words.get(name)
        hint = f"did you mean {quoted(other)}?" if other else meant(name, tuple(self.options))
        return InputError(f"{where}: {self.has} no option {quoted(name)}; {hint}")


def one_of(words: tuple[str, ...]) -> Callable[[Any], str]:
    """A reader of one of some words, whose blanks may be written - or _."""

    def read(value: Any) -> str:
        word = str(value).strip().lower().replace("-", " ").replace("_", " ")
        if word not in words:
            raise ValueError(listed(words))
        return word

    return read
