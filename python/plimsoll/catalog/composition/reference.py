"""The tables of docs/arrays.md: every family of arrays with the words that make its names, and every part.

names_of_arrays()            # Markdown between the page's markers
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from plimsoll.catalog.composition.parts import KINDS, part_names, part_title
from plimsoll.catalog.composition.variants import Family


def names_of_arrays(families: Iterable[Family]) -> str:
    """A section per family."""
    return "\n".join(line for family in families for line in _family(family))


def names_of_parts() -> str:
    """A table of all parts."""
    rows = [f"| `{name}` | {KINDS[kind]} | {part_title(kind, name)} |" for kind in KINDS for name in part_names(kind)]
    return "\n".join(["| part | kind | what it is |", "|---|---|---|", *rows])


def _family(family: Family) -> Iterator[str]:
    names = family.names()
    yield f"### `array:{family.pattern}`"
    yield ""
    count = f"{len(names)} names; for example" if len(names) > 1 else "One name:"
    yield f"{family.about('purpose')}. {count} `array:{names[0]}`: {family.title(names[0])}."
    yield ""
    if family.axes:
        yield "| in the name | words, and what they stand for |"
        yield "|---|---|"
        for axis in family.axes:
            words = "; ".join(_word(axis.named(value), axis.says(value).strip(" ,")) for value in axis.values)
            yield f"| `{{{axis.name}}}` | {words} |"
        yield ""
    yield f"Source: {family.about('source')}. {family.about('rationale').rstrip('.')}."
    yield ""


def _word(word: str, says: str) -> str:
    named = f"`{word}`" if word else "nothing"
    return f"{named}: {says}" if says else named
