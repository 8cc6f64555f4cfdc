"""The text traces of the SSD simulator MQSim.

Model: five numbers per line: arrival, device, address, size, type; type 1 reads and 0 writes.
Units: nanoseconds; address and size in sectors of 512 bytes.
Limits: MQSim can be told that a trace's times are picoseconds or microseconds; the file does not say so, and nanoseconds, its default, are
taken.

    48513000 0 303567 7 0
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from plimsoll.formats.traces.lines import lines
from plimsoll.formats.traces.request import SECTOR_BYTES, Reading, TraceRequest, shortened

COLUMNS = 5
_OPS = {"1": "read", "0": "write"}


def is_mqsim(line: str) -> bool:
    """Whether a line is one of an MQSim trace."""
    words = line.split()
    return len(words) == COLUMNS and all(word.isascii() and word.isdigit() for word in words) and words[4] in _OPS


def read_mqsim(file: BinaryIO, reading: Reading) -> Iterator[TraceRequest]:
    """Every request."""
    for line in lines(file, reading):
        words = line.split()
        if len(words) != COLUMNS:
            raise reading.error(f"the line has {len(words)} columns instead of {COLUMNS}; write time, device, sector, sectors and type.")
        at_ns = reading.instant(reading.whole(words[0], "the arrival time", "48513000"))
        device = reading.whole(words[1], "the device", "0")
        offset = reading.whole(words[2], "the sector", "303567") * SECTOR_BYTES
        length = reading.whole(words[3], "the number of sectors", "8") * SECTOR_BYTES
        op = _OPS.get(words[4])
        if op is None:
            raise reading.error(f"the type {shortened(words[4])} is neither 1 (read) nor 0 (write); write one of these.")
        reading.extent(offset, length)
        yield TraceRequest(at_ns, op, offset, length, str(device))
