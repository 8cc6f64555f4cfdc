"""Where the values of a document come from.

Model: a table ``sources`` beside values has their keys and says of each: a publication, *from memory*, *assumed*, *derived*, *chosen*.
Words about a table and names of other tables need none. A source of a value that is not there is a slip of the pen, or would be that of
something else tomorrow. Limits: what a table with ``part`` has is known only when the part is put in, so such tables are passed over.

    unsourced(array_document("nvme"))            # [] when every value says where it comes from
    check_sources({"host": {"cores": 2, "sources": {"coers": "a report"}}})     # host.sources.coers: there is no key `coers` in host …
"""

from __future__ import annotations

from typing import Any

from plimsoll.catalog.composition.merge import SOURCES, UNSOURCED
from plimsoll.catalog.composition.place import below, entries
from plimsoll.errors import InputError
from plimsoll.near import nearest
from plimsoll.stored import Json


def unsourced(document: Json) -> list[str]:
    """The paths of values that do not say where they come from."""
    return [path for path, source in values_of(document) if source is None and path.rpartition(".")[2] not in UNSOURCED]


def values_of(table: Json, path: str = "") -> list[tuple[str, str | None]]:
    """Every value below a table as (path, source); the source is None where none is told."""
    found: list[tuple[str, str | None]] = []
    sources = table.get(SOURCES, {})
    for key, value in table.items():
        place = below(path, key)
        if isinstance(value, dict):
            found += [] if key == SOURCES else values_of(value, place)
        elif isinstance(value, list) and value and all(isinstance(entry, dict) for entry in value):
            for where, entry in entries(place, value):
                found += values_of(entry, where)
        elif not isinstance(value, list):
            found.append((place, sources.get(key)))
    return found


def check_sources(value: Any, path: str = "") -> None:
    """Raises `InputError` that begins with the place where a source is that of nothing."""
    if isinstance(value, list):
        for place, entry in entries(path, value):
            check_sources(entry, place)
    if not isinstance(value, dict):
        return
    there = [key for key in value if key != SOURCES]
    for key in value.get(SOURCES, {}):
        if key not in there and "part" not in value:
            near = nearest(key, there)
            right = f"did you mean `{near}`?" if near else f"give it a value, or name one of {', '.join(there) or 'none'}."
            raise InputError(f"{below(path, SOURCES)}.{key}: there is no key `{key}` {f'in {path}' if path else 'there'}; {right}")
    for key in there:
        check_sources(value[key], below(path, key))
