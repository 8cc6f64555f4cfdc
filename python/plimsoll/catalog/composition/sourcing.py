"""Where the values of a document come from.

Model: a table ``sources`` beside values has their keys and says of each: a publication, *from memory*, *assumed*, *derived*, *chosen*.
Words about a table and names of other tables need none.

    unsourced(array_document("nvme"))            # [] when every value says where it comes from
"""

from __future__ import annotations

from plimsoll.catalog.composition.merging import SOURCES, UNSOURCED
from plimsoll.catalog.folder import Json


def unsourced(document: Json) -> list[str]:
    """The paths of values that do not say where they come from."""
    return [path for path, source in values_of(document) if source is None and path.rpartition(".")[2] not in UNSOURCED]


def values_of(table: Json, path: str = "") -> list[tuple[str, str | None]]:
    """Every value below a table as (path, source); the source is None where none is told."""
    found: list[tuple[str, str | None]] = []
    sources = table.get(SOURCES, {})
    for key, value in table.items():
        place = f"{path}.{key}" if path else key
        if isinstance(value, dict):
            found += [] if key == SOURCES else values_of(value, place)
        elif isinstance(value, list) and value and all(isinstance(entry, dict) for entry in value):
            for number, entry in enumerate(value):
                found += values_of(entry, f"{place}.{entry.get('name', number)}")
        elif not isinstance(value, list):
            found.append((place, sources.get(key)))
    return found
