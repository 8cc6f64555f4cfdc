"""The compact form of a trace, which streams replay: records of one size in the order of their instants, written and read in one pass.

Model: 64 bytes that say where everything is, 24 bytes per request, the places that reads and writes touched, and a header as JSON; numbers
are little-endian (`crates/workload/src/trace.rs` has the table). `crates/traces` chooses among the requests and puts them in order of their
times within a window; one that comes later still is set to the time before it, and counted. What is longer than a stream may ask is split.
Units: nanoseconds from the first request, bytes.
Limits: memory is that of the window, of the names and of at most 65,536 touched places, which are made larger when there are more. 65,536
devices.

    with open("hm_0.trace", "wb") as out:
        written = write_compact(trace.requests(), out, {"name": "hm_0.csv", "format": "MSR-Cambridge CSV"}, Wanted("hm_0.csv"))
"""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import BinaryIO, NamedTuple

from plimsoll.errors import InputError
from plimsoll.formats.traces.request import MOST_BYTES, MOST_NS, Reading, TraceRequest
from plimsoll.stored import Json

MAGIC = b"PLIMTRC1"
PREFIX = struct.Struct("<8s5Q16x")
RECORD = struct.Struct("<QQIBBH")
OPS = ("read", "write", "trim", "flush")
_ROWS = 4096


@dataclass(frozen=True)
class Wanted:
    """What of a trace is taken, by default all: some devices in the order of their parts, the first so many requests or nanoseconds."""

    #: The trace, for sentences.
    name: str
    devices: tuple[str, ...] = ()
    requests: int | None = None
    until_ns: int | None = None


@dataclass(frozen=True)
class Written:
    """What was written: its header, and the names of some devices that were not wanted."""

    header: Json
    others: list[str]


def is_compact(head: bytes) -> bool:
    """Whether bytes begin like a compact trace."""
    return head.startswith(MAGIC)


def write_compact(requests: Iterable[TraceRequest], out: BinaryIO, source: Json, wanted: Wanted) -> Written:
    """Write what is wanted of ``requests`` to ``out``, an empty file of the system's; ``source`` goes into the header.

    Raises `InputError` for what is wrong with the trace, and `OSError` for what is wrong with ``out``.
    """
    from plimsoll import _core

    chosen = (wanted.name, list(wanted.devices), wanted.requests, wanted.until_ns)
    said, changed, others, header_at = _core.write_trace(requests, out.fileno(), chosen)
    header = {**json.loads(said), "source": source, "changed": dict(changed)}
    return Written(_write_header(out, header, header_at), others)


def finish_source(out: BinaryIO, header: Json, source: Json) -> Json:
    """Say more of the source than was known before the trace had been read, for example its hash."""
    at = _prefix(out, "").header_at
    out.seek(at)
    out.truncate()
    return _write_header(out, {**header, "source": {**header["source"], **source}}, at)


def read_header(file: BinaryIO, source: str) -> Json:
    """The header of a compact trace, and how many places it touches."""
    prefix = _prefix(file, source)
    file.seek(prefix.header_at)
    try:
        header: Json = json.loads(file.read(prefix.header_length))
        whole = sum(header["ops"]) == prefix.records and all(
            isinstance(device["name"], str) and isinstance(device["end_bytes"], int) for device in header["devices"]
        )
    except (ValueError, TypeError, KeyError, RecursionError):
        whole = False
    if not whole or not header["devices"] or not isinstance(header.get("timed"), bool):
        raise _damaged(source)
    return {**header, "places": prefix.places}


def read_compact(file: BinaryIO, reading: Reading) -> Iterator[TraceRequest]:
    """Every request."""
    header = read_header(file, reading.source)
    names = [device["name"] for device in header["devices"]]
    records = _prefix(file, reading.source).records
    file.seek(PREFIX.size)
    for at in range(0, records, _ROWS):
        content = file.read(RECORD.size * min(_ROWS, records - at))
        if len(content) % RECORD.size:
            raise _damaged(reading.source, reading.line + 1)
        for due_ns, offset, length, op, _, device in RECORD.iter_unpack(content):
            reading.line += 1
            if op >= len(OPS) or device >= len(names) or offset + length > MOST_BYTES or due_ns >= MOST_NS:
                raise _damaged(reading.source, reading.line)
            yield TraceRequest(due_ns if header["timed"] else None, OPS[op], offset, length, names[device])


class _Prefix(NamedTuple):
    """The first bytes of the file, in their order."""

    magic: bytes
    records: int
    header_at: int
    header_length: int
    places_at: int
    places: int


def _prefix(file: BinaryIO, source: str) -> _Prefix:
    file.seek(0)
    content = file.read(PREFIX.size)
    if len(content) < PREFIX.size or not is_compact(content):
        raise _damaged(source)
    prefix = _Prefix(*PREFIX.unpack(content))
    places_at = PREFIX.size + RECORD.size * prefix.records
    size_bytes = file.seek(0, os.SEEK_END)
    ends = (places_at, places_at + 8 * prefix.places, prefix.header_at + prefix.header_length)
    if ends != (prefix.places_at, prefix.header_at, size_bytes):
        raise _damaged(source)
    return prefix


def _damaged(source: str, record: int = 1) -> InputError:
    return InputError(f"{source}: record {record}: the compact trace is cut off or damaged; convert the trace again.")


def _write_header(out: BinaryIO, header: Json, at: int) -> Json:
    content = json.dumps(header).encode()
    out.seek(at)
    out.write(content)
    # Magic and records come first.
    out.seek(16)
    out.write(struct.pack("<2Q", at, len(content)))
    return header
