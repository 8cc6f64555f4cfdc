"""Forms of the values in a layout's file, besides those of experiments: sizes and parts of the room."""

from __future__ import annotations

import re
from typing import Any

from plimsoll.displayed import quoted
from plimsoll.errors import InputError
from plimsoll.experiments.forms import Form
from plimsoll.units import size_bytes, size_text

_PERCENT = re.compile(r"(\d+(?:\.\d+)?)\s*%")
_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,30}")
_SECTOR = 512


def _size(value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        bytes_ = value
    elif isinstance(value, str):
        bytes_ = size_bytes(value)
    else:
        raise InputError(f"{quoted(value)} is not a size; write for example '64KiB'.")
    if bytes_ == 0 or bytes_ % _SECTOR:
        raise InputError(f"{quoted(value)} is not a whole number of sectors of 512 bytes; write for example '64KiB'.")
    return bytes_


def _power(value: Any) -> int:
    bytes_ = _size(value)
    if bytes_ & (bytes_ - 1) or bytes_ < 4096:
        raise InputError(f"{quoted(value)} is not a power of two from 4KiB on; write for example '64KiB'.")
    return bytes_


def _room(value: Any) -> str:
    """A share as ``50%``, a size as bytes in text."""
    found = _PERCENT.fullmatch(value.strip()) if isinstance(value, str) else None
    if found is not None:
        if not 0 < float(found[1]) <= 100:
            raise InputError(f"{quoted(value)} is not a part of the room; write '1%' to '100%', or a size such as '10GiB'.")
        return f"{float(found[1]):.12g}%"
    return size_text(_size(value))


def _word(value: Any) -> str:
    if isinstance(value, str) and _WORD.fullmatch(value):
        return value
    raise InputError(f"{quoted(value)} is not a name for a volume; write up to 31 letters, digits, '-' and '_', for example 'data'.")


SIZE = Form(
    "size", '`"64KiB"`, `"1MiB"`, or a number of bytes; whole sectors.', _size, {"anyOf": [{"type": "integer"}, {"type": "string"}]}
)
UNIT = Form("size", 'a power of two from 4 KiB on, `"64KiB"`.', _power, SIZE.schema)
ROOM = Form("room", '`"50%"` of the room that there is, or a size such as `"10GiB"`.', _room, {"type": "string"})
WORD = Form("name", "up to 31 letters, digits, `-` and `_`.", _word, {"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9_-]{0,30}$"})
