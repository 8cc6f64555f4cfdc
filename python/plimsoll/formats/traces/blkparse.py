"""The text that blkparse prints of a block trace.

Model: its default form, ``major,minor cpu sequence seconds.nanoseconds pid action RWBS sector + sectors [process]``. A request is counted
where it is issued to the driver (action D) or, by choice, queued (Q) or completed; completions (C) give its service time. Other actions say
how requests went through the block layer and are left out, as are commands without sectors. A discard is a trim; a flush has no sectors.
The totals below the events end the trace.
Units: seconds with nine digits, sectors of 512 bytes.
Limits: a form of one's own (``blkparse -f``) is not read. Requests that were merged after they were queued count apart with Q and together
with D.

      8,0    3        1     0.000000000   697  D   W 223490 + 8 [kjournald]
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO

from plimsoll.formats.traces.completions import Pairs
from plimsoll.formats.traces.lines import lines
from plimsoll.formats.traces.request import SECTOR_BYTES, Reading, TraceRequest, shortened

#: Actions at which a request may be counted, and what they mean.
ACTIONS = {"issue": "D", "queue": "Q", "complete": "C"}
_DEVICE = re.compile(r"\d{1,4},\d{1,7}$")
_SECONDS = re.compile(r"(\d{1,9})\.(\d{9})$")
_TOTALS = re.compile(r"(CPU\d+|Total) \(")
_RWBS = re.compile(r"[A-Z]{1,8}$")
_KNOWN_ACTIONS = frozenset("QDCIGSRMFPUTXBAm") | {"UT"}
_WORDS = 7


def is_blkparse(line: str) -> bool:
    """Whether a line is one of blkparse's events."""
    words = line.split()
    return len(words) >= _WORDS - 1 and bool(_DEVICE.match(words[0])) and bool(_SECONDS.match(words[3]))


def read_blkparse(file: BinaryIO, reading: Reading, counted: str = "issue") -> Iterator[TraceRequest]:
    """Every request at the action ``counted``, one of `ACTIONS`."""
    action, pairs = ACTIONS[counted], Pairs()
    for line in lines(file, reading):
        if _TOTALS.match(line):
            break
        words = line.split()
        _check(words, reading)
        if words[5] not in (action, "C"):
            reading.left_out["other actions of the block layer"] += 1
            continue
        request = _request(words, reading)
        if request is None:
            continue
        if words[5] == action:
            yield from [request] if action == "C" else pairs.issued(request)
        elif request.op != "flush":
            yield from pairs.completed(request.at_ns or 0, (request.target, request.offset, request.length))
    yield from pairs.ended()


def _check(words: list[str], reading: Reading) -> None:
    if len(words) < _WORDS - 1 or not _DEVICE.match(words[0]):
        raise reading.error(
            f"{shortened(' '.join(words))} is not an event; give what blkparse prints: device, cpu, sequence, time, process, action, RWBS."
        )
    if words[5] not in _KNOWN_ACTIONS:
        raise reading.error(f"the action {shortened(words[5])} is unknown; blkparse prints Q, D, C or another of its letters there.")


def _request(words: list[str], reading: Reading) -> TraceRequest | None:
    at_ns = _instant(words[3], reading)
    if len(words) < _WORDS or not _RWBS.match(words[6]):
        raise reading.error("the event does not say what is done; blkparse prints R, W, D or F there, with letters behind.")
    op = operation(words[6])
    if len(words) < _WORDS + 3 or words[8] != "+":
        return _without_sectors(words, at_ns, op, reading)
    offset = reading.whole(words[7], "the sector", "223490") * SECTOR_BYTES
    length = reading.whole(words[9], "the number of sectors", "8") * SECTOR_BYTES
    if op is None or length == 0:
        return _without_sectors(words, at_ns, op, reading)
    reading.extent(offset, length)
    return TraceRequest(at_ns, op, offset, length, words[0])


def operation(rwbs: str) -> str | None:
    """What letters say: D discards, R reads, W writes; F alone flushes, and before others it is a flush that goes with them."""
    for letter, op in (("D", "trim"), ("R", "read"), ("W", "write")):
        if letter in rwbs:
            return op
    return "flush" if "F" in rwbs else None


def _without_sectors(words: list[str], at_ns: int, op: str | None, reading: Reading) -> TraceRequest | None:
    flushes = op == "flush" or (op == "write" and words[6].startswith("F"))
    if flushes and words[5] != "C":
        return TraceRequest(at_ns, "flush", 0, 0, words[0])
    reading.left_out["commands without sectors"] += 1
    return None


def _instant(text: str, reading: Reading) -> int:
    found = _SECONDS.match(text)
    if found is None:
        raise reading.error(f"the time {shortened(text)} is not seconds with nine digits behind the point, as in 0.000000000.")
    return int(found[1]) * 1_000_000_000 + int(found[2])
