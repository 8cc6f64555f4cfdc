"""Names of SDs, WDs and FWDs where others refer to them: one by one, by wildcard, or as a range.

Model: ``sd*`` is every name that begins with sd, ``sd1-sd99`` every one of these that there is, ``*`` all. A name that is written out must
exist.

    chosen(parameter, ["sd1", "sd2", "sd10"])        # of sd=(sd1-sd5): ['sd1', 'sd2']
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Sequence

from plimsoll.formats.vdbench.parameter import Parameter, Word

_NUMBERED = re.compile(r"(.*?)(\d{1,9})")


def chosen(parameter: Parameter, known: Sequence[str]) -> list[str]:
    """The known names that a parameter means, each once, in the order written; raises `InputError` when a word means none."""
    found: dict[str, None] = {}
    for word in parameter.values:
        names = meant(word, known)
        if not names:
            raise parameter.wrong(f"{word.text!r} names nothing that is defined above; there {_are(known)}.")
        found |= dict.fromkeys(names)
    return list(found)


def meant(word: Word, known: Sequence[str]) -> list[str]:
    """The known names that one word means; none when it means none."""
    if word.text in known:
        return [word.text]
    if "*" in word.text:
        # Only the star is a wildcard; brackets and question marks are letters of a name.
        pattern = re.sub(r"[\[?]", lambda found: f"[{found[0]}]", word.text)
        return [name for name in known if fnmatch.fnmatchcase(name, pattern)]
    first, dash, last = word.text.partition("-")
    if word.quoted or not dash:
        return []
    start, stop = _NUMBERED.fullmatch(first), _NUMBERED.fullmatch(last)
    if start is None or stop is None or start[1] != stop[1]:
        return []
    return [name for name in known if _within(name, start[1], int(start[2]), int(stop[2]))]


def _within(name: str, stem: str, first: int, last: int) -> bool:
    found = _NUMBERED.fullmatch(name)
    return found is not None and found[1] == stem and first <= int(found[2]) <= last


def _are(known: Sequence[str]) -> str:
    if not known:
        return "is none"
    shown = ", ".join(known[:8])
    return f"{'is' if len(known) == 1 else 'are'} {shown}{' …' if len(known) > 8 else ''}"
