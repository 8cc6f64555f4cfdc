"""The CSV of the CloudPhysics traces of virtual machines, as libCacheSim hands on its sample (``cloudPhysicsIO.csv``).

Model: ``version,time,op,size,lbn`` below a header of these words: the version of the binary record it was made from, the time, the SCSI
operation code in hexadecimal (`scsi`), bytes, and the logical block. A trace is of one virtual machine; its disks are not told apart.
Units: blocks of 512 bytes. Times are seconds in the sample; numbers of 10¹¹ or more, which would be thousands of years, are taken as the
microseconds of the binary record. They are counted from the first request.
Limits: with times in whole seconds the order within a second is known, and the gaps are not. There are no response times.
Source: libCacheSim's FAQ (units) and its sample.

    1,33898,2a,512,42932745
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO

from plimsoll.formats.traces.lines import lines
from plimsoll.formats.traces.request import SECTOR_BYTES, Reading, TraceRequest, shortened
from plimsoll.formats.traces.scsi import WITHOUT_DATA, operation

COLUMNS = ("version", "time", "op", "size", "lbn")
#: What the requests are of; the trace has no names.
TARGET = "vm"
#: From here on a time is not of seconds.
MICROSECONDS_FROM = 10**11
WHOLE_SECONDS = "its times are whole seconds, so the requests of a second are due together"
_NS_PER_S, _NS_PER_US = 1_000_000_000, 1000
_TIME = re.compile(r"(\d{1,16})(?:\.(\d{1,9}))?")
_CODE = re.compile(r"(?:0x)?[0-9a-f]{1,2}", re.IGNORECASE)


def is_cloudphysics(line: str) -> bool:
    """Whether a line is one of a CloudPhysics CSV."""
    words = _words(line)
    if tuple(word.lower() for word in words) == COLUMNS:
        return True
    return (
        len(words) == len(COLUMNS)
        and words[0] in ("1", "2")
        and bool(_TIME.fullmatch(words[1]) and _CODE.fullmatch(words[2]))
        and all(word.isascii() and word.isdigit() for word in words[3:])
    )


def read_cloudphysics(file: BinaryIO, reading: Reading) -> Iterator[TraceRequest]:
    """Every request."""
    first_ns: int | None = None
    for line in lines(file, reading):
        words = _words(line)
        if words[0].lower() == COLUMNS[0]:
            continue
        if len(words) != len(COLUMNS):
            raise reading.error(f"the line has {len(words)} columns instead of {len(COLUMNS)}; write {','.join(COLUMNS)}.")
        at_ns = _instant(words[1], reading)
        first_ns = at_ns if first_ns is None else first_ns
        if not _CODE.fullmatch(words[2]):
            raise reading.error(
                f"the operation {shortened(words[2])} is no SCSI code in hexadecimal; write for example 28 (read) or 2a (write)."
            )
        length = reading.whole(words[3], "the size", "4096")
        offset = reading.whole(words[4], "the block", "42932745") * SECTOR_BYTES
        op = operation(int(words[2], 16), length)
        if op is None:
            reading.left_out[WITHOUT_DATA] += 1
            continue
        if op != "flush":
            reading.extent(offset, length)
        at = max(0, at_ns - first_ns)
        yield TraceRequest(at, op, *((0, 0) if op == "flush" else (offset, length)), TARGET)


def _words(line: str) -> list[str]:
    return [word.strip() for word in line.split(",")]


def _instant(text: str, reading: Reading) -> int:
    found = _TIME.fullmatch(text)
    if found is None:
        raise reading.error(f"the time {shortened(text)} is not a number of seconds; write for example 33898.")
    whole, fraction = int(found[1]), found[2]
    if whole >= MICROSECONDS_FROM:
        reading.assumed["its times are microseconds"] = None
        return reading.instant(whole * _NS_PER_US)
    if fraction is None:
        reading.assumed[WHOLE_SECONDS] = None
    return reading.instant(whole * _NS_PER_S + int((fraction or "").ljust(9, "0")))
