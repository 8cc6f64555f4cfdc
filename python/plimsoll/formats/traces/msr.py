"""The CSV of the MSR-Cambridge traces (Narayanan et al., FAST 2008; SNIA IOTTA set 388).

Model: ``Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime`` without a header; a line that names the columns is skipped.
A target is a host and its disk, ``hm 0``.
Units: times and response times are ticks of 100 ns (Windows file time, since 1601); times are counted from the first request. Offset and
size are bytes.
Limits: a response time of 0 says that it was not known.

    128166372003061629,hm,0,Read,383496192,32768,413
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from plimsoll.formats.traces.lines import lines
from plimsoll.formats.traces.request import Reading, TraceRequest, shortened

COLUMNS = 7
TICK_NS = 100
_OPS = {"read": "read", "write": "write"}


def is_msr(line: str) -> bool:
    """Whether a line is one of an MSR trace."""
    words = line.split(",")
    return len(words) == COLUMNS and (words[0].strip().lower() == "timestamp" or words[3].strip().lower() in _OPS)


def read_msr(file: BinaryIO, reading: Reading) -> Iterator[TraceRequest]:
    """Every request, with its response time."""
    first: int | None = None
    for line in lines(file, reading):
        words = [word.strip() for word in line.split(",")]
        if words[0].lower() == "timestamp":
            continue
        if len(words) != COLUMNS:
            raise reading.error(
                f"the line has {len(words)} columns instead of {COLUMNS}; "
                "write Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime."
            )
        stamp = reading.whole(words[0], "the timestamp", "128166372003061629")
        first = stamp if first is None else first
        op = _OPS.get(words[3].lower())
        if op is None:
            raise reading.error(f"the type {shortened(words[3])} is neither Read nor Write; write one of these.")
        disk = reading.whole(words[2], "the disk number", "0")
        offset = reading.whole(words[4], "the offset", "383496192")
        length = reading.whole(words[5], "the size", "32768")
        reading.extent(offset, length)
        response = reading.instant(reading.whole(words[6], "the response time", "413") * TICK_NS)
        at_ns = reading.instant(max(0, stamp - first) * TICK_NS)
        yield TraceRequest(at_ns, op, offset, length, f"{words[1]} {disk}", response or None)
