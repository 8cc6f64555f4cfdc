"""The CSV of Alibaba's block traces (github.com/alibaba/block-traces, ``io_traces.csv``).

Model: ``device_id,opcode,offset,length,timestamp``; opcode R or W. The targets are virtual disks, named by their number.
Units: offset and length in bytes, times in microseconds since 1970, counted here from the first request.
Limits: the trace has no response times.

    419,W,8792731648,16384,1577808144360767
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from plimsoll.formats.traces.lines import lines
from plimsoll.formats.traces.request import Reading, TraceRequest, shortened

COLUMNS = 5
_OPS = {"R": "read", "W": "write"}
_NS_PER_US = 1000


def is_alibaba(line: str) -> bool:
    """Whether a line is one of an Alibaba trace."""
    words = [word.strip() for word in line.split(",")]
    return len(words) == COLUMNS and (words[0].lower() == "device_id" or words[1].upper() in _OPS)


def read_alibaba(file: BinaryIO, reading: Reading) -> Iterator[TraceRequest]:
    """Every request."""
    first: int | None = None
    for line in lines(file, reading):
        words = [word.strip() for word in line.split(",")]
        if words[0].lower() == "device_id":
            continue
        if len(words) != COLUMNS:
            raise reading.error(f"the line has {len(words)} columns instead of {COLUMNS}; write device_id,opcode,offset,length,timestamp.")
        device = reading.whole(words[0], "the device", "419")
        op = _OPS.get(words[1].upper())
        if op is None:
            raise reading.error(f"the opcode {shortened(words[1])} is neither R nor W; write one of these.")
        offset = reading.whole(words[2], "the offset", "8792731648")
        length = reading.whole(words[3], "the length", "16384")
        reading.extent(offset, length)
        stamp = reading.whole(words[4], "the timestamp", "1577808144360767")
        first = stamp if first is None else first
        yield TraceRequest(reading.instant(max(0, stamp - first) * _NS_PER_US), op, offset, length, str(device))
