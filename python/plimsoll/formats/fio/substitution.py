"""What stands in a value for something else: ``${VAR}``, ``$pagesize``, ``$mb_memory``, ``$ncpus``, and sums of those.

Model: variables are replaced first, an undefined one by nothing. Then the three keywords; only where one of them stood is the value
calculated, in whole numbers. Names of files keep ``$jobname`` and the like: those are replaced where files are named.
Limits: sums have ``+ - * / %`` and brackets and know no suffixes, as with fio.

    substituted("$pagesize*2", {}, Machine(4096, 8192, 8))        # ("8192", [])
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass

from plimsoll.errors import InputError

_VARIABLE = re.compile(r"\$\{([^}]*)\}")
_KEYWORD = re.compile(r"\$(pagesize|mb_memory|ncpus)\b")
_PIECE = re.compile(r"\s*(\d+|[-+*/%()])")
_SUM = re.compile(r"[0-9(][0-9a-zA-Z\s()+*/%-]*")


@dataclass(frozen=True)
class Machine:
    """What the keywords stand for."""

    pagesize: int
    mb_memory: int
    ncpus: int


def this_machine() -> Machine:
    """The machine that reads the file, as fio does it."""
    page = os.sysconf("SC_PAGESIZE")
    return Machine(page, page * os.sysconf("SC_PHYS_PAGES") >> 20, os.cpu_count() or 1)


def substituted(value: str, environment: Mapping[str, str], machine: Machine) -> tuple[str, list[str]]:
    """The value with everything replaced, and the names of variables that are not set. Raises `InputError` without a place."""
    unset = [name for name in _VARIABLE.findall(value) if name not in environment]
    value = _VARIABLE.sub(lambda match: environment.get(match.group(1), ""), value)
    if "${" in value:
        raise InputError(f"{value!r} opens a variable and does not close it; write for example ${{SIZE}}.")
    if not _KEYWORD.search(value):
        return value, unset
    value = _KEYWORD.sub(lambda match: str(getattr(machine, match.group(1))), value)
    if _SUM.fullmatch(value) and not value.isalnum():
        value = str(_calculated(value))
    return value, unset


def _calculated(text: str) -> int:
    pieces: list[str] = []
    at = 0
    while at < len(text.rstrip()):
        match = _PIECE.match(text, at)
        if match is None:
            raise InputError(f"{text!r} cannot be calculated; write whole numbers without suffixes between + - * / %.")
        pieces.append(match.group(1))
        at = match.end()
    if len(pieces) > 200:
        raise InputError(f"{text[:40]!r}… is too long a sum; write its result.")
    value = _sum(pieces, text)
    if pieces:
        raise _not_a_sum(text)
    return value


def _not_a_sum(text: str) -> InputError:
    return InputError(f"{text!r} is not a sum; write for example $pagesize*2.")


def _sum(pieces: list[str], text: str) -> int:
    value = _product(pieces, text)
    while pieces and pieces[0] in "+-":
        sign = pieces.pop(0)
        term = _product(pieces, text)
        value = value + term if sign == "+" else value - term
    return value


def _product(pieces: list[str], text: str) -> int:
    value = _factor(pieces, text)
    while pieces and pieces[0] in "*/%":
        sign = pieces.pop(0)
        factor = _factor(pieces, text)
        if sign == "*":
            value *= factor
        elif factor == 0:
            raise InputError(f"{text!r} divides by zero; write another number.")
        else:
            value = value // factor if sign == "/" else value % factor
        if abs(value) > 1 << 64:
            raise InputError(f"{text!r} is larger than any size; write a smaller number.")
    return value


def _factor(pieces: list[str], text: str) -> int:
    if not pieces:
        raise _not_a_sum(text)
    piece = pieces.pop(0)
    if piece == "-":
        return -_factor(pieces, text)
    if piece == "(":
        value = _sum(pieces, text)
        if not pieces or pieces.pop(0) != ")":
            raise _not_a_sum(text)
        return value
    if not piece.isdigit() or len(piece) > 25:
        raise _not_a_sum(text)
    return int(piece)
