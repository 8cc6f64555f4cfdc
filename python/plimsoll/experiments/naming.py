"""What the parts of an experiment are called in messages: keys for who wrote a file, options for who typed a command.

Model: `Place` begins every message about a document and names what stands in it. A file has places and keys with values in TOML; a typed
command is one experiment, so nothing has to say which, and what is a key there is an option here.

    Place("mine.toml").inside("experiment 'a'").key("objective")     # "key 'objective'"
    TYPED.key("objective"), TYPED.example("over", '{ queue_depth = "1..64" }')      # "--objective", "--over queue_depth=1..64"
"""

from __future__ import annotations

import shlex
import tomllib
from dataclasses import dataclass
from typing import Any

from plimsoll.errors import InputError

#: Commands that are not called like their kind.
_COMMANDS = {"scaling": "scale", "single": "run"}
#: Keys that are not options of the same name.
_ARGUMENTS = {"workloads": "WORKLOAD", "asserts": "--assert"}


@dataclass(frozen=True)
class Place:
    """Where in a file something stands."""

    text: str

    def inside(self, what: str) -> Place:
        """A place within this one."""
        return Place(f"{self.text}: {what}")

    def at(self, key: str) -> Place:
        """The place of a key's value."""
        return self.inside(self.key(key))

    def wrong(self, problem: object) -> InputError:
        """The message, for raising."""
        return InputError(f"{self.text}: {problem}")

    def key(self, name: str) -> str:
        """A key where the sentence does not say that it is one."""
        return f"key {name!r}"

    def name(self, name: str) -> str:
        """A key where the sentence says so."""
        return f"{name!r}"

    def kind(self, name: str) -> str:
        """The kind of an experiment."""
        return f"kind {name!r}"

    def example(self, name: str, value: str) -> str:
        """A key with a value, which is TOML, as it is written."""
        return f"{name} = {value}"


@dataclass(frozen=True)
class _Typed(Place):
    """A typed command: one experiment, whose keys are options."""

    def inside(self, what: str) -> Place:
        return self if what.startswith("experiment ") else _Typed(f"{self.text}: {what}" if self.text else what)

    def wrong(self, problem: object) -> InputError:
        return InputError(f"{self.text}: {problem}" if self.text else str(problem))

    def key(self, name: str) -> str:
        return _ARGUMENTS.get(name, f"--{name.replace('_', '-')}")

    def name(self, name: str) -> str:
        return self.key(name)

    def kind(self, name: str) -> str:
        return f"'plimsoll {_COMMANDS.get(name, name)}'"

    def example(self, name: str, value: str) -> str:
        written = tomllib.loads(f"value = {value}")["value"]
        entries = [f"{key}={_words(item)}" for key, item in written.items()] if isinstance(written, dict) else [_words(written)]
        return " ".join(self.key(name) if entry == "" else f"{self.key(name)} {shlex.quote(entry)}" for entry in entries)


#: The place of everything that a short command says.
TYPED: Place = _Typed("")


def _words(value: Any) -> str:
    if isinstance(value, list):
        return ",".join(map(str, value))
    return "" if value is True else str(value)
