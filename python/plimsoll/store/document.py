"""One document or line of the store: whatever was done to it, the answer is its value or one sentence that names the file.

Model: JSON in UTF-8 with finite numbers, nested as deep as anything that is stored, in the form of a type (`plimsoll.shape`). What is no
regular file is not opened for long: a pipe in place of a file would never answer.

    meta = read_document("results/r1/run.json")
    interval = line_value(b'{"index":0,…}\n', "…/intervals.jsonl, line 1", Interval)
"""

from __future__ import annotations

import json
import os
import stat
from typing import Any, NoReturn

from plimsoll.displayed import displayed_in_line
from plimsoll.errors import StoreError
from plimsoll.shape import DEPTH_MAX, Misshapen, fitted, nested, sound
from plimsoll.stored import Json

CHANGED = "the file was changed after Plimsoll wrote it"
#: Digits or exponents of numbers that might count nothing, after all digits were made zeros.
_LONG_NUMBERS = (b"0" * 25, b"e00", b"e+00")
_ZEROS = bytes.maketrans(b"123456789E", b"000000000e")


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number")


_DECODER = json.JSONDecoder(parse_constant=_refuse)


def read_document(path: str) -> Any:
    """The document in the file at ``path``."""
    said = content(path)
    value = _decoded(said, path)
    try:
        nested(value)
        if _has_long_number(said):
            sound(value)
    except Misshapen as problem:
        raise StoreError(f"{path}: {problem}; {CHANGED}.") from None
    return value


def line_value(line: bytes, where: str, kind: Any) -> Json:
    """The record in ``line``, in the form of ``kind``."""
    value = _decoded(line, where)
    try:
        if line.count(b"{") + line.count(b"[") > DEPTH_MAX or _has_long_number(line):
            sound(value)
        found: Json = fitted(value, kind)
    except Misshapen as problem:
        raise StoreError(f"{where}: {problem}; {CHANGED}.") from None
    return found


def _has_long_number(said: bytes) -> bool:
    """Whether there may be a number that counts nothing. Numbers stand between the texts; most of a line is the text of histograms, in
    which much looks like an exponent."""
    if not _looks_long(said):
        return False
    between = said if b"\\" in said else b'"'.join(said.split(b'"')[::2])
    return _looks_long(between)


def _looks_long(said: bytes) -> bool:
    zeros = said.translate(_ZEROS)
    return any(number in zeros for number in _LONG_NUMBERS)


def fitting(value: Any, kind: Any, source: str) -> Any:
    """``value`` in the form of ``kind``."""
    try:
        return fitted(value, kind)
    except Misshapen as problem:
        raise StoreError(f"{source}: {problem}; {CHANGED}.") from None


def _decoded(content: bytes, where: str) -> Any:
    try:
        return _DECODER.decode(content.decode())
    except UnicodeDecodeError:
        raise StoreError(f"{where}: not UTF-8 text; {CHANGED}.") from None
    except RecursionError:
        raise StoreError(f"{where}: nested too deep for anything that Plimsoll writes; {CHANGED}.") from None
    except ValueError as problem:
        # Only of a document: a record cut short says no more than that.
        place = f" at line {problem.lineno}" if isinstance(problem, json.JSONDecodeError) and problem.lineno > 1 else ""
        said = problem.msg[:1].lower() + problem.msg[1:] if isinstance(problem, json.JSONDecodeError) else str(problem)
        raise StoreError(f"{where}: not JSON{place} ({displayed_in_line(said)[:80]}); {CHANGED}.") from None


def content(path: str) -> bytes:
    """The bytes of the file at ``path``."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        with open(file, "rb") as opened:
            if not stat.S_ISREG(os.fstat(file).st_mode):
                raise StoreError(f"{path}: this is no regular file; {CHANGED}.")
            return opened.read()
    except OSError as problem:
        if isinstance(problem, FileNotFoundError):
            raise StoreError(f"{path}: is missing; put it back, or move its directory away.") from None
        raise StoreError(f"{path}: cannot be read ({(problem.strerror or str(problem)).lower()}).") from None
