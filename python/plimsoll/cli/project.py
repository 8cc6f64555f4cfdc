"""What ``plimsoll.toml`` says, as defaults of the commands' options; what is typed wins."""

from __future__ import annotations

from typing import Any

from plimsoll.cli.commands import VERBS
from plimsoll.defaults import Defaults, defaults

#: Commands whose store is no default of an option: one that is given means something there.
_ASKS_ITSELF = ("list", "fit")
#: Commands that give their run a name of its own.
_NAMES_ITSELF = ("import",)


def default_map(found: Defaults | None = None) -> dict[str, dict[str, Any]]:
    """The defaults of every command by the names of its options."""
    found = found or defaults()
    if found.path is None:
        return {}
    return {verb: _of(verb, found) for verb in VERBS}


def _of(verb: str, found: Defaults) -> dict[str, Any]:
    options: dict[str, Any] = {} if verb in _ASKS_ITSELF else {"out": found.store}
    if found.label is not None and verb not in _NAMES_ITSELF:
        options["label"] = found.label
    return options
