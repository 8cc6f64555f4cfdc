"""A .lun file: one path per line, the LUNs in the order in which ORION concatenates or stripes them.

Model: white space around a path and empty lines mean nothing. The set of LUNs becomes a target of ours: `concat:` or `stripe:`, the path
itself when there is one.

    luns = read_luns("/dev/sdb\\n/dev/sdc\\n", "mytest.lun")
    target_of(luns, unit_bytes=1 << 20)         # 'stripe:/dev/sdb,/dev/sdc?unit=1024KiB'
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass

from plimsoll.errors import InputError

#: In a set of paths these stand for something else, and are written as %XX.
_ESCAPED = re.compile(r"[%,?\s]")
#: What begins like ``stripe:`` would be read as a kind of target.
_KIND = re.compile(r"[A-Za-z0-9_-]+:")


@dataclass(frozen=True)
class Lun:
    """One line: the path, and where it stands."""

    path: str
    line: int


def read_luns(text: str, source: str) -> list[Lun]:
    """The LUNs of ``text``; raises `InputError` that names the line."""
    luns: list[Lun] = []
    for number, line in enumerate(text.splitlines(), start=1):
        path = line.strip()
        if not path:
            continue
        _check(path, f"{source}:{number}")
        first = next((lun.line for lun in luns if lun.path == path), None)
        if first is not None:
            raise InputError(f"{source}:{number}: {path!r} stands on line {first} already; name each LUN once.")
        luns.append(Lun(path, number))
    if not luns:
        raise InputError(f"{source}: it names no LUN; write one path per line, for example /dev/sdb.")
    return luns


def target_of(luns: Sequence[Lun], unit_bytes: int | None) -> str:
    """The target that consists of ``luns``: striped in units of ``unit_bytes`` (whole KiB), or one after the other when it is None."""
    if len(luns) == 1:
        path = luns[0].path
        return f"./{path}" if _KIND.match(path) else path
    parts = ",".join(_part(lun.path) for lun in luns)
    return f"concat:{parts}" if unit_bytes is None else f"stripe:{parts}?unit={unit_bytes // 1024}KiB"


def _check(path: str, place: str) -> None:
    if path.startswith("#"):
        raise InputError(f"{place}: {path[:40]!r} looks like a comment, which a .lun file cannot have; leave the line out.")
    if not path.isprintable():
        raise InputError(f"{place}: {path[:40]!r} holds characters that cannot be printed; write one path per line in plain text.")


def _part(path: str) -> str:
    escaped = _ESCAPED.sub(lambda found: "".join(f"%{byte:02X}" for byte in os.fsencode(found[0])), path)
    return f"./{escaped}" if _KIND.match(escaped) else escaped
