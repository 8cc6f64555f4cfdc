"""Binary formats that `crates/traces` reads: how each is told by fields that only it fills so.

What a record means is said there, in a file per format: blktrace, the two versions of CloudPhysics' vscsi, and libCacheSim's oracleGeneral.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

from plimsoll.formats.traces.request import MOST_BYTES

_SECTOR_BYTES = 512
#: No command moves more.
_LONGEST = 1 << 30
_BLKTRACE_MAGIC = 0x65617400

#: Records in these many bytes decide.
_ORACLE_HEAD_BYTES, _VSCSI_HEAD_BYTES = 4080, 640
_ORACLE_RECORD = struct.Struct("<IQIq")
#: Where there is no next access.
_NEVER = (-1, (1 << 63) - 1)
#: No trace has so many requests.
_MOST_REQUESTS = 1 << 40
_LARGEST_COMMAND = 0xFF


class _Layout(NamedTuple):
    """One version of vscsi's record: its form, and where what matters stands in it."""

    version: int
    record: struct.Struct
    length: int
    command: int
    kind: int
    block: int


_LAYOUTS = (
    _Layout(2, struct.Struct("<HHIIIQQQ"), length=3, command=0, kind=1, block=5),
    _Layout(1, struct.Struct("<IIIHHQQ"), length=1, command=3, kind=4, block=5),
)


def is_blktrace(head: bytes) -> bool:
    """Whether bytes begin like a record of blktrace, of either byte order."""
    return len(head) >= 4 and any(struct.unpack(f"{order}I", head[:4])[0] & ~0xFF == _BLKTRACE_MAGIC for order in "<>")


def is_vscsi(head: bytes) -> bool:
    """Whether bytes begin with records of one of vscsi's versions."""
    for layout in _LAYOUTS:
        size = layout.record.size
        many = min(len(head), _VSCSI_HEAD_BYTES) // size
        if many and all(_fits(layout, head[at * size : (at + 1) * size]) for at in range(many)):
            return True
    return False


def _fits(layout: _Layout, content: bytes) -> bool:
    fields = layout.record.unpack(content)
    version, command, length, block = (int(fields[at]) for at in (layout.kind, layout.command, layout.length, layout.block))
    plausible = command <= _LARGEST_COMMAND and length <= _LONGEST and block * _SECTOR_BYTES < MOST_BYTES
    return version >> 8 == layout.version and plausible


def is_oracle_general(head: bytes) -> bool:
    """Whether bytes begin like records of oracleGeneral: times that do not step back, sizes of requests, and places of next accesses."""
    content = head[: min(len(head), _ORACLE_HEAD_BYTES) // _ORACLE_RECORD.size * _ORACLE_RECORD.size]
    before = 0
    for time_s, number, size, again in _ORACLE_RECORD.iter_unpack(content):
        sized = 0 < size <= _LONGEST and number * _SECTOR_BYTES + size <= MOST_BYTES
        if time_s < before or not sized or not (again in _NEVER or 0 < again < _MOST_REQUESTS):
            return False
        before = time_s
    # Letters have larger numbers than any block.
    return bool(content)
