"""The binary trace of the kernel's block layer, as blktrace writes it and ``blkparse -d`` merges it.

Model: records of 48 bytes (``struct blk_io_trace`` of the kernel's ``blktrace_api.h``, version 7), each followed by a payload that is
skipped. The magic number of every record tells the byte order. Requests are counted where blkparse's are: at the issue, at the queue or at
the completion; the category bits of the action say what is done.
Units: nanoseconds, sectors of 512 bytes, lengths in bytes.
Limits: blktrace writes one file per processor; put together with ``blkparse -i sda -d sda.bin`` they are in the order of time. Errors name
the record in place of a line.

    07 74 61 65 …        # 0x65617407, little endian: magic and version
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import BinaryIO

from plimsoll.errors import InputError
from plimsoll.formats.traces.completions import Pairs
from plimsoll.formats.traces.request import MOST_NS, SECTOR_BYTES, Reading, TraceRequest

MAGIC = 0x65617400
VERSION = 7
RECORD_BYTES = 48
_FIELDS = "IIQQIIIIIHH"
_ACTION_BITS = 0xFFFF
_CATEGORY_SHIFT = 16
_CODES = {"queue": 1, "issue": 7, "complete": 8}
_WRITE, _FLUSH, _COMMAND, _NOTIFY, _DISCARD = 1 << 1, 1 << 2, 1 << 9, 1 << 10, 1 << 13
_MINOR_BITS = 20


def byte_order(head: bytes) -> str | None:
    """``<`` or ``>`` when bytes begin like a record, None otherwise."""
    for order in "<>":
        if len(head) >= 4 and struct.unpack(f"{order}I", head[:4])[0] & ~0xFF == MAGIC:
            return order
    return None


def read_blktrace(file: BinaryIO, reading: Reading, counted: str = "issue") -> Iterator[TraceRequest]:
    """Every request at the action ``counted``: issue, queue or complete."""
    code, pairs, record = _CODES[counted], Pairs(), None
    at_byte = 0
    while head := file.read(RECORD_BYTES):
        reading.line += 1
        record = _record(head, record, _RecordPlace(reading, at_byte))
        at_byte += RECORD_BYTES + _skipped(file, record, _RecordPlace(reading, at_byte))
        action = record.action & _ACTION_BITS
        if action not in (code, _CODES["complete"]):
            reading.left_out["other actions of the block layer"] += 1
            continue
        request = record.request(reading)
        if request is None:
            continue
        if action == code:
            yield from [request] if counted == "complete" else pairs.issued(request)
        elif request.op != "flush":
            yield from pairs.completed(request.at_ns or 0, (request.target, request.offset, request.length))
    yield from pairs.ended()


class _RecordPlace:
    """Where a record is, for sentences."""

    def __init__(self, reading: Reading, at_byte: int) -> None:
        self._source, self._record, self._byte = reading.source, reading.line, at_byte

    def error(self, problem: str) -> InputError:
        return InputError(f"{self._source}: record {self._record} at byte {self._byte}: {problem}")


class _Record:
    """The fields that matter, of one record."""

    __slots__ = ("action", "device", "length", "order", "payload", "place", "sector", "time_ns")

    def __init__(self, order: str, fields: tuple[int, ...], place: _RecordPlace) -> None:
        self.order, self.place = order, place
        self.time_ns, self.sector, self.length, self.action = fields[2:6]
        self.device, self.payload = fields[7], fields[10]

    def request(self, reading: Reading) -> TraceRequest | None:
        """The request; None for what moves no data and flushes nothing."""
        category = self.action >> _CATEGORY_SHIFT
        if category & (_COMMAND | _NOTIFY):
            reading.left_out["commands without sectors"] += 1
            return None
        target = f"{self.device >> _MINOR_BITS},{self.device & ((1 << _MINOR_BITS) - 1)}"
        if self.time_ns >= MOST_NS:
            raise self.place.error("its time is more than 292 years; the file is damaged.")
        if self.length == 0:
            if category & _FLUSH and self.action & _ACTION_BITS != _CODES["complete"]:
                return TraceRequest(self.time_ns, "flush", 0, 0, target)
            reading.left_out["commands without sectors"] += 1
            return None
        op = "trim" if category & _DISCARD else "write" if category & _WRITE else "read"
        if self.sector * SECTOR_BYTES + self.length > 1 << 63:
            raise self.place.error(f"its sector {self.sector} is beyond any storage; the file is damaged.")
        return TraceRequest(self.time_ns, op, self.sector * SECTOR_BYTES, self.length, target)


def _record(head: bytes, before: _Record | None, place: _RecordPlace) -> _Record:
    order = byte_order(head)
    if order is None:
        raise place.error("it does not begin with blktrace's magic number; the file is damaged, or not one of blktrace's.")
    if len(head) < RECORD_BYTES:
        raise place.error(f"it has {len(head)} of {RECORD_BYTES} bytes; the file is cut off, record it again or cut it there.")
    if before is not None and before.order != order:
        raise place.error("its byte order is not that of the records before; put traces of different machines in files of their own.")
    fields = struct.unpack(f"{order}{_FIELDS}", head)
    if fields[0] & 0xFF != VERSION:
        raise place.error(f"it is of version {fields[0] & 0xFF}; only version {VERSION} is read.")
    return _Record(order, fields, place)


def _skipped(file: BinaryIO, record: _Record, place: _RecordPlace) -> int:
    """Reads past the payload; its length."""
    found = len(file.read(record.payload)) if record.payload else 0
    if found < record.payload:
        raise place.error(f"its payload has {found} of {record.payload} bytes; the file is cut off, record it again or cut it there.")
    return found
