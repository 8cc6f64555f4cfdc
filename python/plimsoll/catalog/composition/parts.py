"""Drives, controllers, links, enclosures and hosts by name: TOML files in ``parts/KIND/``, each value with its source.

Model: a table with ``part = "NAME"`` is what the part says, with the table's own values on top. Which kind of part is meant follows from
the place: ``devices.model`` is a drive, an entry of ``link`` a link (also in the parts of controllers and enclosures), and so on. A part
can be ``like`` another of its kind, and a name that ends in ``.toml`` is a file beside the document that names it. ``title`` and ``note``
of a part are for people and do not go into the array.

    [devices.model]
    part = "savvio-10k1-73g"            # parts/drives/savvio-10k1-73g.toml
    queue = { policy = "fcfs", window = 1 }
"""

from __future__ import annotations

import os
from functools import cache
from typing import Any

from plimsoll.catalog.composition.file import read_file
from plimsoll.catalog.composition.merge import merged, said_in
from plimsoll.catalog.composition.sources import check_sources
from plimsoll.catalog.folder import Folder
from plimsoll.displayed import quoted
from plimsoll.errors import InputError
from plimsoll.stored import Json

_FOLDER = os.path.join(os.path.dirname(os.path.dirname(__file__)), "parts")
#: Kind of part → what one is called in messages.
KINDS = {"drives": "drive", "controllers": "controller", "links": "link", "enclosures": "enclosure", "hosts": "host"}
_LISTS = {"link": "links", "controller": "controllers", "enclosure": "enclosures"}
_FOR_PEOPLE = ("title", "note")
#: A chain of parts that are like another is not longer than this.
_LIKE_MAX = 8


def part_names(kind: str) -> list[str]:
    """Every shipped part of a kind."""
    return _folder(kind).names()


def part_document(kind: str, name: str) -> Json:
    """A part as its file and those that it is like say it; `InputError` if there is none."""
    return _part(kind, name, _LIKE_MAX)


def anchored(value: Any, folder: str) -> Any:
    """The value with the names of part files made paths that begin at ``folder``."""
    if isinstance(value, dict):
        return {key: _path(word, folder) if key == "part" else anchored(word, folder) for key, word in value.items()}
    if isinstance(value, list):
        return [anchored(entry, folder) for entry in value]
    return value


def with_parts(document: Json) -> Json:
    """The document with every part put in."""
    changed = dict(document)
    for key, kind in _LISTS.items():
        if key in document:
            changed[key] = [_put_in(entry, kind, f"{key}.{_name(entry)}") for entry in document[key]]
    if "devices" in document:
        changed["devices"] = [_with_drive(entry) for entry in document["devices"]]
    if "host" in document:
        changed["host"] = _put_in(document["host"], "hosts", "host")
    return changed


def _with_drive(devices: Json) -> Json:
    return {**devices, "model": _put_in(devices.get("model", {}), "drives", f"devices.{_name(devices)}.model")}


def _put_in(table: Json, kind: str, where: str) -> Json:
    if "part" in table:
        try:
            part = part_document(kind, str(table["part"]))
        except InputError as problem:
            raise InputError(f"{where}.part: {problem}") from None
        table = merged(part, {key: value for key, value in table.items() if key != "part"})
    if kind in ("controllers", "enclosures") and "link" in table:
        links = [_put_in(link, "links", f"{where}.link.{_name(link)}") for link in table["link"]]
        table = {**table, "link": links}
    return table


def _part(kind: str, name: str, left: int) -> Json:
    document = _read(kind, name)
    like = document.get("like")
    values = {key: value for key, value in document.items() if key not in (*_FOR_PEOPLE, "like")}
    if left == 0:
        raise InputError(f"{KINDS[kind]} {quoted(name)}: `like` goes round in a circle.")
    if like is not None:
        values = dict(merged(_part(kind, str(like), left - 1), values))
    try:
        check_sources(values)
    except InputError as problem:
        raise InputError(f"{KINDS[kind]} {quoted(name)}: {problem}") from None
    return values


def part_title(kind: str, name: str) -> str:
    """What a part is, for people."""
    return str(_read(kind, name).get("title", name))


@cache
def _read(kind: str, name: str) -> Json:
    document = read_file(name, "a part") if name.endswith(".toml") else _folder(kind).document(name)
    return dict(said_in(document, f"{kind}/{name}"))


def _folder(kind: str) -> Folder:
    return Folder(os.path.join(_FOLDER, kind), KINDS[kind])


def _path(name: Any, folder: str) -> Any:
    return os.path.join(folder, name) if isinstance(name, str) and name.endswith(".toml") else name


def _name(entry: Json) -> str:
    return str(entry.get("name", "unnamed"))
