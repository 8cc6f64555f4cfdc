"""Names of sides: what tables, legends and sentences call what was measured.

Model: a side is called as it was named (``-t fast=/dev/sdb``, a configuration of an experiment). One that nobody named is called by its
target; of several targets only the words that tell them apart are kept, because the whole stands in the environment of every result.
Limits: words end at ``:``, ``/``, ``-``, ``_``, ``.`` and ``?``. A name keeps at least one letter; where the rest would tell nothing apart,
names stay whole.

    short_names(["array:msa50-sas-10k-raid0-10", "array:msa50-sas-10k-raid10-10"])     # {…: "raid0", …: "raid10"}
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from plimsoll.result import Result

#: Where a word may end, and where the part of a name ends that says where or what kind.
_WORDS, _PLACES = re.compile(r"[:/\-_.?&]"), re.compile(r"[:/]")
#: Before which a word may be left out that all names end with.
_ENDS = re.compile(r"[-_./]")


def names_of(results: Iterable[Result]) -> dict[str, str]:
    """What each side is called, by `Result.side`; only what was named after its target is shortened."""
    found = {result.side: result.side == result.job.target for result in results}
    short = short_names([side for side, unnamed in found.items() if unnamed])
    names = {side: short.get(side, side) for side in found}
    return names if len(set(names.values())) == len(names) else {side: side for side in names}


def short_names(targets: Sequence[str]) -> dict[str, str]:
    """Targets by the words that tell them apart; one alone stays as it is."""
    if len(targets) > 1:
        for border in (_WORDS, _PLACES):
            short = _without_common(targets, border)
            if len(set(short)) == len(targets) and all(any(map(str.isalpha, name)) for name in short):
                return dict(zip(targets, short, strict=True))
    return {target: target for target in targets}


def _without_common(targets: Sequence[str], border: re.Pattern[str]) -> list[str]:
    """Targets without the words that all begin and end with."""
    begin = _common(targets, border)
    rests = [target[begin:] for target in targets]
    end = _common([rest[::-1] for rest in rests], _ENDS)
    return [rest[: len(rest) - end] for rest in rests]


def _common(texts: Sequence[str], border: re.Pattern[str]) -> int:
    """How many characters all begin with, up to the last border among them."""
    first, last = min(texts), max(texts)
    alike = next((index for index, (one, other) in enumerate(zip(first, last, strict=False)) if one != other), min(len(first), len(last)))
    return max((found.end() for found in border.finditer(first[:alike])), default=0)
