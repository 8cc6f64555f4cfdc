"""The names of a family that a misspelt one can mean.

Model: names of arrays are words joined by ``-``, and those of a family begin alike, so what begins alike is no sign of what was meant.
First come names that have all words asked for, in any order, then those at the least distance (insert, delete, replace, swap of neighbours,
each 1), then those that have the text anywhere, then what `difflib` finds alike. All that are equally near are meant equally.
Limits: names further away than a third of the letters are only found by the later steps.

    near_names("msa2000-riad5", names)     # ["msa2000-raid5"]
    hint("msa2000", names)                 # "it may be any of 20 names, such as 'msa2000-raid5', …"
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence

#: As many names are told at most.
_TOLD = 3
#: Shorter texts stand in too many names.
_LEAST = 3


def hint(asked: str, names: Sequence[str]) -> str | None:
    """What to say of a name that there is not; None when nothing is near."""
    near = near_names(asked, names)
    if not near:
        return None
    told = [f"{name!r}" for name in near[:_TOLD]]
    if len(near) > _TOLD:
        return f"it may be any of {len(near)} names, such as {', '.join(told[:-1])} and {told[-1]}"
    return f"did you mean {' or '.join(filter(None, (', '.join(told[:-1]), told[-1])))}?"


def near_names(asked: str, names: Sequence[str]) -> list[str]:
    """The names that are meant, in order; none when nothing is near."""
    asked = asked.lower().replace("_", "-")
    if asked in names:
        return [asked]
    words = set(asked.split("-"))
    whole = [name for name in names if words.issubset(name.split("-"))]
    if whole:
        return whole
    distances = {name: _distance(asked, name) for name in names}
    least = min(distances.values(), default=0)
    if 3 * least <= len(asked):
        return [name for name, distance in distances.items() if distance == least]
    inside = [name for name in names if len(asked) >= _LEAST and asked in name]
    return inside or difflib.get_close_matches(asked, names, n=1, cutoff=0.5)


def _distance(one: str, other: str) -> int:
    """Optimal string alignment."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        last, before, row = before, row, [i]
        for j, against in enumerate(other, 1):
            best = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != against))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == against:
                best = min(best, last[j - 2] + 1)
            row.append(best)
    return row[-1]
