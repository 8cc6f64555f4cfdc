"""What SCSI operation codes do, for traces that hold them.

Model: reads and writes of 6, 10, 12 and 16 bytes, verified writes, writes of one block to many, unmapping, and flushing of the cache
(SCSI Block Commands, SBC-4, table of operation codes). Every other command moves no data of the disk.
Limits: where UNMAP has several extents, a trace has the first.

    operation(0x2a, 4096)        # 'write'
"""

from __future__ import annotations

_OPS = {
    **dict.fromkeys((0x08, 0x28, 0xA8, 0x88), "read"),
    **dict.fromkeys((0x0A, 0x2A, 0xAA, 0x8A, 0x2E, 0xAE, 0x8E, 0x41, 0x93), "write"),
    0x42: "trim",
    **dict.fromkeys((0x35, 0x91), "flush"),
}
#: What is said of the others.
WITHOUT_DATA = "commands without sectors"


def operation(code: int, length: int) -> str | None:
    """Our operation of a code; None for a command that moves nothing and flushes nothing."""
    op = _OPS.get(code)
    return op if length or op == "flush" else None
