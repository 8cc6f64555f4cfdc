"""A folder of the catalog: TOML files, each called like what it holds.

Folder(path, "suite").document("four-corners")
"""

from __future__ import annotations

import os
import tomllib
from typing import Any

from plimsoll.displayed import quoted
from plimsoll.errors import InputError
from plimsoll.near import meant
from plimsoll.records import dataclass


@dataclass(frozen=True)
class Folder:
    """Where the files are, and what one of them is called in messages."""

    path: str
    noun: str

    def names(self) -> list[str]:
        """What there is, in order."""
        return sorted(name[:-5] for name in os.listdir(self.path) if name.endswith(".toml"))

    def document(self, name: str) -> dict[str, Any]:
        """One file as a dictionary; raises `InputError` with the nearest name when there is none."""
        if name not in self.names():
            raise InputError(f"{self.noun} {quoted(name)} is unknown; {self._nearest(name)}")
        with open(os.path.join(self.path, f"{name}.toml"), "rb") as file:
            return tomllib.load(file)

    def _nearest(self, asked: str) -> str:
        return meant(asked, self.names())
