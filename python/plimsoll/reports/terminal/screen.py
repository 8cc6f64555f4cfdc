"""The terminal that text is written for: how wide it is, and whether it shows colours.

Model: colours say faster, slower, failed and doubt, never alone: a word or sign stands beside each. A painted text carries marks of our own
in place of control sequences, so that it can be measured, folded and sanitised like any other; whoever prints it turns them into colours.
Words are never split: what is longer than a line stands alone on one.

    screen = Screen(width=80, colour=True)
    coloured(screen.paint("faster", "good"))          # "\\x1b[32mfaster\\x1b[0m"
"""

from __future__ import annotations

import re
import textwrap
from typing import Literal

from plimsoll.records import dataclass

Tone = Literal["good", "bad", "doubt", "quiet", "strong", ""]

#: Characters for private use, which mark where a tone begins, and its end.
_MARKS: dict[str, str] = {"good": "\ue100", "bad": "\ue101", "doubt": "\ue102", "quiet": "\ue103", "strong": "\ue104"}
_END = "\ue10f"
_ANY = re.compile("[\ue100-\ue10f]")
_CODES = {"\ue100": "\x1b[32m", "\ue101": "\x1b[31m", "\ue102": "\x1b[33m", "\ue103": "\x1b[2m", "\ue104": "\x1b[1m", _END: "\x1b[0m"}


@dataclass(frozen=True)
class Screen:
    """``width`` is None where lines may be as long as they are."""

    width: int | None = None
    colour: bool = False

    def paint(self, text: str, tone: Tone) -> str:
        """``text`` in the colour of its tone, if there are colours."""
        return f"{_MARKS[tone]}{text}{_END}" if self.colour and tone and text else text

    def wrapped(self, text: str, first: str = "", rest: str = "") -> str:
        """``text`` in lines that begin with ``first`` and then ``rest``."""
        return "\n".join(self.lines(text, first, rest))

    def lines(self, text: str, first: str = "", rest: str = "") -> list[str]:
        """The same, line by line."""
        if self.width is None:
            return [f"{first}{text}"]
        return folded(text, self.width, first, rest) or [first.rstrip()]


#: Where nothing is known of what reads the text.
ANY = Screen()


def folded(text: str, width: int, first: str = "", rest: str = "") -> list[str]:
    """``text`` in lines of at most ``width`` characters, as far as its words allow."""
    return textwrap.wrap(
        text,
        max(width, len(rest) + 8),
        initial_indent=first,
        subsequent_indent=rest,
        break_long_words=False,
        break_on_hyphens=False,
        drop_whitespace=True,
    )


def visible(text: str) -> int:
    """How many characters are seen."""
    return len(_ANY.sub("", text))


def coloured(text: str) -> str:
    """Painted text with the control sequences of a terminal."""
    return _ANY.sub(lambda mark: _CODES.get(mark[0], ""), text)
