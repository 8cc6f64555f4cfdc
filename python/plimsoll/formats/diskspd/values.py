"""Values of DiskSpd's options: numbers, sizes, distributions, and flags that say more than a number.

Model: sizes have one of the letters K M G T (steps of 1024) or b (blocks). ``90/10:10/90`` sends 90 % of the requests to the first 10 % of
the target and the rest to what follows; what the ranges leave over of requests goes to what they leave over of the target, as in our
hot zones. A reader of a flag takes the text after it and the block size, and returns keys of a profile with their values, or raises
`InputError` without a place. Most flags make one setting; ``-B base:length`` makes two.

    size("4b", block=65536)                     # 262144
    read_ranges("90/10:5/20", "pct")            # Ranges('pct', ((90, 10), (5, 20)))
    read_special("S", "uw", block=65536)        # {'Caching': 'uw'}
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from plimsoll.displayed import quoted
from plimsoll.errors import InputError

_SIZE = re.compile(r"(\d{1,15})([KMGTkmgtBb]?)")
_FACTORS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
#: Larger than any device, and what the engine takes at most.
SIZE_MAX = 1 << 50


def size(text: str, block: int) -> int:
    """Bytes; ``block`` is what a ``b`` counts. Raises `InputError` without a place."""
    found = _SIZE.fullmatch(text)
    if found is None:
        raise InputError(
            f"{quoted(text[:40])} is not a size; write a whole number of bytes, or one with K, M, G, T or b (blocks), for example 64K."
        )
    unit = found[2].lower()
    value = int(found[1]) * (block if unit == "b" else _FACTORS[unit])
    if value > SIZE_MAX:
        raise InputError(f"{quoted(text[:40])} is more than 1 PiB; write a smaller size.")
    return value


def whole(text: str, least: int, most: int) -> int:
    """A whole number between two bounds. Raises `InputError` without a place."""
    if not (text.isascii() and text.isdigit() and len(text) <= 18 and least <= int(text) <= most):
        raise InputError(f"{quoted(text[:40])} is out of range or no whole number; write {least} to {most}.")
    return int(text)


def between(value: int, least: int, most: int) -> int:
    """A size that has bounds of its own."""
    if not least <= value <= most:
        raise InputError(f"{value} bytes is out of range; write {least} to {most}.")
    return value


Kind = Literal["pct", "abs"]
RANGES_MAX = 1000


@dataclass(frozen=True)
class Ranges:
    """Percent of the requests, with percent (``pct``) or bytes (``abs``) of the target, one range after the other."""

    kind: Kind
    pairs: tuple[tuple[int, int], ...]


def read_ranges(text: str, kind: Kind, block: int = 1) -> Ranges:
    """The ranges that a flag says; raises `InputError` without a place."""
    example = "90/10:10/90" if kind == "pct" else "90/10G:10/100G"
    pairs = []
    for part in text.split(":"):
        share, slash, length = part.partition("/")
        if not slash:
            raise InputError(f"{quoted(part[:40])} is not a share of requests and one of the target; write for example -rd{kind}{example}.")
        pairs.append((whole(share, 0, 100), whole(length, 1, 100) if kind == "pct" else size(length, block)))
    return checked(Ranges(kind, tuple(pairs)))


def checked(ranges: Ranges) -> Ranges:
    """The ranges, if they can be; raises `InputError` without a place."""
    shares, lengths = (sum(pair[side] for pair in ranges.pairs) for side in (0, 1))
    if len(ranges.pairs) > RANGES_MAX:
        raise InputError(f"there are more than {RANGES_MAX} ranges; write fewer.")
    if shares > 100:
        raise InputError(f"the requests sum to {shares} percent; write shares that sum to 100 or less.")
    if any(length == 0 for _, length in ranges.pairs):
        raise InputError("a range has no length; write how much of the target it covers, above 0.")
    if ranges.kind == "pct" and lengths > 100:
        raise InputError(f"the ranges sum to {lengths} percent of the target; write ranges that sum to 100 or less.")
    if ranges.kind == "pct" and lengths == 100 and shares < 100:
        raise InputError(f"{100 - shares} percent of the requests have nowhere to go; write shares that sum to 100.")
    return ranges


def zones(ranges: Ranges, region_bytes: int | None) -> list[list[float]] | None:
    """Our hot zones; None when the ranges are in bytes and the region's size is unknown or too small for them."""
    if ranges.kind == "pct":
        return [[share, length] for share, length in ranges.pairs]
    total = sum(length for _, length in ranges.pairs)
    full = sum(share for share, _ in ranges.pairs)
    if not region_bytes or total > region_bytes or (total == region_bytes and full < 100):
        return None
    return [[share, float(Fraction(100 * length, region_bytes))] for share, length in ranges.pairs]


def as_toml(found: Sequence[Sequence[float]]) -> dict[str, Any]:
    """The value of our option ``distribution``."""
    return {"kind": "hot", "zones": [list(zone) for zone in found]}


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
            raise InputError(f"{quoted(mode)} is no way of caching; write one or more of b, h, m, r, u and w, for example -Sh.")
    for one, other in _CACHING_AGAINST:
        if one in modes and other in modes:
            raise InputError(f"{quoted(one)} and {quoted(other)} contradict each other; write one of them.")
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
        raise InputError(f"{quoted(text[:40])} is no way of flushing; write -Nv, -Nn or -Ni.")
    return {"FlushType": text}


def _affinity(text: str, _: int) -> Values:
    if not _AFFINITY.fullmatch(text):
        raise InputError(f"{quoted(text[:40])} is no list of CPUs; write for example -a0,1,2 or -ag0,0,1.")
    return {"Affinity": text}


def _result_format(text: str, _: int) -> Values:
    if text.removeprefix("p") not in ("text", "xml", ""):
        raise InputError(f"{quoted(text[:40])} is no form of results; write -Rtext or -Rxml.")
    return {"ResultFormat": text}


def _event(text: str, _: int) -> Values:
    if text[:1] not in tuple("sfrpe") or not text[1:]:
        raise InputError(f"{quoted(text[:40])} names no event; write for example -ysSTARTED.")
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
