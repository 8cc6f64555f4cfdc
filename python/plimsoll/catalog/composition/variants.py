"""One file, many arrays: a family says what its arrays have in common, and along which axes they differ.

Model: ``variants.name`` is the pattern of the names; in its braces stand axes. Every value of an axis is an overlay on the document;
overlays are laid on in the order of the axes, and those of ``combined`` last, where all values in ``when`` are chosen: of an axis with
several there, one of them. In an overlay, ``says`` is what titles say of the value, ``named`` what names say (the value itself if not
given), and ``source`` stands for every value of the overlay that has no source of its own. Combinations in ``left_out`` do not exist.

    [variants]
    name = "msa30-{drive}-{level}-{drives}"
    left_out = [{ level = "raid10", drives = "3" }]

    [axis.drives.6]
    says = "six"
    source = "report 000"
    devices = [{ name = "disk", count = 6 }]
    group = [{ name = "raid", raid = { devices = 6 } }]

    [[combined]]
    when = { server = ["g7", "g8"], cache = "off" }
    controller = [{ name = "raid", cache = { write_cache = "forced_on" } }]

Limits: a name is made of one value of every axis, so two axes need something between them that keeps their values apart.
"""

from __future__ import annotations

import itertools
import re
from typing import Any

from plimsoll.catalog.composition.merge import merged, with_source
from plimsoll.displayed import quoted
from plimsoll.errors import InputError
from plimsoll.records import dataclass
from plimsoll.stored import Json

_OWN_KEYS = ("variants", "axis", "combined")
_VARIANTS_KEYS = {"name", "left_out"}
_WORDS = ("says", "named", "source")
Choice = dict[str, str]


@dataclass(frozen=True)
class Axis:
    """One way in which arrays of a family differ: value → overlay, with what it says."""

    name: str
    values: dict[str, Json]

    def named(self, value: str) -> str:
        """What stands in the name of an array."""
        return str(self.values[value].get("named", value))

    def says(self, value: str) -> str:
        """What stands in the title of an array."""
        return str(self.values[value].get("says", value))

    def overlay(self, value: str) -> Json:
        """What the value changes."""
        return _overlay(self.values[value])


class Family:
    """The arrays of one file; a file without variants has one, called like the file."""

    def __init__(self, name: str, document: Json) -> None:
        self.name = name
        self.common = {key: value for key, value in document.items() if key not in _OWN_KEYS}
        self.axes = [Axis(axis, values) for axis, values in document.get("axis", {}).items()]
        self.combined: list[Json] = document.get("combined", [])
        variants = document.get("variants", {})
        self.pattern = str(variants.get("name", name))
        self._left_out: list[Choice] = variants.get("left_out", [])
        self._check(set(variants))
        self._choices = self._by_name()

    def names(self) -> list[str]:
        """Every array, in the order of the axes."""
        return list(self._choices)

    def about(self, key: str) -> str:
        """What the file says of all its arrays: title (with its braces), purpose, source, rationale."""
        return " ".join(str(self.common.get(key, "")).split())

    def tags(self) -> list[str]:
        """Words to find the arrays by."""
        return list(self.common.get("tags", []))

    def choice(self, name: str) -> Choice:
        """Which value of every axis an array has."""
        return self._choices[name]

    def chosen(self, wanted: Choice, name: str) -> str:
        """The array that has the wanted values and is else like the array ``name``; like the first that has them, if that is no array."""
        values = {axis.name: axis.values for axis in self.axes}
        for axis, value in wanted.items():
            if value not in values[axis]:
                raise InputError(f"{axis}: there is no {quoted(value)}; there are {', '.join(values[axis])}.")
        choice = {**self._choices.get(name, {}), **wanted}
        found = next((name for name, own in self._choices.items() if choice.items() <= own.items()), None)
        if found is None:
            said = ", ".join(f"{axis} {value}" for axis, value in choice.items())
            raise InputError(f"there is no {self.name} with {said}; 'plimsoll list --arrays' shows what there is.")
        return found

    def asked(self) -> str:
        """What is said to somebody who names only the family: its axes with their values, and how to choose one."""
        axes = [f"{axis.name} ({', '.join(axis.values)})" for axis in self.axes]
        first = self.axes[0]
        listed = " and ".join(filter(None, [", ".join(axes[:-1]), axes[-1]]))
        return (
            f"a family of {len(self._choices)} arrays; say which one by {listed}, for example "
            f"'array:{self.name}?{first.name}={next(iter(first.values))}'."
        )

    def document(self, name: str) -> Json:
        """What the file says of one of its arrays; parts are still names."""
        choice = self._choices[name]
        document = self.common
        for axis in self.axes:
            document = merged(document, axis.overlay(choice[axis.name]))
        for special in self.combined:
            if all(choice[axis] in _several(wanted) for axis, wanted in special["when"].items()):
                document = merged(document, _overlay({key: value for key, value in special.items() if key != "when"}))
        return {"name": name, **document, "title": self.title(name)}

    def title(self, name: str) -> str:
        """One line for people."""
        choice = self._choices[name]
        said = {axis.name: axis.says(choice[axis.name]) for axis in self.axes}
        return _filled(str(self.common.get("title", name)), said)

    def _by_name(self) -> dict[str, Choice]:
        found: dict[str, Choice] = {}
        for values in itertools.product(*(axis.values for axis in self.axes)):
            choice = dict(zip((axis.name for axis in self.axes), values, strict=True))
            if any(absent.items() <= choice.items() for absent in self._left_out):
                continue
            words = {axis.name: axis.named(choice[axis.name]) for axis in self.axes}
            name = _filled(self.pattern, words)
            if name in found:
                raise InputError(
                    f"array file {quoted(self.name)}: variants.name makes {quoted(name)} twice; "
                    "name every axis with more than one value in it."
                )
            found[name] = choice
        return found

    def _check(self, keys: set[str]) -> None:
        known = {axis.name: axis.values for axis in self.axes}
        if keys - _VARIANTS_KEYS:
            raise InputError(
                f"array file {quoted(self.name)}: variants has no key {quoted(sorted(keys - _VARIANTS_KEYS)[0])}; it has name and left_out."
            )
        for text, where in ((self.pattern, "variants.name"), (str(self.common.get("title", "")), "title")):
            for axis in re.findall(r"\{(\w+)\}", text):
                self._known(axis, known, where)
        for choice in (*self._left_out, *(special.get("when", {}) for special in self.combined)):
            for axis, wanted in choice.items():
                self._known(axis, known, "left_out or when")
                for value in _several(wanted):
                    self._known(value, known[axis], f"axis {axis}")
        if any("when" not in special for special in self.combined):
            raise InputError(
                f"array file {quoted(self.name)}: an entry of combined has no `when`; say for which values of which axes it stands."
            )

    def _known(self, word: Any, known: Json, where: str) -> None:
        if word not in known:
            raise InputError(
                f"array file {quoted(self.name)}: {where}: there is no {quoted(word)}; there are {', '.join(known) or 'none'}."
            )


def _several(wanted: str | list[str]) -> list[str]:
    """The values that ``when`` has for one axis."""
    return wanted if isinstance(wanted, list) else [wanted]


def _filled(pattern: str, words: dict[str, str]) -> str:
    return re.sub(r"\{(\w+)\}", lambda place: words[place[1]], pattern)


def _overlay(table: Json) -> Json:
    plain = {key: value for key, value in table.items() if key not in _WORDS}
    return with_source(plain, table["source"]) if "source" in table else plain
