"""Text from elsewhere, names above all, as it may be shown: nothing of it commands a terminal, ends a line, or cannot be encoded.

Model: a name is any string of bytes. Python holds bytes that are no UTF-8 as lone surrogates (PEP 383), which no encoder takes. These,
control characters (escape sequences begin with one) and characters that turn the direction of text around are written as JSON writes them,
so that a JSON document stays one with the same values, and files that were written so read back as the very name.

    displayed("a\\x1b[2Jb")        # "a\\u001b[2Jb", six characters for the escape
"""

from __future__ import annotations

import re

#: C0 without tab and line feed, DEL, C1, marks and embeddings of direction, separators of lines, and what UTF-8 cannot encode.
_UNSAFE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_UNSAFE_IN_LINE = re.compile(_UNSAFE.pattern.replace(r"\x00-\x08\x0b-\x1f", r"\x00-\x1f"))


def displayed(text: str) -> str:
    """``text`` without anything unsafe; lines and tabs stay."""
    return _UNSAFE.sub(_escaped, text)


def displayed_in_line(text: str) -> str:
    """A name within a line or a cell, which no line feed or tab of its own may break."""
    return _UNSAFE_IN_LINE.sub(_escaped, text)


def encoded(text: str) -> bytes:
    """As UTF-8, for documents that are read back: what cannot be encoded is written as `displayed` writes it, the rest as it is."""
    return text.encode("utf-8", "backslashreplace")


def _escaped(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"
