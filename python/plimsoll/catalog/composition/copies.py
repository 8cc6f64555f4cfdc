"""Several equal arrays behind one host.

Model: with ``copies = 4`` every link, controller, set of devices, group, spare and set of volumes is there four times, called
``a0-NAME`` to ``a3-NAME``. Links that are named in ``shared`` are not copied: the copies use them together, or are dealt in turn to as
many as are asked for, each with a number behind its name.

    copies = 4
    shared = { hba = 2 }            # copies 0 and 2 use hba0, copies 1 and 3 use hba1
"""

from __future__ import annotations

from typing import Any

from plimsoll.catalog.composition.merge import SOURCES
from plimsoll.displayed import quoted
from plimsoll.errors import InputError
from plimsoll.stored import Json

#: Components, and in which keys they name others.
_COPIED = {
    "link": (),
    "controller": (),
    "devices": ("links",),
    "group": ("controller", "members"),
    "volumes": ("groups", "links", "ports"),
}
#: Keys of a controller's cache that name links.
_CACHE_LINKS = ("mirror_link", "memory_link")


def copied(document: Json) -> Json:
    """The document with its copies made and its shared links dealt; as it is without the keys ``copies`` and ``shared``."""
    changed = {key: value for key, value in document.items() if key not in ("copies", "shared", SOURCES)}
    shared: dict[str, int] = document.get("shared", {})
    known = {link["name"] for link in document.get("link", [])}
    for name in shared:
        if name not in known:
            raise InputError(f"shared.{name}: there is no link {quoted(name)}; there are {', '.join(sorted(known)) or 'none'}.")
    if "copies" in document:
        numbers = range(int(document["copies"]))
        for key in _COPIED:
            own = [entry for entry in document.get(key, []) if key != "link" or entry["name"] not in shared]
            changed[key] = [_copy(entry, key, number, shared) for number in numbers for entry in own]
        if "spares" in document:
            changed["spares"] = [f"a{number}-{name}" for number in numbers for name in document["spares"]]
    elif shared:
        changed["link"] = [link for link in document["link"] if link["name"] not in shared]
        changed["volumes"] = [_dealt(entry, number, shared) for number, entry in enumerate(document.get("volumes", []))]
    for link in document.get("link", []):
        count = shared.get(link["name"], 0)
        changed["link"] += [{**link, "name": _shared_name(link["name"], number, count)} for number in range(count)]
    return changed


def _dealt(volumes: Json, number: int, shared: dict[str, int]) -> Json:
    """A set of volumes of an array that is not copied, on its share of the shared links."""
    links = [_shared_name(name, number, shared[name]) if name in shared else name for name in volumes.get("links", [])]
    return {**volumes, "links": links} if links else volumes


def _copy(entry: Json, kind: str, number: int, shared: dict[str, int]) -> Json:
    def renamed(value: Any) -> Any:
        if isinstance(value, list):
            return [renamed(name) for name in value]
        return _shared_name(value, number, shared[value]) if value in shared else f"a{number}-{value}"

    changed = {**entry, "name": f"a{number}-{entry['name']}"}
    changed |= {key: renamed(entry[key]) for key in _COPIED[kind] if key in entry}
    cache = entry.get("cache", {}) if kind == "controller" else {}
    links = {key: renamed(cache[key]) for key in _CACHE_LINKS if key in cache}
    return {**changed, "cache": {**cache, **links}} if links else changed


def _shared_name(name: str, number: int, count: int) -> str:
    return name if count == 1 else f"{name}{number % count}"
