"""The binary traces of CloudPhysics: records of what virtual machines asked of their virtual SCSI disks, in two versions.

Model: little-endian records without header, 32 bytes in version 1 and 40 in version 2, whose high byte of the field ``ver`` is the version.
Version 1: sn, len, nSG (4 bytes each), cmd, ver (2), lbn, ts (8). Version 2: cmd, ver (2), sn, len, nSG (4), lbn, ts, rt (8).
Units: blocks of 512 bytes, lengths in bytes, times in microseconds, counted from the first request.
Limits: disks of a machine are not told apart. ``rt`` of version 2 is taken for a response time by its name; its unit is told nowhere, so it
is not read. Errors name the record in place of a line.
Source: the public header and reader of libCacheSim and of mimircache before it (layout, version, microseconds).

    99 00 00 00  00 02 00 00  01 00 00 00  2a 00 00 01 …        # sn, len 512, nSG, cmd 0x2a, ver 0x0100
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from io import BufferedReader
from typing import BinaryIO, NamedTuple, cast

from plimsoll.errors import InputError
from plimsoll.formats.traces.cloudphysics import TARGET
from plimsoll.formats.traces.request import MOST_BYTES, MOST_NS, SECTOR_BYTES, Reading, TraceRequest
from plimsoll.formats.traces.scsi import WITHOUT_DATA, operation


class Layout(NamedTuple):
    """One version of the record: its form, and where what matters stands in it."""

    version: int
    record: struct.Struct
    length: int
    command: int
    kind: int
    block: int
    time: int


LAYOUTS = (
    Layout(2, struct.Struct("<HHIIIQQQ"), length=3, command=0, kind=1, block=5, time=6),
    Layout(1, struct.Struct("<IIIHHQQ"), length=1, command=3, kind=4, block=5, time=6),
)
#: The records in these many bytes decide what a file is.
HEAD_BYTES = 640
_NS_PER_US = 1000
_LARGEST_COMMAND = 0xFF
#: No command moves more.
_LONGEST = 1 << 30


def layout_of(head: bytes) -> Layout | None:
    """The layout of the records that bytes begin with; None when they are none of these."""
    for layout in LAYOUTS:
        size = layout.record.size
        many = min(len(head), HEAD_BYTES) // size
        if many and all(_fits(layout, head[at * size : (at + 1) * size]) for at in range(many)):
            return layout
    return None


def _fits(layout: Layout, content: bytes) -> bool:
    fields = layout.record.unpack(content)
    version, command, length, block = (int(fields[at]) for at in (layout.kind, layout.command, layout.length, layout.block))
    plausible = command <= _LARGEST_COMMAND and length <= _LONGEST and block * SECTOR_BYTES < MOST_BYTES
    return version >> 8 == layout.version and plausible


def read_vscsi(file: BinaryIO, reading: Reading) -> Iterator[TraceRequest]:
    """Every request; ``file`` can be looked into ahead."""
    layout = layout_of(cast(BufferedReader, file).peek(HEAD_BYTES)[:HEAD_BYTES])
    if layout is None:
        raise InputError(
            f"{reading.source}: record 1: it is of neither version 1 nor version 2; give a trace as CloudPhysics handed it on."
        )
    first: int | None = None
    while content := file.read(layout.record.size):
        reading.line += 1
        if len(content) < layout.record.size:
            raise _wrong(reading, f"it has {len(content)} of {layout.record.size} bytes; the file is cut off, fetch it again.")
        fields = layout.record.unpack(content)
        version = fields[layout.kind] >> 8
        if version != layout.version:
            raise _wrong(reading, f"it is of version {version}, and those before it of {layout.version}; the file is damaged.")
        stamp = fields[layout.time]
        first = stamp if first is None else first
        request = _request(fields, layout, max(0, stamp - first) * _NS_PER_US, reading)
        if request is not None:
            yield request


def _request(fields: tuple[int, ...], layout: Layout, at_ns: int, reading: Reading) -> TraceRequest | None:
    """The request of a record; None for a command that moves nothing and flushes nothing."""
    length, offset = fields[layout.length], fields[layout.block] * SECTOR_BYTES
    op = operation(fields[layout.command], length)
    if op is None:
        reading.left_out[WITHOUT_DATA] += 1
        return None
    if at_ns >= MOST_NS:
        raise _wrong(reading, "its time is more than 292 years after the first; the file is damaged.")
    if op == "flush":
        return TraceRequest(at_ns, op, 0, 0, TARGET)
    if offset + length > MOST_BYTES:
        raise _wrong(reading, f"its block {fields[layout.block]} is beyond any storage; the file is damaged.")
    return TraceRequest(at_ns, op, offset, length, TARGET)


def _wrong(reading: Reading, problem: str) -> InputError:
    return InputError(f"{reading.source}: record {reading.line}: {problem}")
