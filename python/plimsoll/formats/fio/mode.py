"""What ``rw=`` says: which operations, whether random, and the number behind the colon.

read_mode("randrw:8")       # Mode("randrw", ops="rw", random=True, number="8")
"""

from __future__ import annotations

from dataclasses import dataclass

from plimsoll.errors import InputError

_MODES: dict[str, tuple[str, bool]] = {
    "read": ("r", False),
    "write": ("w", False),
    "trim": ("t", False),
    "randread": ("r", True),
    "randwrite": ("w", True),
    "randtrim": ("t", True),
    "rw": ("rw", False),
    "readwrite": ("rw", False),
    "randrw": ("rw", True),
    "trimwrite": ("tw", False),
    "rwtrim": ("tw", False),
    "randtrimwrite": ("tw", True),
}


@dataclass(frozen=True)
class Mode:
    """``ops`` holds r, w and t; ``number`` is the text behind the colon, or empty."""

    word: str
    ops: str
    random: bool
    number: str = ""

    @property
    def reads(self) -> bool:
        return "r" in self.ops

    @property
    def writes(self) -> bool:
        return "w" in self.ops

    @property
    def mixed(self) -> bool:
        return len(self.ops) > 1


def read_mode(text: str) -> Mode:
    """Words are case-sensitive, as with fio."""
    word, colon, number = text.partition(":")
    if word not in _MODES:
        lower = word.lower()
        hint = f"write {lower}" if lower in _MODES else f"there are {', '.join(sorted(_MODES))}"
        raise InputError(f"{word!r} is not a mode; {hint}.")
    if colon and not number:
        raise InputError(f"{text!r} has no number behind the colon; write for example {word}:8.")
    ops, random = _MODES[word]
    return Mode(word, ops, random, number)
