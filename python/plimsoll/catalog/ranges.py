"""Which values of an array nobody has looked up, and between what each plausibly lies: rules in ``ranges.toml``, by key and source.

Model: a value whose source says *assumed*, *from memory*, *derived* or *fitted* is uncertain, as wide as the first rule that fits its key
has it for that word; every other value is exact, so what is looked up, or set after the ``?`` of a target, is drawn no longer. One
statement of the catalog is one uncertain value, wherever it is used: two controllers of one part err together, and so do two arrays with
one kind of drive. Its *identity* is the file that says it, the key, the source and the value.
Limits: words and truth values are choices, which are compared, not drawn, unless a rule lists what they can be. Uncertain values are
independent of each other. What is exact by its source may be wrong all the same.

    for one in uncertain(described("array:msa50-sas-10k-raid5-8")):
        one.name, one.source, one.at(0.5), one.ends()      # ("destage depth", "assumed", 4, (2, 8))
"""

from __future__ import annotations

import copy
import os
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from fnmatch import fnmatchcase
from functools import cache
from typing import Any, Literal, cast

from plimsoll.catalog.composition.key_units import unit_of
from plimsoll.catalog.composition.merge import UNSOURCED, origin_of
from plimsoll.catalog.composition.sources import values_of
from plimsoll.records import dataclass
from plimsoll.shape import fitted
from plimsoll.stored import Json

_FILE = os.path.join(os.path.dirname(__file__), "ranges.toml")
Form = Literal["factor", "percent", "points", "doublings", "choice", "exact"]
Value = int | float | str | bool
_FITTED = "fitted"
#: Words of a source by which a value is uncertain, the one that leaves most open first, and what a rule calls the width for each.
_SAID = {"assumed": "assumed", "from memory": "memory", "derived": "derived", "fitted to": _FITTED}
#: Lists of tables, whose entries have names.
_LISTS = frozenset({"link", "controller", "devices", "group", "volumes"})


@dataclass(frozen=True)
class Range:
    """A rule of ``ranges.toml``, as it stands there."""

    keys: list[str]
    form: Form
    reason: str
    called: str | None = None
    assumed: Any = None
    memory: Any = None
    derived: Any = None
    fitted: Any = None

    def fits(self, key: str) -> bool:
        """Whether values of this key are among those of the rule."""
        return any(fnmatchcase(key, pattern) for pattern in self.keys)


@dataclass(frozen=True)
class Uncertain:
    """One statement that nobody has looked up, and every place of the document that it stands at."""

    identity: str
    key: str
    value: Value
    source: str
    range: Range
    width: Any
    paths: tuple[str, ...] = field(compare=False)

    @property
    def name(self) -> str:
        """What people call it."""
        if self.range.called is not None:
            return self.range.called.replace("{component}", self.paths[0].split(".")[1])
        key = self.key.rpartition(".")[2]
        unit = unit_of(key)
        ending = next((ending for ending in _endings(key) if unit is not None and unit_of(f"x_{ending}") == unit), "")
        return key.removesuffix(f"_{ending}").replace("_", " ")

    def at(self, share: float) -> Value:
        """The value that a ``share``, above 0 and below 1, of what is plausible lies below."""
        if self.range.form == "choice":
            return cast("Value", self.width[int(share * len(self.width))])
        if isinstance(self.value, str):
            raise TypeError(f"{self.key}: a word is drawn from a choice only")
        if self.range.form == "factor":
            drawn: float = self.value * self.width ** (2 * share - 1)
        elif self.range.form == "percent":
            drawn = self.value * (1 + self.width / 100 * (2 * share - 1))
        elif self.range.form == "points":
            drawn = self.value + self.width * (2 * share - 1)
        else:
            drawn = self.value * 2.0 ** (int(share * (2 * self.width + 1)) - self.width)
        return round(drawn) if isinstance(self.value, int) else drawn

    def ends(self) -> tuple[Value, Value]:
        """What it lies between."""
        if self.range.form == "choice":
            return self.width[0], self.width[-1]
        return _short(self.at(1e-12)), _short(self.at(1 - 1e-12))


