"""Bytes to write, as ``buffer_pattern=`` names them, in the hexadecimal form of our files.

Model: ``0x…`` gives its digits from the left, a decimal number its bytes from the lowest, a text in quotes its letters; several of them
follow each other. ``%o`` (the offset) and a file in single quotes have no counterpart.

    read_pattern('0xdeadbeef"ab"')        # Pattern("0xdeadbeef6162")
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from plimsoll.errors import InputError

_PIECE = re.compile(r"\s*(?:(0[xX][0-9a-fA-F]+)|\"([^\"]*)\"|'([^']*)'|(%o)|(-?\d+))")
_LONGEST = 4096


@dataclass(frozen=True)
class Pattern:
    """``ours`` is empty where ``problem`` says why."""

    ours: str
    problem: str = ""


def read_pattern(text: str, *, offsets: bool = False) -> Pattern:
    """Raises `InputError` when fio would refuse the value; it takes ``offsets`` where it verifies."""
    at, found = 0, b""
    problem = ""
    while at < len(text.rstrip()):
        match = _PIECE.match(text, at)
        if match is None:
            raise InputError(f'{text!r} is not a pattern; write for example 0xdeadbeef or "text".')
        hexadecimal, quoted, file, offset, number = match.groups()
        if file is not None:
            problem = "the content of a file is not taken as a pattern; write its bytes as 0x…"
        elif offset and not offsets:
            raise InputError(f"{text!r} has an offset in it, which fio takes for verify_pattern only; write for example 0xdeadbeef.")
        elif offset:
            problem = "a pattern has no offsets in it; verify= writes stamps with the address in every sector"
        else:
            found += _bytes(hexadecimal, quoted, number, text)
        at = match.end()
    if problem:
        return Pattern("", problem)
    if not found:
        raise InputError(f"{text!r} is an empty pattern; write for example 0xdeadbeef.")
    if len(found) > _LONGEST:
        raise InputError(f"the pattern has {len(found)} bytes; write at most {_LONGEST}.")
    return Pattern(f"0x{found.hex()}")


def _bytes(hexadecimal: str | None, quoted: str | None, number: str | None, text: str) -> bytes:
    if hexadecimal is not None:
        digits = hexadecimal[2:]
        return bytes.fromhex(digits if len(digits) % 2 == 0 else f"0{digits}")
    if quoted is not None:
        return quoted.encode()
    if number is None or len(number) > 19 or number.startswith("-"):
        raise InputError(f"{text!r} has a number that is negative or too long; write it as 0x….")
    value = int(number)
    return value.to_bytes(max(1, (value.bit_length() + 7) // 8), "little")
