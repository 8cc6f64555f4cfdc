"""libCacheSim's ``oracleGeneral``: the form in which many traces are handed on, those of CloudPhysics among them.

Model: little-endian records of 24 bytes without header: clock_time (4 bytes), obj_id (8), obj_size (4), next_access_vtime (8, signed; -1 or
the largest number where there is no next access). It is made for simulators of caches, so it says neither what was done nor where: every
request is taken as a read, and the object's number as its block, which it is in traces of disks that were converted with the block as the
number (``obj-id-col`` of libCacheSim's traceConv). Both are said wherever the trace is used.
Units: seconds, counted from the first request; blocks of 512 bytes; sizes in bytes.
Limits: times are whole seconds. Traces whose object numbers are hashes have no blocks and are refused at the first number beyond any
storage; where all hashes are small, nothing tells. Errors name the record in place of a line.
Source: libCacheSim's FAQ (the structure, its units, and the conversion of its CloudPhysics sample) and its reader.

    0a 00 00 00  89 9c 8f 02 00 00 00 00  00 02 00 00  ff ff ff ff ff ff ff ff        # at 10 s, block 42,966,153, 512 bytes, never again
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import BinaryIO

from plimsoll.errors import InputError
from plimsoll.formats.traces.cloudphysics import TARGET, WHOLE_SECONDS
from plimsoll.formats.traces.request import MOST_BYTES, SECTOR_BYTES, Reading, TraceRequest

RECORD = struct.Struct("<IQIq")
NEVER = (-1, (1 << 63) - 1)
ASSUMED = (
    "every request is taken as a read, as the format does not say what was done",
    "an object's number is taken as its block of 512 bytes, as in traces of disks",
    WHOLE_SECONDS,
)
#: The records in these many bytes decide what a file is.
HEAD_BYTES = 4080
_LONGEST = 1 << 30
#: No trace has so many requests.
_MOST_REQUESTS = 1 << 40
_NS_PER_S = 1_000_000_000


def is_oracle_general(head: bytes) -> bool:
    """Whether bytes begin like records of this form: times that do not step back, sizes of requests, and places of next accesses."""
    content = head[: min(len(head), HEAD_BYTES) // RECORD.size * RECORD.size]
    before = 0
    for time_s, number, size, again in RECORD.iter_unpack(content):
        sized = 0 < size <= _LONGEST and number * SECTOR_BYTES + size <= MOST_BYTES
        if time_s < before or not sized or not (again in NEVER or 0 < again < _MOST_REQUESTS):
            return False
        before = time_s
    # Letters have larger numbers than any block.
    return bool(content)


def read_oracle_general(file: BinaryIO, reading: Reading) -> Iterator[TraceRequest]:
    """Every request."""
    first: int | None = None
    reading.assumed |= dict.fromkeys(ASSUMED)
    while content := file.read(RECORD.size):
        reading.line += 1
        if len(content) < RECORD.size:
            raise _wrong(reading, f"it has {len(content)} of {RECORD.size} bytes; the file is cut off, fetch it again.")
        time_s, number, size, _ = RECORD.unpack(content)
        first = time_s if first is None else first
        if number * SECTOR_BYTES + size > MOST_BYTES:
            raise _wrong(reading, f"object {number} is no block of any storage; give a trace whose objects are blocks and not hashes.")
        if size == 0:
            reading.left_out["requests of no bytes"] += 1
            continue
        yield TraceRequest(max(0, time_s - first) * _NS_PER_S, "read", number * SECTOR_BYTES, size, TARGET)


def _wrong(reading: Reading, problem: str) -> InputError:
    return InputError(f"{reading.source}: record {reading.line}: {problem}")
