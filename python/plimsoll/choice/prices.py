"""What parts cost, draw and take up in a rack, and how they fail: dated and sourced, and the user's own figures before the shipped ones.

Model: a file has a table for each part, ``[drives.nearline-16t]``, with ``price``, ``watts``, ``rack_units``, ``mttf_hours`` and
``unreadable_bits`` (bits read for one that cannot be read), and in ``sources`` where each is from, with its date. ``[arrays."msa2000-*"]``
says what whole arrays cost, whatever is in them. What an array costs is known when every part of it is: a part without a price is never
taken for one that costs nothing. Watts are those of drives and
controllers, rack units those of enclosures, where all of them have them.
Limits: prices are summed as they are; a discount, support and the years' energy are for the user's file. One currency at a time.

    book = price_book("mine.toml")
    book.cost("array:nvme-raid10?devices.nvme.count=8")        # Cost(amount=None, currency="USD", missing=("drive nvme-1t",), …)
"""

from __future__ import annotations

import fnmatch
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from plimsoll.catalog.arrays import PREFIX, array_names
from plimsoll.catalog.bill import Item, bill
from plimsoll.catalog.composition.file import read_file
from plimsoll.catalog.composition.parts import KINDS, part_names
from plimsoll.displayed import quoted
from plimsoll.errors import InputError
from plimsoll.near import family_hint, meant
from plimsoll.stored import Json

_SHIPPED = os.path.join(os.path.dirname(os.path.dirname(__file__)), "catalog", "prices.toml")
_WHOLE = "arrays"
_NUMBERS = ("price", "watts", "rack_units", "mttf_hours", "unreadable_bits")
_KEYS = (*_NUMBERS, "date", "sources")
_CURRENCY = "currency"
_TABLES = ("drives", "controllers", "enclosures", _WHOLE)


@dataclass(frozen=True)
class Cost:
    """What an array costs; ``amount`` is None where a part has no price, ``known`` the sum of those that have one."""

    amount: float | None
    currency: str
    known: float
    missing: tuple[str, ...]
    watts: float | None
    rack_units: float | None
    sources: tuple[str, ...]

    def to_json(self) -> Json:
        """For programs."""
        return {
            "amount": self.amount,
            "currency": self.currency,
            "known": self.known,
            "missing": list(self.missing),
            "sources": list(self.sources),
        }


@dataclass(frozen=True)
class Failing:
    """How a drive fails: its mean time to failure, and how many bits are read for one that cannot be."""

    mttf_hours: float
    unreadable_bits: float
    source: str


@dataclass(frozen=True)
class PriceBook:
    """Everything that is known, by kind and part."""

    tables: Mapping[str, Mapping[str, Json]]
    currency: str

    def cost(self, target: str) -> Cost:
        """Of the array that a target means."""
        items = bill(target)
        sources: dict[str, None] = {}
        whole = self._whole(target)
        known, missing = 0.0, []
        if "price" in whole:
            known = float(whole["price"])
            sources[_said(whole, "price")] = None
        for item in () if "price" in whole else items:
            entry = self._entry(item)
            if "price" in entry:
                known += float(entry["price"]) * item.count
                sources[f"{item.part}: {_said(entry, 'price')}"] = None
            else:
                missing.append(f"{KINDS[item.kind]} {item.part or 'without a name'}")
        amount = None if missing else known
        watts = self._sum([item for item in items if item.kind != "enclosures"], whole, "watts")
        units = self._sum([item for item in items if item.kind == "enclosures"], whole, "rack_units")
        return Cost(amount, self.currency, known, tuple(missing), watts, units, tuple(sources))

    def failing(self, drive: str | None) -> Failing:
        """How a drive fails: by its part, or by the class that the shipped file has for all."""
        entry = {**self.tables["drives"].get("*", {}), **self.tables["drives"].get(drive or "", {})}
        own = self.tables["drives"].get(drive or "", {})
        source = _said(own if "mttf_hours" in own else self.tables["drives"].get("*", {}), "mttf_hours")
        return Failing(float(entry["mttf_hours"]), float(entry["unreadable_bits"]), source)

    def _whole(self, target: str) -> Json:
        name = target.strip().removeprefix(PREFIX)
        return next((dict(entry) for pattern, entry in self.tables[_WHOLE].items() if fnmatch.fnmatchcase(name, pattern)), {})

    def _entry(self, item: Item) -> Json:
        return dict(self.tables[item.kind].get(item.part or "", {}))

    def _sum(self, items: list[Item], whole: Json, name: str) -> float | None:
        """Of these parts; None where one of them does not have it, or there are none."""
        if name in whole:
            return float(whole[name])
        found = [float(entry[name]) * item.count for item in items if name in (entry := self._entry(item))]
        return sum(found) if found and len(found) == len(items) else None


