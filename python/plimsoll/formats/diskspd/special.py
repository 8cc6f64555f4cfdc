"""Values of flags that are more than a number: caching, limits, hints, contents, offsets, distributions.

Model: each reader takes the text after the flag and the block size, and returns keys of a profile with their values, or raises
`InputError` without a place. Most flags make one setting; ``-B base:length`` makes two.

    read_special("S", "uw", block=65536)        # {'Caching': 'uw'}
    read_special("g", "100i", block=65536)      # {'Throughput': (100, 'IOPS')}
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from plimsoll.errors import InputError
from plimsoll.formats.diskspd.distribution import read_ranges
from plimsoll.formats.diskspd.quantity import size, whole

Values = dict[str, Any]
RATE_MAX = 1_000_000_000

#: Modes of -S that contradict each other.
_CACHING_AGAINST = (("b", "u"), ("b", "h"), ("b", "r"), ("m", "u"), ("m", "h"))
_AFFINITY = re.compile(r"g|(?:g?\d{1,4}(?:,g?\d{1,4})*)?")


def read_special(name: str, text: str, block: int) -> Values:
    """Keys and values of the flag ``name`` with ``text`` behind it."""
    return _READERS[name](text, block)


def caching(text: str) -> str:
    """The modes of -S, in the order written; none means u."""
    modes = text.lower() or "u"
    for mode in modes:
        if mode not in "bhmruw":
            raise InputError(f"{mode!r} is no way of caching; write one or more of b, h, m, r, u and w, for example -Sh.")
    for one, other in _CACHING_AGAINST:
        if one in modes and other in modes:
            raise InputError(f"{one!r} and {other!r} contradict each other; write one of them.")
    return modes


def _throughput(text: str, _: int) -> Values:
    unit = "IOPS" if text.endswith("i") else "BPMS"
    return {"Throughput": (whole(text.removesuffix("i"), 0, RATE_MAX), unit)}


def _base(text: str, block: int) -> Values:
    base, colon, length = text.partition(":")
    values: Values = {"BaseFileOffset": size(base, block)}
    if colon:
        values["Length"] = _above_zero(size(length, block))
    return values


def _file(text: str, block: int) -> Values:
    if text and not set(text.lower()) - set("rst"):
        return {"Hints": text.lower()}
    return {"MaxFileSize": _above_zero(size(text, block))}


def _content(text: str, block: int) -> Values:
    if text in ("", "r"):
        return {"WriteBufferContent": "zero" if not text else "random"}
    length, comma, path = text.partition(",")
    if comma and not path:
        raise InputError("there is no file after the comma; write one, or leave the comma out.")
    return {"WriteBufferContent": ("source", _above_zero(size(length, block)), path)}


def _flush(text: str, _: int) -> Values:
    if text not in ("v", "n", "i"):
        raise InputError(f"{text[:40]!r} is no way of flushing; write -Nv, -Nn or -Ni.")
    return {"FlushType": text}


def _affinity(text: str, _: int) -> Values:
    if not _AFFINITY.fullmatch(text):
        raise InputError(f"{text[:40]!r} is no list of CPUs; write for example -a0,1,2 or -ag0,0,1.")
    return {"Affinity": text}


def _result_format(text: str, _: int) -> Values:
    if text.removeprefix("p") not in ("text", "xml", ""):
        raise InputError(f"{text[:40]!r} is no form of results; write -Rtext or -Rxml.")
    return {"ResultFormat": text}


def _event(text: str, _: int) -> Values:
    if text[:1] not in tuple("sfrpe") or not text[1:]:
        raise InputError(f"{text[:40]!r} names no event; write for example -ysSTARTED.")
    return {"Event": text}


def _profile(text: str, _: int) -> Values:
    return {"ProfileFile": text}


def _above_zero(value: int) -> int:
    if not value:
        raise InputError("the size is 0; write how much, for example 1G.")
    return value


_READERS: dict[str, Callable[[str, int], Values]] = {
    "a": _affinity,
    "B": _base,
    "f": _file,
    "g": _throughput,
    "N": _flush,
    "rdpct": lambda text, _: {"Distribution": read_ranges(text, "pct")},
    "rdabs": lambda text, block: {"Distribution": read_ranges(text, "abs", block)},
    "R": _result_format,
    "S": lambda text, _: {"Caching": caching(text)},
    "X": _profile,
    "y": _event,
    "Z": _content,
}
