"""Text from elsewhere, names above all, as it may be shown: nothing of it commands a terminal, ends a line, or cannot be encoded.

Model: a name is any string of bytes. Python holds bytes that are no UTF-8 as lone surrogates (PEP 383), which no encoder takes. Shown,
such a byte is ``\\xff``, as a shell takes it in ``$'…'``; also where `repr` has written the surrogate into a sentence. Control characters
(escape sequences begin with one) and characters that turn the direction of text around are written as JSON writes them. In a JSON document
all are, so that it stays one with the same values, and files that were written so read back as the very name.

    displayed("a\\x1b[2Jb")        # "a\\u001b[2Jb", six characters for the escape
    displayed("n\\udcff.dat")      # "n\\xff.dat"
    as_document({"label": "n\\udcff"})        # b'{"label": "n\\udcff"}'
"""

from __future__ import annotations

import json
import re
from typing import Any

#: C0 without tab and line feed, DEL, C1, marks and embeddings of direction, separators of lines, and what UTF-8 cannot encode.
_UNSAFE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_UNSAFE_IN_LINE = re.compile(_UNSAFE.pattern.replace(r"\x00-\x08\x0b-\x1f", r"\x00-\x1f"))
#: A byte that is no UTF-8, as Python holds it and as `repr` writes that.
_BYTE = re.compile(r"[\udc80-\udcff]|\\udc[89a-f][0-9a-f]")


def displayed(text: str) -> str:
    """``text`` without anything unsafe; lines and tabs stay."""
    return _UNSAFE.sub(_escaped, _with_bytes(text))


def displayed_in_line(text: str) -> str:
    """A name within a line or a cell, which no line feed or tab of its own may break."""
    return _UNSAFE_IN_LINE.sub(_escaped, _with_bytes(text))


def quoted(value: Any) -> str:
    """A value from elsewhere in a sentence: a text between quotes, with its backslashes as they are; anything else as JSON has it."""
    if not isinstance(value, str):
        return json.dumps(value, ensure_ascii=False, default=str)
    quote = '"' if "'" in value and '"' not in value else "'"
    return f"{quote}{displayed_in_line(value)}{quote}"


def python_value(value: Any) -> str:
    """A value in a sentence to whoever gave it in Python."""
    return displayed_in_line(repr(value))


def as_document(value: Any, indent: int | None = None) -> bytes:
    """A JSON document that may be shown, and is read back as what it was."""
    return _UNSAFE.sub(_escaped, json.dumps(value, ensure_ascii=False, indent=indent)).encode()


def encoded(text: str) -> bytes:
    """As UTF-8, for documents that are read back: what cannot be encoded is written as `displayed` writes it, the rest as it is."""
    return text.encode("utf-8", "backslashreplace")


def _with_bytes(text: str) -> str:
    return _BYTE.sub(lambda found: f"\\x{ord(found[0]) - 0xDC00 if len(found[0]) == 1 else int(found[0][4:], 16):02x}", text)


def _escaped(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"
