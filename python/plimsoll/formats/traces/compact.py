"""The compact form of a trace, which streams replay: records of one size in the order of their instants, written and read in one pass.

Model: 64 bytes that say where everything is, 24 bytes per request, the places that reads and writes touched, and a header as JSON; numbers
are little-endian (`crates/workload/src/trace.rs` has the table). Requests are put in order of their times within a window; one that comes
later still is set to the time before it, and counted. What is longer than `LONGEST_BYTES` is split.
Units: nanoseconds from the first request, bytes.
Limits: memory is that of the window and of at most `MOST_PLACES` touched places, which are made larger when there are more. 65,536 devices.

    with open("hm_0.trace", "wb") as out:
        header = write_compact(trace.requests(), out, {"name": "hm_0.csv", "format": "MSR-Cambridge CSV"})
"""

from __future__ import annotations

import heapq
import json
import math
import os
import struct
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import BinaryIO, NamedTuple

from plimsoll.errors import InputError
from plimsoll.formats.traces.request import MOST_BYTES, MOST_NS, Reading, TraceRequest
from plimsoll.stored import Json

MAGIC = b"PLIMTRC1"
PREFIX = struct.Struct("<8s5Q16x")
RECORD = struct.Struct("<QQIBBH")
OPS = ("read", "write", "trim", "flush")
#: The longest request of each operation; trims move no bytes through memory.
LONGEST_BYTES = {"read": 16 << 20, "write": 16 << 20, "trim": 1 << 30, "flush": 1}
#: Requests that wait for earlier ones to show up.
WINDOW = 16_384
MOST_PLACES = 65_536
MOST_DEVICES = 65_536
_FIRST_PLACE_SHIFT = 20
_DEVICE_SHIFT = 48
_ROWS = 4096
_CODES = {op: code for code, op in enumerate(OPS)}


def is_compact(head: bytes) -> bool:
    """Whether bytes begin like a compact trace."""
    return head.startswith(MAGIC)


def write_compact(requests: Iterator[TraceRequest], out: BinaryIO, source: Json, devices: Sequence[str] = ()) -> Json:
    """Write ``requests`` to ``out``, which can seek; the header, with ``source`` in it. ``devices`` come first, in this order."""
    changed: Counter[str] = Counter()
    gathered = _Gathered(devices)
    out.write(bytes(PREFIX.size))
    rows: list[bytes] = []
    for request in _split(_in_order(requests, changed), changed):
        rows.append(gathered.row(request))
        if len(rows) == _ROWS:
            out.write(b"".join(rows))
            rows.clear()
    out.write(b"".join(rows))
    header = {**gathered.header(), "source": source, "changed": dict(changed)}
    _finish(out, header, gathered.places.keys())
    return header


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


def _in_order(requests: Iterator[TraceRequest], changed: Counter[str]) -> Iterator[tuple[int, TraceRequest]]:
    """Every request with its instant, which never steps back; 0 where the trace has no times."""
    waiting: list[tuple[int, int, TraceRequest]] = []
    latest_ns = last_ns = 0
    for number, request in enumerate(requests):
        at_ns = request.at_ns or 0
        if at_ns < latest_ns:
            changed["put in order"] += 1
        latest_ns = max(latest_ns, at_ns)
        if len(waiting) < WINDOW:
            heapq.heappush(waiting, (at_ns, number, request))
            continue
        at_ns, _, first = heapq.heappushpop(waiting, (at_ns, number, request))
        if at_ns < last_ns:
            changed["set later"] += 1
        last_ns = max(last_ns, at_ns)
        yield last_ns, first
    while waiting:
        at_ns, _, first = heapq.heappop(waiting)
        last_ns = max(last_ns, at_ns)
        yield last_ns, first


def _split(requests: Iterator[tuple[int, TraceRequest]], changed: Counter[str]) -> Iterator[tuple[int, TraceRequest]]:
    """Requests of at most `LONGEST_BYTES`; the pieces of a longer one are due together."""
    for at_ns, request in requests:
        longest = LONGEST_BYTES[request.op]
        if request.length <= longest:
            yield at_ns, request
            continue
        changed["split"] += 1
        end = request.offset + request.length
        for offset in range(request.offset, end, longest):
            yield at_ns, request._replace(offset=offset, length=min(longest, end - offset))


