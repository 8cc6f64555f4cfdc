"""Whether what somebody wrote has the shape that composing an array works on: tables and lists of tables where they belong.

Model: only what the steps of this folder reach into is looked at; every value is for `crates/array` to judge. Numbers have to be finite,
since JSON, in which a document goes there, has no others. What is marked absent has to be there without the mark: a name that nothing
has is a slip, and would leave everything as it is.

    check_shape({"devices": 3})                                                                    # devices: write a list of tables …
    check_absent({"link": [{"name": "fc"}]}, {"link": [{"name": "fb", "absent": True}]})            # link.fb: there is nothing …
"""

from __future__ import annotations

import math
from typing import Any, TypedDict

from plimsoll.catalog.composition.merge import ABSENT, is_named
from plimsoll.displayed import quoted
from plimsoll.errors import InputError
from plimsoll.shape import Misshapen, fitted
from plimsoll.stored import Json

_LISTS = ("link", "controller", "enclosure", "devices", "group", "volumes")
_TABLES = ("host", "shared", "sources")
_TEXTS = ("like", "name", "part", "title")
#: Tables in entries of lists, with an example.
_INNER = {"model": 'part = "savvio-10k2-146g"', "cache": "battery = false"}


_Devices = TypedDict("_Devices", {"count": int, "in": str, "links": list[str]}, total=False)


class _Enclosure(TypedDict, total=False):
    bays: int


class _Group(TypedDict, total=False):
    controller: str
    members: list[str]
    failures: dict[str, Any]


class _Volumes(TypedDict, total=False):
    groups: list[str]
    links: list[str]
    ports: list[str]


class _Cache(TypedDict, total=False):
    mirror_link: str
    memory_link: str


class _Controller(TypedDict, total=False):
    cache: _Cache


class Composed(TypedDict, total=False):
    """What the steps of this folder take for granted."""

    devices: list[_Devices]
    enclosure: list[_Enclosure]
    group: list[_Group]
    volumes: list[_Volumes]
    controller: list[_Controller]
    spares: list[str]


def check_shape(document: Json) -> None:
    """Raises `InputError` that begins with the place."""
    _check_all(document, "")
    _check_lists(document)
    try:
        fitted(document, Composed)
    except Misshapen as problem:
        raise InputError(f"{problem.place}: {problem.said}.") from None


def _check_lists(document: Json) -> None:
    for key in _LISTS:
        names = set()
        for number, entry in enumerate(_list(document, key, "")):
            place = f"{key}[{number}]"
            if "name" not in entry:
                raise InputError(f'{place}: the table has no name; write for example name = "disk".')
            if entry["name"] in names:
                raise InputError(f"{place}: another is called {quoted(entry['name'])} already; give each of [[{key}]] a name of its own.")
            names.add(entry["name"])
            _list(entry, "link", f"{place}.")
            for inner, example in _INNER.items():
                if not isinstance(entry.get(inner, {}), dict):
                    raise InputError(f"{place}.{inner}: write a table, for example {inner} = {{ {example} }}.")
    for key, count in (("copies", document.get("copies", 1)), *((f"shared.{name}", of) for name, of in document.get("shared", {}).items())):
        if not isinstance(count, int) or count < 1:
            raise InputError(f"{key}: write a whole number above 0.")


def check_absent(under: Json, over: Json) -> None:
    """Raises `InputError` where ``over`` leaves out what ``under`` does not have."""
    for key in _LISTS:
        known = [entry["name"] for entry in under.get(key, [])] if is_named(under.get(key)) else []
        for entry in over.get(key, []):
            if entry.get(ABSENT) is True and entry["name"] not in known:
                raise InputError(
                    f"{key}.{entry['name']}: there is nothing of this name to leave out; there are {', '.join(known) or 'none'}."
                )


def _list(table: Json, key: str, before: str) -> list[Json]:
    """A list of tables."""
    entries: Any = table.get(key, [])
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise InputError(f"{before}{key}: write a list of tables, each below [[{key}]].")
    return entries


def _check_all(value: Any, place: str) -> None:
    """Texts, tables and finite numbers, wherever they stand."""
    if isinstance(value, dict):
        for key, entry in value.items():
            where = f"{place}.{key}" if place else key
            if key in _TEXTS and not isinstance(entry, str):
                raise InputError(f"{where}: write a text.")
            if key in _TABLES and not isinstance(entry, dict):
                raise InputError(f"{where}: write a table.")
            _check_all(entry, where)
    elif isinstance(value, list):
        for number, entry in enumerate(value):
            _check_all(entry, f"{place}[{number}]")
    elif isinstance(value, float) and not math.isfinite(value):
        raise InputError(f"{place}: {value} is no number that counts something; write a finite one.")
