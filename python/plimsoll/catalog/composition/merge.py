"""One document on top of another.

Model: tables are merged key by key, lists of tables by the ``name`` of their entries; anything else is replaced. A value that is
replaced loses the source of the one before, so that no source is ever that of another value. A source of a value that neither has is
kept, since a part may bring it; `sources` refuses those that are left. ``absent = true`` marks a table that is to
be left out, ``absent = false`` takes the mark away again; what is marked goes when all is merged, with `without_absent`.

    merged({"link": [{"name": "fc", "overhead_ns": 5}]}, {"link": [{"name": "fc", "overhead_ns": 7}]})
    without_absent({"cache": {"size_bytes": 1, "absent": True}})                                            # {}
    with_source({"count": 6}, "report 000")        # {'count': 6, 'sources': {'count': 'report 000'}}
"""

from __future__ import annotations

from typing import Any

from plimsoll.stored import Json

SOURCES = "sources"
ABSENT = "absent"
#: The key that names what is put in.
PART = "part"
#: The source of what stands after the ``?`` of a target.
TYPED = "set on the command line"
#: Keys that are words about a table or names of other tables: what they say is plain from where they stand.
UNSOURCED = frozenset(
    {"name", "title", "purpose", "source", "rationale", "tags", "note", "kind"}
    | {"part", "like", "absent", "in", "controller", "links", "ports", "members", "copies", "shared", "volumes"}
)


class Said(str):
    """A source that knows in which file of the catalog, or of the user, it stands: ``drives/savvio-10k1-36g``."""

    origin: str

    def __new__(cls, text: str, origin: str) -> Said:
        said = super().__new__(cls, text)
        said.origin = origin
        return said

    def __getnewargs__(self) -> tuple[str, str]:  # type: ignore[override]
        return str(self), self.origin


def said_in(value: Any, origin: str) -> Any:
    """The value with every source below it, a family's ``source`` of an overlay too, knowing that it stands in the file ``origin``."""
    if isinstance(value, list):
        return [said_in(entry, origin) for entry in value]
    if not isinstance(value, dict):
        return value
    changed = {key: said_in(entry, origin) for key, entry in value.items()}
    if isinstance(sources := value.get(SOURCES), dict):
        changed[SOURCES] = {key: Said(text, origin) if isinstance(text, str) else text for key, text in sources.items()}
    if isinstance(source := value.get("source"), str):
        changed["source"] = Said(source, origin)
    return changed


def origin_of(source: str) -> str:
    """The file that a source stands in; empty for what was typed."""
    return source.origin if isinstance(source, Said) else ""


def merged(under: Any, over: Any) -> Any:
    """``over`` on top of ``under``; neither is changed."""
    if isinstance(under, dict) and isinstance(over, dict):
        return _merged_tables(under, over)
    if is_named(under) and is_named(over):
        by_name = {entry["name"]: entry for entry in over}
        return [*(merged(entry, by_name.pop(entry["name"], {})) for entry in under), *by_name.values()]
    return over


def without_absent(value: Any) -> Any:
    """The value without the tables that are marked absent, and without the marks."""
    if isinstance(value, dict):
        there = {key: entry for key, entry in value.items() if key != ABSENT and not _is_absent(entry)}
        return {key: without_absent(entry) for key, entry in there.items()}
    if isinstance(value, list):
        return [without_absent(entry) for entry in value if not _is_absent(entry)]
    return value


def is_named(value: Any) -> bool:
    """Whether a value is a list of tables that have names."""
    return isinstance(value, list) and bool(value) and all(isinstance(entry, dict) and "name" in entry for entry in value)


def with_source(table: Json, source: str) -> Json:
    """The table and all below it, with ``source`` for every value that has none."""
    changed: Json = {}
    own = dict(table.get(SOURCES, {}))
    for key, value in table.items():
        if isinstance(value, dict) and key not in (SOURCES, "shared"):
            changed[key] = with_source(value, source)
        elif isinstance(value, list) and value and all(isinstance(entry, dict) for entry in value):
            changed[key] = [with_source(entry, source) for entry in value]
        elif key != SOURCES:
            changed[key] = value
            if key not in UNSOURCED and not isinstance(value, list):
                own.setdefault(key, source)
    return changed | ({SOURCES: own} if own else {})


def _merged_tables(under: Json, over: Json) -> Json:
    table = {key: merged(value, over[key]) if key in over else value for key, value in under.items() if key != SOURCES}
    table |= {key: value for key, value in over.items() if key not in under and key != SOURCES}
    kept = {key: text for key, text in under.get(SOURCES, {}).items() if key not in over or isinstance(over[key], dict)}
    sources = kept | over.get(SOURCES, {})
    return table | ({SOURCES: sources} if sources else {})


def _is_absent(value: Any) -> bool:
    return isinstance(value, dict) and bool(value.get(ABSENT))