def price_book(path: str | None = None) -> PriceBook:
    """The shipped figures, with those of a file of the user's over them; raises `InputError` for what is wrong in it."""
    tables = _read(_SHIPPED)
    if path is None:
        return PriceBook(tables, str(tables[_CURRENCY]))
    own = _read(path)
    _check_names(path, own)
    currency = str(own.get(_CURRENCY, tables[_CURRENCY]))
    merged: Json = {name: {**tables[name]} for name in _TABLES}
    for name in _TABLES:
        if currency != tables[_CURRENCY]:
            # Amounts in another currency are none that can be summed with these.
            merged[name] = {part: {key: value for key, value in entry.items() if key != "price"} for part, entry in merged[name].items()}
        for part, entry in own[name].items():
            merged[name][part] = {**merged[name].get(part, {}), **entry}
    # What the user says of an array comes first.
    merged[_WHOLE] = {**own[_WHOLE], **{key: value for key, value in merged[_WHOLE].items() if key not in own[_WHOLE]}}
    return PriceBook(merged, currency)


def _read(path: str) -> Json:
    document = read_file(path, "a list of prices")
    for key in document:
        if key not in (*_TABLES, _CURRENCY):
            raise InputError(f"{path}: {quoted(key)} is no kind of part; {meant(key, _TABLES)}")
    tables: Json = {name: document.get(name, {}) for name in _TABLES}
    for name, table in tables.items():
        if not isinstance(table, dict) or not all(isinstance(entry, dict) for entry in table.values()):
            raise InputError(f"{path}: {name}: write a table for each part, for example [{name}.NAME].")
        for part, entry in table.items():
            _check(path, f"{name}.{part}", entry)
    return tables | ({_CURRENCY: document[_CURRENCY]} if _CURRENCY in document else {})


def _check_names(path: str, tables: Json) -> None:
    """Nothing stands beside a name that nobody has: whoever wrote it meant another one. Parts and arrays of the user's own are files."""
    for name in _TABLES:
        known = array_names() if name == _WHOLE else part_names(name)
        for part in tables[name]:
            own = part.endswith(".toml") or os.sep in part or "?" in part
            if not own and not any(fnmatch.fnmatchcase(one, part) for one in known):
                what = "no array is called" if name == _WHOLE else f"there is no {KINDS[name]}"
                hint = family_hint(part.strip("*"), known) or "'plimsoll list --arrays' and docs/arrays.md name what there is."
                raise InputError(f"{path}: {name}: {what} {quoted(part)}; {hint}")


def _check(path: str, where: str, entry: Json) -> None:
    for key, value in entry.items():
        if key not in _KEYS:
            raise InputError(f"{path}: {where}: there is no key {quoted(key)}; {meant(key, _KEYS)}")
        if key in _NUMBERS and (isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf):
            raise InputError(f"{path}: {where}.{key}: {quoted(value)} is not an amount; write a number, 0 or more.")
        if key in ("mttf_hours", "unreadable_bits") and not value:
            raise InputError(f"{path}: {where}.{key}: 0 is none; write a number above 0.")
        if key == "date" and not isinstance(value, date):
            raise InputError(f"{path}: {where}.date: {quoted(value)} is no date; write it without quotes, for example date = 2026-03-01.")
        if key == "sources" and not isinstance(value, dict):
            raise InputError(f'{path}: {where}.sources: write a table, for example sources = {{ price = "quotation 4711" }}.')


def _said(entry: Mapping[str, Any], key: str) -> str:
    """Where a value is from, with its date."""
    source = str(entry.get("sources", {}).get(key, "no source given"))
    return f"{source} ({entry['date']})" if "date" in entry else source