def uncertain(document: Json) -> list[Uncertain]:
    """Every uncertain value of an array's document, in its order."""
    places: dict[str, list[str]] = {}
    found: dict[str, tuple[str, Value, str]] = {}
    values = _at_places(document)
    for path, source in values_of(document):
        if source is not None and path in values:
            key = key_of(path)
            identity = " · ".join((origin_of(source), key, source, str(values[path])))
            places.setdefault(identity, []).append(path)
            found[identity] = (key, values[path], source)
    ranged = ((identity, key, value, source, _range(key, value, source)) for identity, (key, value, source) in found.items())
    return [
        Uncertain(identity, key, value, source, rule, width, tuple(places[identity]))
        for identity, key, value, source, (rule, width) in ranged
        if rule is not None
    ]


def with_values(document: Json, values: Mapping[str, Value], ones: Iterable[Uncertain]) -> Json:
    """The document with other values for uncertain ones, by their identities; the given one is not changed."""
    changed = copy.deepcopy(document)
    for one in ones:
        for path in one.paths:
            *steps, last = path.split(".")
            table: Any = changed
            for step in steps:
                table = table[step] if isinstance(table, dict) else _entry(table, step)
            table[last] = values[one.identity]
    return changed


def implausible(document: Json) -> str | None:
    """Where values are each plausible and not together, in the words of a refusal; None where they can be."""
    pages = {controller["name"]: (controller.get("cache") or {}).get("page_bytes", 0) for controller in document["controller"]}
    for group in document["group"]:
        strip_bytes = 512 * group["raid"].get("strip_sectors", 128)
        if group["raid"].get("devices", 1) > 1 and pages.get(group["controller"], 0) > strip_bytes:
            return f" controller.{group['controller']}.cache.page_bytes: no cache has pages longer than a strip of {strip_bytes} bytes"
    return None


def key_of(path: str) -> str:
    """The key of a path: without the names of components."""
    first, *rest = path.split(".")
    return ".".join([first, *(rest[1:] if first in _LISTS else rest)])


@cache
def rules() -> list[Range]:
    """All rules, in their order."""
    with open(_FILE, "rb") as file:
        return [fitted(table, Range) for table in tomllib.load(file)["range"]]


def _range(key: str, value: Value, source: str) -> tuple[Range | None, Any]:
    """The rule for a value and its width; no rule for one that is exact."""
    said = next((width for word, width in _SAID.items() if word in source), None)
    if said is None or key.rpartition(".")[2] in UNSOURCED:
        return None, None
    rule = _rule(key, said)
    width = getattr(rule, said)
    if rule.form == "exact" or not width or (rule.form != "choice" and isinstance(value, str | bool)):
        return None, None
    # Nothing is a multiple of zero; a width of none is a rule that leaves nothing open.
    return (None, None) if value == 0 and rule.form in ("factor", "percent", "doublings") else (rule, width)


def _rule(key: str, said: str) -> Range:
    """The first that fits; of what was fitted the first that says how well fits determine such a value, called as any other."""
    own = [rule for rule in rules() if rule.fits(key)]
    if said != _FITTED:
        return own[0]
    return replace(next(rule for rule in own if rule.fitted is not None), called=own[0].called)


def _at_places(document: Json) -> dict[str, Value]:
    """Every number, word and truth value of a document by its path."""
    found: dict[str, Value] = {}

    def look(value: Any, path: str) -> None:
        if isinstance(value, dict):
            for key, entry in value.items():
                if key != "sources":
                    look(entry, f"{path}.{key}" if path else key)
        elif isinstance(value, list):
            for number, entry in enumerate(value):
                if isinstance(entry, dict):
                    look(entry, f"{path}.{entry.get('name', number)}")
        else:
            found[path] = value

    look(document, "")
    return found


def _short(value: Value) -> Value:
    """A broken end as people write it."""
    return float(f"{value:.6g}") if isinstance(value, float) else value


def _entry(table: list[Json], step: str) -> Json:
    named = next((entry for entry in table if entry.get("name") == step), None)
    return table[int(step)] if named is None else named


def _endings(key: str) -> list[str]:
    """What a key can end in, the longest first: ``bytes_per_s``, ``per_s``, ``s`` of ``rate_bytes_per_s``."""
    words = key.split("_")
    return ["_".join(words[start:]) for start in range(1, len(words))]
