"""What a run may be called besides its directory: ``latest``, its label, or how its name begins.

Model: a name that is typed in full means its directory, whatever else it could be. Then come ``latest`` and ``latest~2`` (the run two
before it), then labels, then beginnings of names: as much of one is typed as is unique. A label or a beginning that several runs have
means none of them: which one was meant, only the user knows.

    meant("latest~1", ["2026-11-22T10-00-00_oltp-db", "2026-11-23T09-30-00_check"], {})       # "2026-11-22T10-00-00_oltp-db"
    meant("cache on", names, {"2026-11-23T09-30-00_check": "cache on"})
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from plimsoll.displayed import quoted
from plimsoll.errors import InputError

LATEST = "latest"
_LATEST = re.compile(rf"{LATEST}(?:~(\d{{1,6}}))?")
#: As many runs are named at most where several are meant.
_TOLD = 3


def meant(asked: str, names: Sequence[str], labels: Mapping[str, str]) -> str | None:
    """The name of the run that ``asked`` means, among ``names`` (oldest first); None when it means none.

    Raises `InputError` when it means several, or ``latest`` goes back further than there are runs.
    """
    found = _LATEST.fullmatch(asked)
    if found is not None and names:
        return _back(asked, int(found[1] or 0), names)
    if not asked:
        return None
    for matching, noun in (
        ([name for name in names if labels.get(name) == asked], "is the label of"),
        ([name for name in names if name.startswith(asked)], "is how the names begin of"),
    ):
        if len(matching) > 1:
            raise InputError(f"{quoted(asked)} {noun} {len(matching)} runs: {_told(matching)}; name one of them.")
        if matching:
            return matching[0]
    return None


def _back(asked: str, steps: int, names: Sequence[str]) -> str:
    if steps >= len(names):
        there = "there is one run" if len(names) == 1 else f"there are {len(names)} runs"
        raise InputError(f"{quoted(asked)} goes back too far: {there}, the oldest is {quoted(names[0])}.")
    return names[-1 - steps]


def _told(names: Sequence[str]) -> str:
    newest = [quoted(name) for name in reversed(names)][:_TOLD]
    return f"{', '.join(newest)}{' and others' if len(names) > _TOLD else ''}"
