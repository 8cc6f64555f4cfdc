"""What a misspelt word can mean: the hints in sentences about unknown names.

Model: a word is near to what `difflib` finds alike; equal but for case is nearest. Names of a family, such as those of arrays, are words
joined by ``-`` and begin alike, so what begins alike is no sign of what was meant. There, first come names that have all words asked for,
in any order, then those at the least distance (insert, delete, replace, swap of neighbours, each 1), then those that have the text
anywhere, then what is alike. All that are equally near are meant equally.
Limits: names of a family further away than a third of the letters are only found by the later steps.

    nearest("quue_depth", ["queue_depth", "block_size"])     # "queue_depth"
    meant("maen", ["mean", "max"])                           # "did you mean 'mean'?"
    meant("x", ["mean", "max"])                              # "there are mean, max."
    family_hint("msa2000", names)                            # "it may be any of 20 names, such as 'msa2000-raid5', …"
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from plimsoll.displayed import quoted

#: The least likeness of a word that is meant, between 0 and 1.
_ALIKE = 0.6
#: As many names of a family are told at most.
_TOLD = 3
#: Shorter texts stand in too many names.
_LEAST = 3


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that is meant; None when none is near."""
    # Imported where it is needed: few runs have a misspelt word.
    import difflib

    words = list(known)
    plain = {name.lower(): name for name in reversed(words)}
    found = difflib.get_close_matches(word.lower(), list(plain), n=1, cutoff=_ALIKE)
    return plain[found[0]] if found else None


def meant(word: str, known: Iterable[str], otherwise: str = "") -> str:
    """The question that names the nearest word; else ``otherwise``, or the list of all that are known."""
    words = list(known)
    near = nearest(word, words)
    return f"did you mean {quoted(near)}?" if near else otherwise or f"there are {', '.join(words)}."


def listed(words: Sequence[str], last: str = "or") -> str:
    """Words as a sentence lists them: ``a, b or c``."""
    return f"{', '.join(words[:-1])} {last} {words[-1]}" if len(words) > 1 else "".join(words)


def family_hint(asked: str, names: Sequence[str]) -> str | None:
    """What to say of a name that there is not; None when nothing is near."""
    near = near_names(asked, names)
    if not near:
        return None
    told = [f"{quoted(name)}" for name in near[:_TOLD]]
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
    alike = nearest(asked, names)
    return inside or ([alike] if alike else [])


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