class _Gathered:
    """What the header says, gathered request by request."""

    def __init__(self, devices: Sequence[str]) -> None:
        self.places = _Places()
        self._devices: dict[str, int] = {}
        self._ends: list[int] = []
        self._requests: list[int] = []
        for name in devices:
            self._admit(name)
        self._counts, self._longest = [0] * len(OPS), [0] * len(OPS)
        self._granule = self._first_ns = self._last_ns = 0
        self._timed: bool | None = None
        self._served = self._service_ns = 0

    def row(self, timed: tuple[int, TraceRequest]) -> bytes:
        """The record of a request."""
        at_ns, (asked_ns, op, offset, length, target, service_ns) = timed
        if self._timed is None:
            self._timed, self._first_ns = asked_ns is not None, at_ns
        device = self._devices.get(target)
        if device is None:
            device = self._admit(target)
        self._requests[device] += 1
        code = _CODES[op]
        self._counts[code] += 1
        self._longest[code] = max(self._longest[code], length)
        self._last_ns = at_ns
        if length:
            self._granule = math.gcd(self._granule, offset, length)
            self._ends[device] = max(self._ends[device], offset + length)
            if code < _CODES["trim"]:
                self.places.touch(device, offset, length)
        if service_ns is not None:
            self._served += 1
            self._service_ns += service_ns
        return RECORD.pack(at_ns - self._first_ns, offset, length, code, 0, device)

    def _admit(self, target: str) -> int:
        if len(self._devices) == MOST_DEVICES:
            raise InputError(f"the trace has more than {MOST_DEVICES} devices; choose some with --device.")
        self._devices[target] = len(self._devices)
        self._ends.append(0)
        self._requests.append(0)
        return len(self._devices) - 1

    def header(self) -> Json:
        """The header, but for where the trace came from."""
        return {
            "span_ns": self._last_ns - self._first_ns,
            "timed": bool(self._timed),
            "ops": self._counts,
            "longest": self._longest,
            "granule": self._granule,
            "place_bytes": self.places.bytes,
            "devices": [
                {"name": name, "end_bytes": end, "requests": count}
                for name, end, count in zip(self._devices, self._ends, self._requests, strict=True)
            ],
            "service": {"count": self._served, "sum_ns": self._service_ns},
        }


class _Places:
    """The places that were touched, in bounded memory: when there are too many, they become twice as large."""

    def __init__(self) -> None:
        self._shift = _FIRST_PLACE_SHIFT
        self._touched: set[int] = set()

    @property
    def bytes(self) -> int:
        """The size of a place."""
        return 1 << self._shift

    def touch(self, device: int, offset: int, length: int) -> None:
        """Reads and writes touch every place they reach into."""
        first, last = offset >> self._shift, (offset + length - 1) >> self._shift
        base = device << _DEVICE_SHIFT
        self._touched.add(base | first)
        if last > first:
            self._touched.update(base | place for place in range(first + 1, last + 1))
        while len(self._touched) > MOST_PLACES:
            self._shift += 1
            below = (1 << _DEVICE_SHIFT) - 1
            self._touched = {(key & ~below) | (key & below) >> 1 for key in self._touched}

    def keys(self) -> list[int]:
        """Device and place of each, ascending."""
        return sorted(self._touched)


def _finish(out: BinaryIO, header: Json, places: list[int]) -> None:
    records = sum(header["ops"])
    places_at = PREFIX.size + RECORD.size * records
    out.write(struct.pack(f"<{len(places)}Q", *places))
    out.seek(0)
    out.write(PREFIX.pack(MAGIC, records, 0, 0, places_at, len(places)))
    _write_header(out, header, places_at + 8 * len(places))


def _write_header(out: BinaryIO, header: Json, at: int) -> Json:
    content = json.dumps(header).encode()
    out.seek(at)
    out.write(content)
    # Magic and records come first.
    out.seek(16)
    out.write(struct.pack("<2Q", at, len(content)))
    return header
