"""What an array is made of, to be paid for, fed and put into racks: its parts by their names, with how many of each.

Model: drives, controllers and enclosures as the document names them before they are put in; links and hosts belong to them or are there
already. What is set after the ``?`` of a target counts: drives that were exchanged, added or spared. An array whose file describes a drive
itself, without a part, has a part without a name.
Limits: what is set at other paths changes no part.

    bill("array:msa2000-raid5")       # [Item("drives", "savvio-10k2-146g", 49), Item("controllers", "msa2000-g2", 2), …]
    bays("array:nearline-raid6")      # [("shelf", 12, 12)]: a name, its bays, and how many drives are in it
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from plimsoll.catalog.arrays import PREFIX, said
from plimsoll.catalog.composition.parts import part_document
from plimsoll.errors import InputError
from plimsoll.stored import Json

#: Lists of a document, and the kind of part in each.
_KINDS = {"controller": "controllers", "enclosure": "enclosures"}


@dataclass(frozen=True)
class Item:
    """So many of one part; None where the array's own file describes it."""

    kind: str
    part: str | None
    count: int


def bill(target: str) -> list[Item]:
    """The parts of the array that a target means."""
    document, settings = _said(target)
    copies = int(document.get("copies", 1))
    found: dict[tuple[str, str | None], int] = {}
    for kind, part, count in (*_drives(document, settings), *_others(document)):
        found[kind, part] = found.get((kind, part), 0) + count * copies
    return [Item(kind, part, count) for (kind, part), count in found.items() if count]


def drives_of(target: str) -> dict[str, str | None]:
    """The part of each set of drives."""
    document, _ = _said(target)
    return {str(entry["name"]): entry.get("model", {}).get("part") for entry in document.get("devices", [])}


def bays(target: str) -> list[tuple[str, int, int]]:
    """Every enclosure that says how many bays it has, with the drives in it."""
    document, settings = _said(target)
    inside: dict[str, int] = {}
    for entry in document.get("devices", []):
        inside[entry.get("in", "")] = inside.get(entry.get("in", ""), 0) + _count(entry, settings)
    found = []
    for entry in document.get("enclosure", []):
        part = part_document("enclosures", str(entry["part"])) if "part" in entry else {}
        if (number := entry.get("bays", part.get("bays"))) is not None:
            found.append((str(entry["name"]), int(number), inside.get(entry["name"], 0)))
    return found


def _said(target: str) -> tuple[Json, dict[str, str]]:
    source, _, settings = target.strip().removeprefix(PREFIX).partition("?")
    pairs = dict(setting.partition("=")[::2] for setting in settings.split("&") if setting)
    return said(source, settings, target), pairs


def _drives(document: Json, settings: dict[str, str]) -> Iterator[tuple[str, str | None, int]]:
    for number, entry in enumerate(document.get("devices", [])):
        spared = int(settings.get("spares", 0)) if number == 0 else 0
        yield "drives", entry.get("model", {}).get("part"), _count(entry, settings) + spared


def _others(document: Json) -> Iterator[tuple[str, str | None, int]]:
    for key, kind in _KINDS.items():
        for entry in document.get(key, []):
            yield kind, entry.get("part"), 1


def _count(entry: Json, settings: dict[str, str]) -> int:
    typed: Any = settings.get(f"devices.{entry['name']}.count", entry.get("count", 1))
    try:
        return int(typed)
    except (TypeError, ValueError):
        raise InputError(f"devices.{entry['name']}.count: {typed} is no number of drives; write a whole one.") from None
