"""A target as it was named, with what the name means: read and composed once, when a run is planned, and handed on as a value.

Model: ``array:NAME`` and ``array:FILE`` mean a document (`plimsoll.catalog.arrays`), which the engine is given in place of the name; every
other text is the target itself. A `Composer` composes each text once, however many points, configurations and experiments name it.
Limits: what is behind a path is looked at by the engine, every time anew; a file of an array that is changed meanwhile is not read again.

    target = Composer().target("array:nvme?host.cores=2")
    target.text, target.document["host"], target.handed        # …, 'array:{"name": "nvme", …}'
"""

from __future__ import annotations

import json
import os
from dataclasses import field
from functools import cached_property

from plimsoll.passwords import withheld
from plimsoll.records import dataclass
from plimsoll.stored import Json

_ARRAY = "array:"


@dataclass(frozen=True)
class Target:
    """``document`` is that of an array; ``driver`` is the one that the target is for, None for the block engine.

    ``layout`` is what has to be laid out before the target is there (`plimsoll.points.layouts`), empty where nothing has.
    """

    text: str
    document: Json | None = field(default=None, compare=False, repr=False)
    driver: str | None = None
    layout: str = ""

    @property
    def kind(self) -> str:
        """The word before the colon; of a path whatever is there."""
        return self.text.strip().partition(":")[0]

    @cached_property
    def handed(self) -> str:
        """What the engine takes for it."""
        return self.text if self.document is None else _ARRAY + json.dumps(self.document)

    def told(self, problem: str) -> str:
        """What the engine says of an array, which it knows by the name in its document, with the file where it came from a file."""
        source = self.text.strip().removeprefix(_ARRAY).partition("?")[0]
        if self.document is None or not (source.endswith(".toml") or os.sep in source):
            return problem
        return problem.replace(f"target `{_ARRAY}{self.document['name']}`", source, 1)

    def __str__(self) -> str:
        return self.text


class Composer:
    """Makes targets of texts, and remembers what each means."""

    def __init__(self) -> None:
        self._documents: dict[str, Json] = {}

    def target(self, text: str, driver: str | None = None) -> Target:
        """The target that ``text`` names; raises `InputError` for an array that there is not."""
        text = withheld(text)
        if not text.strip().startswith(_ARRAY):
            return Target(text, None, driver)
        if text not in self._documents:
            from plimsoll.catalog.arrays import described

            self._documents[text] = described(text)
        return Target(text, self._documents[text], driver)


def target_of(text: str) -> Target:
    """The target that ``text`` names, for who needs one alone."""
    return Composer().target(text)
