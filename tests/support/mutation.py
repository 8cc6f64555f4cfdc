"""Good files with a few changes, as a strategy of Hypothesis: what the readers of other tools' files are tried with.

Model: a text of the corpus is changed in one to five places. A change is one of letters, words, lines or numbers; what is put in comes from
the texts of the corpus, from ``pieces`` that the reader is likely to stumble over, and from the ends of what numbers can be. Hypothesis
makes a failing text as short as it can.
Limits: nothing is known of a grammar, so most of what is deeply nested is broken near its surface. What is put in is at most one text long.

    @given(mutations(["rw=read\\nbs=4k\\n"], pieces=["bs=0"]))
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from hypothesis import strategies as st

NUMBERS = (
    "0", "1", "-1", "2", "3", "7", "+5", "00", "0.5", "1.5", ".", "1e3", "1e400", "-0", "nan", "inf", "100", "101", "255", "256", "512", "4096",
    "65536", "2147483648", "4294967295", "9223372036854775807", "9223372036854775808", "18446744073709551616", "9" * 30,
    "0x10", "1k", "4K", "64m", "2t", "50%", "1-9", "1,2", "10s", "3h", "٣", "²",
)  # fmt: skip
#: Letters that end, quote or join something somewhere, and some that no tool expects.
LETTERS = "-+0123456789 \t\n\r\"'\\,;:=()[]{}<>/%*#&$!|.~abkKMGxé²\x00\x1b\x85\u2028\ufeff\U0001f600"
_WORDS = re.compile(r"\w+|\s+|[^\w\s]")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
#: Most texts are changed in one place: more changes are seldom taken.
_CHANGES = (1, 1, 1, 1, 2, 2, 3, 5)


def mutations(corpus: Sequence[str], pieces: Sequence[str] = ()) -> st.SearchStrategy[str]:
    """Texts of ``corpus`` with one to five changes; ``pieces`` are put in whole."""
    words = sorted({word for text in corpus for word in _WORDS.findall(text)} | set(NUMBERS))
    lines = sorted({line for text in corpus for line in text.splitlines()} | {""})
    changes: list[Callable[[st.DrawFn, str], str]] = [
        _letters,
        lambda draw, text: _words(draw, text, words),
        lambda draw, text: _lines(draw, text, lines),
        _number,
        lambda draw, text: _put_in(draw, text, pieces or lines),
    ]

    @st.composite
    def changed(draw: st.DrawFn) -> str:
        text = draw(st.sampled_from(corpus))
        for _ in range(draw(st.sampled_from(_CHANGES))):
            text = draw(st.sampled_from(changes))(draw, text)
        return text

    return changed()


def _letters(draw: st.DrawFn, text: str) -> str:
    """Letters replaced, cut out, doubled or put in."""
    start = draw(st.integers(0, len(text)))
    end = min(len(text), start + draw(st.integers(0, 8)))
    match draw(st.integers(0, 3)):
        case 0:
            new = draw(st.sampled_from(LETTERS))
        case 1:
            new = ""
        case 2:
            new = text[start:end] * 2
        case _:
            new = draw(st.sampled_from(LETTERS)) + text[start:end]
    return text[:start] + new + text[end:]


def _words(draw: st.DrawFn, text: str, words: Sequence[str]) -> str:
    """A word or sign replaced, cut out, doubled, exchanged with another or put in."""
    found = _WORDS.findall(text)
    if not found:
        return draw(st.sampled_from(words))
    place, other = draw(st.integers(0, len(found) - 1)), draw(st.integers(0, len(found) - 1))
    match draw(st.integers(0, 4)):
        case 0:
            found[place] = draw(st.sampled_from(words))
        case 1:
            del found[place : place + draw(st.integers(1, 3))]
        case 2:
            found[place:place] = found[place : place + draw(st.integers(1, 5))]
        case 3:
            found[place], found[other] = found[other], found[place]
        case _:
            found.insert(place, draw(st.sampled_from(words)))
    return "".join(found)


def _lines(draw: st.DrawFn, text: str, lines: Sequence[str]) -> str:
    """A line replaced, cut out, doubled, moved or put in, or everything after it cut off."""
    found = text.splitlines(keepends=True)
    if not found:
        return draw(st.sampled_from(lines))
    place, other = draw(st.integers(0, len(found) - 1)), draw(st.integers(0, len(found) - 1))
    match draw(st.integers(0, 5)):
        case 0:
            found[place] = draw(st.sampled_from(lines)) + "\n"
        case 1:
            del found[place : place + draw(st.integers(1, 4))]
        case 2:
            found[place:place] = found[place : place + draw(st.integers(1, 4))]
        case 3:
            found.insert(other, found.pop(place))
        case 4:
            found.insert(place, draw(st.sampled_from(lines)) + "\n")
        case _:
            del found[place:]
    return "".join(found)


def _number(draw: st.DrawFn, text: str) -> str:
    """A number replaced by another, or by the next one."""
    found = list(_NUMBER.finditer(text))
    if not found:
        return text
    place = found[draw(st.integers(0, len(found) - 1))]
    if "." not in place[0] and len(place[0]) < 20 and draw(st.booleans()):
        new = str(int(place[0]) + draw(st.sampled_from([-1, 1])))
    else:
        new = draw(st.sampled_from(NUMBERS))
    return text[: place.start()] + new + text[place.end() :]


def _put_in(draw: st.DrawFn, text: str, pieces: Sequence[str]) -> str:
    start = draw(st.integers(0, len(text)))
    return text[:start] + draw(st.sampled_from(pieces)) + text[start:]
