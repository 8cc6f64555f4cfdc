"""What a job asks for, decided once: its operations and their shares, how long its requests are and what they start at, how it ends.

Model: the values of a job's options go in, a value that nothing changes comes out, with what there is to say of the options it was made
of. Everything behind asks that value and no option again, so the rule which option takes the place of which stands here alone: bssplit
before bsrange before bs before 4 KiB; ``rwmixwrite`` where it is given, else ``rwmixread``; ``buffered`` where it is given, else
``direct``.

    requests, notes = requests_of({"rw": read_mode("randrw"), "rwmixread": 70})
    requests.shares          # {"r": 70.0, "w": 30.0}
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from plimsoll.formats.fio.notes import Note, idle
from plimsoll.formats.fio.quantity import Sizes
from plimsoll.formats.fio.values import Mode, read_mode

#: Operations in the order in which fio's lists have them.
OPS = "rwt"
DEFAULT_SIZE = Sizes(4096, 4096)
_DEFAULT_MIX = 50
#: The first that is given counts.
_SIZE_OPTIONS = ("bssplit", "bsrange", "bs")


@dataclass(frozen=True)
class Requests:
    """The requests of a job; what is kept for each operation is so for those of its mode only."""

    mode: Mode
    #: Reads back what an earlier job wrote in place of writing it.
    verifies_only: bool
    #: Percent of the requests, by operation.
    shares: Mapping[str, float]
    sizes: Mapping[str, Sizes]
    #: The different ones among them.
    lengths: frozenset[Sizes]
    #: The one length that all requests have, or None.
    length: int | None
    #: The option that says how long requests are; empty for the default.
    sizes_from: str
    #: The option that says what requests start at multiples of; empty where their lengths do.
    aligned_from: str
    #: What requests start at multiples of, by operation.
    aligned: Mapping[str, int]
    #: Bypasses the page cache.
    direct: bool
    #: Ends by its time and not by what it has transferred.
    time_based: bool


Values = Mapping[str, Any]


def requests_of(values: Values) -> tuple[Requests, tuple[Note, ...]]:
    """The requests that the values of a job's options ask for, and what is to be said of the options."""
    written: Mode = values.get("rw") or read_mode("read")
    verifies_only = bool(values.get("verify_only")) and written.ops == "w" and values.get("verify", "0") not in ("0", "null")
    mode = replace(written, ops="r") if verifies_only else written
    sizes = _sizes(values, mode, verifies_only=verifies_only)
    requests = Requests(
        mode=mode,
        verifies_only=verifies_only,
        shares=_shares(values, mode),
        sizes=sizes,
        lengths=frozenset(sizes.values()),
        length=_only({each.least if each.fixed else None for each in sizes.values()}),
        sizes_from=next((name for name in _SIZE_OPTIONS if name in values), ""),
        aligned_from="ba" if "ba" in values else "",
        aligned={op: _aligned_to(values, "w" if verifies_only else op, sizes[op]) for op in mode.ops},
        direct=not values["buffered"] if "buffered" in values else bool(values.get("direct", False)),
        time_based=bool(values.get("time_based")) and bool(values.get("runtime")),
    )
    return requests, tuple(_notes(values))


def _only(found: set[int | None]) -> int | None:
    return found.pop() if len(found) == 1 else None


def _shares(values: Values, mode: Mode) -> dict[str, float]:
    if mode.ops == "rw":
        mix = values.get("rwmixread", _DEFAULT_MIX)
        reads = float(100 - values["rwmixwrite"] if "rwmixwrite" in values else mix)
        return {"r": reads, "w": 100 - reads}
    # Each block is trimmed and then written.
    return {"w": 100} if mode.ops == "tw" else {op: 100 / len(mode.ops) for op in mode.ops}


def _sizes(values: Values, mode: Mode, *, verifies_only: bool) -> dict[str, Sizes]:
    found = {}
    for index, op in enumerate(OPS):
        given = [values[name][index] for name in _SIZE_OPTIONS if values.get(name) is not None and values[name][index] is not None]
        found[op] = given[0] if given else DEFAULT_SIZE
    if verifies_only:
        found["r"] = found["w"]
    if values.get("bs_is_seq_rand"):
        found = dict.fromkeys(OPS, found["w"] if mode.random else found["r"])
    return {op: found[op] for op in mode.ops}


def _aligned_to(values: Values, op: str, sizes: Sizes) -> int:
    """``ba``, or the least size that is given for the operation."""
    index, none = OPS.index(op), (None, None, None)
    align = values.get("ba", none)[index]
    if align is not None:
        return int(align.least)
    given = values.get("bs", none)[index] if values.get("bs_is_seq_rand") else sizes
    return int((given or DEFAULT_SIZE).least)


def _notes(values: Values) -> list[Note]:
    pairs = (("bs", "bsrange"), ("bs", "bssplit"), ("bsrange", "bssplit"))
    return [
        idle(lesser, f"{better} takes its place")
        for lesser, better in pairs
        if lesser in values and better in values and None not in values[better]
    ]
