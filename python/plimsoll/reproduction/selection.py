"""Which claims are asked for: those of reports by number or name, those of numbers.

chosen(("003",), ())              # claims 33 to 41
chosen((), ("36-38", "41"))       # these four
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from plimsoll.catalog.claims import Claim, claim_files, claims
from plimsoll.displayed import quoted
from plimsoll.errors import InputError

_NUMBERS = re.compile(r"(\d+)(?:-(\d+))?")


def chosen(reports: Sequence[str], numbers: Sequence[str]) -> list[Claim]:
    """The claims of these reports (all reports if none) with these numbers (all if none), each once."""
    files = {name: claims(name) for name in claim_files()}
    aliases = {alias: name for name, found in files.items() for alias in (name, found[0].report)}
    for report in reports:
        if report not in aliases:
            known = ", ".join(sorted(f"{found[0].report} ({name})" for name, found in files.items()))
            raise InputError(f"report {quoted(report)} is unknown; there are {known}.")
    names = {aliases[report] for report in reports} or set(files)
    found = sorted((claim for name in names for claim in files[name]), key=lambda claim: claim.number)
    wanted = {number for text in numbers for number in _numbers(text, found)}
    return [claim for claim in found if not wanted or claim.number in wanted]


def _numbers(text: str, among: Sequence[Claim]) -> set[int]:
    """The numbers that a text such as ``36``, ``36-38`` or ``36,41`` means."""
    known = {claim.number for claim in among}
    found: set[int] = set()
    for part in text.split(","):
        ends = _NUMBERS.fullmatch(part.strip())
        if ends is None:
            raise InputError(f"--claim {text}: {quoted(part.strip())} is no number; write for example 36, 36-38 or 36,41.")
        first, last = int(ends[1]), int(ends[2] or ends[1])
        asked = known & set(range(first, last + 1))
        if not asked or not {first, last} <= known:
            raise InputError(f"--claim {text}: there is no such claim; there are {min(known)} to {max(known)}.")
        found |= asked
    return found
