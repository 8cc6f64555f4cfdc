"""Where something stands in a document: keys, and names of entries of lists, joined by dots as after the ``?`` of a target.

below("controller.raid", "cores")                                # 'controller.raid.cores'
[place for place, _ in entries("link", [{"name": "fc"}, {}])]     # ['link.fc', 'link.1']
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def below(path: str, key: str) -> str:
    """The place of a key of the table at ``path``, which is empty for the document."""
    return f"{path}.{key}" if path else key


def entries(path: str, values: list[Any]) -> Iterator[tuple[str, Any]]:
    """The place of every entry of the list at ``path``, by its name if it has one, else by its number, and the entry."""
    for number, entry in enumerate(values):
        yield below(path, str(entry.get("name", number) if isinstance(entry, dict) else number)), entry
