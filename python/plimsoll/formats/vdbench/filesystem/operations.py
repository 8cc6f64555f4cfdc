"""``operation=``, ``operations=`` and ``rdpct=``: what a FWD does.

Model: an RD's operations come before that of the FWD, and a loop over operations before both; without any of them a FWD reads.
``rdpct`` makes a mix of reading and writing.
Limits: as in Vdbench, a FWD with sequential access has no ``rdpct``. With that of a run (``forrdpct``), reading or writing is drawn for
each file that is opened, where Vdbench draws it for each request.

    operations(use)        # [{'read': 70.0, 'write': 30.0}]
"""

from __future__ import annotations

from collections.abc import Mapping

from plimsoll.formats.vdbench.definition import Definition
from plimsoll.formats.vdbench.parameter import Parameter, Word
from plimsoll.formats.vdbench.values import Values

#: Our word for each of Vdbench's.
WORDS = {
    "read": "read",
    "write": "write",
    "create": "create",
    "open": "open",
    "close": "close",
    "access": "access",
    "getattr": "stat",
    "setattr": "setattr",
    "copy": "copy",
    "move": "move",
    "delete": "delete",
    "mkdir": "mkdir",
    "rmdir": "rmdir",
}
_MOVING = ("read", "write")
#: Those that go from one tree to another.
BETWEEN_TREES = ("copy", "move")

Shares = dict[str, float]


def is_random(values: Values) -> bool:
    """Whether requests go anywhere in a file."""
    parameter = values.parameter("fileio")
    return parameter is not None and parameter.texts[0].lower().startswith("ra")


def operations(run: Definition, values: Values) -> list[Shares]:
    """What a FWD does in one round: for each operation of its list, our operations with their percentages."""
    if "operations" in values.choice:
        return [_mixed(values.loops["operations"], values.choice["operations"], values)]
    several = run.get("operations")
    if several is not None:
        return [_mixed(several, word, values) for word in several.values]
    own = values.definition.get("operations")
    if own is not None:
        return [_mixed(own, own.values[0], values)]
    share = values.parameter("rdpct")
    if share is not None:
        return [_mixed(share, Word("read"), values)]
    return [{"read": 100.0}]


def _mixed(parameter: Parameter, word: Word, values: Values) -> Shares:
    known = word.text.lower()
    if known not in WORDS:
        raise parameter.wrong(f"{word.text!r} is no operation; there are {', '.join(WORDS)}.")
    own = values.definition.get("rdpct")
    if own is not None and not is_random(values):
        raise own.wrong("Vdbench takes no rdpct with sequential access; write fileio=random, or operation=read or write alone.")
    if known not in _MOVING or values.parameter("rdpct") is None:
        return {WORDS[known]: 100.0}
    reads = values.percent("rdpct", 100)
    return {name: share for name, share in (("read", reads), ("write", 100 - reads)) if share > 0}


def table(shares: Mapping[str, float]) -> str | dict[str, float]:
    """As the option `operation`: a word, or percentages that make 100."""
    if len(shares) == 1:
        return next(iter(shares))
    whole = sum(shares.values())
    rounded = {name: round(100 * share / whole, 6) for name, share in shares.items()}
    largest = max(rounded, key=lambda name: rounded[name])
    rounded[largest] = round(100 - sum(share for name, share in rounded.items() if name != largest), 6)
    return {name: int(share) if share == int(share) else share for name, share in rounded.items()}
