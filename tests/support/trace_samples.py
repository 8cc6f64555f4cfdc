"""A short trace of every format, with what is special about it."""

from __future__ import annotations

import io
import struct
import tempfile
from collections.abc import Iterable

from plimsoll.formats.traces import TraceRequest, open_trace
from plimsoll.formats.traces.compact import Wanted, write_compact
from plimsoll.stored import Json

IOLOG_2 = b"""fio version 2 iolog
/dev/sdb add
/dev/sdb open
/dev/sdb read 4096 8192
/dev/sdb wait 1000 0
/dev/sdb write 0 512
/dev/sdb datasync 0 0
/dev/sdb trim 1048576 65536
/dev/sdb close
"""
IOLOG_3 = b"""fio version 3 iolog
20 /tmp/a b add
115 /tmp/a b open
118 /tmp/a b read 61440 4096
10091 /tmp/a b write 774144 4096
10200 /tmp/a b sync 774144 0
"""
BLKPARSE = b"""
  8,0    3        1     0.000000000   697  Q   W 223490 + 8 [kjournald]
  8,0    3        2     0.000001829   697  G   W 223490 + 8 [kjournald]
  8,0    3        3     0.000002000   697  D   W 223490 + 8 [kjournald]
  8,16   0        4     0.000003000   698  D  RA 16 + 256 [cp]
  8,0    3        5     0.000402000     0  C   W 223490 + 8 [0]
  8,0    3        6     0.000500000   699  m   N cfq699 alloced
  8,0    3        7     0.000600000   699  D  DS 4096 + 2048 [fstrim]
  8,0    3        8     0.000700000   699  D  FN [kworker]
  8,0    3        9     1.000000005   699  D   R 36 (5a 00 03 00) [smartd]
CPU0 (8,0):
 Reads Queued:           0,        0KiB	 Writes Queued:           1,        4KiB
"""
MSR = b"""128166372003061629,hm,0,Read,383496192,32768,413
128166372016382155,hm,1,Write,2822144000,4096,0
"""
ALIBABA = b"""device_id,opcode,offset,length,timestamp
419,W,8792731648,16384,1577808144360767
725,R,59110326272,360448,1577808144360813
"""
MQSIM = b"""# time device sector sectors type
48513000 0 303567 7 0
48514000 3 8 16 1
"""
CLOUDPHYSICS = b"""version,time,op,size,lbn
1,33898,2a,512,42932745
1,33898,28,6656,40409911
1,33899,35,0,0
1,33899.5,42,65536,2048
1,33900,12,36,0
1,33901,88,4096,6160447
"""


def vscsi(version: int, *requests: tuple[int, int, int, int]) -> bytes:
    """Records of command, length, block and microseconds."""
    if version == 1:
        return b"".join(struct.pack("<IIIHHQQ", 7, length, 1, code, 1 << 8, block, at_us) for code, length, block, at_us in requests)
    return b"".join(struct.pack("<HHIIIQQQ", code, 2 << 8 | 3, 7, length, 1, block, at_us, 900) for code, length, block, at_us in requests)


VSCSI = ((0x2A, 512, 42932745, 5_000_000), (0x28, 6656, 40409911, 5_000_250), (0x35, 0, 0, 5_001_000), (0x12, 36, 0, 5_002_000))


def oracle_general(*requests: tuple[int, int, int, int]) -> bytes:
    """Records of second, object, size and place of the next access."""
    return b"".join(struct.pack("<IQIq", *request) for request in requests)


ORACLE_GENERAL = oracle_general((33898, 42932745, 512, -1), (33898, 40409911, 6656, 7), (33901, 6160447, 4096, (1 << 63) - 1))


def record(
    action: int, category: int, *, at_ns: int = 0, sector: int = 0, length: int = 0, order: str = "<", payload: bytes = b""
) -> bytes:
    """One blk_io_trace of device 8,16."""
    device = 8 << 20 | 16
    fields = (0x65617407, 1, at_ns, sector, length, category << 16 | action, 77, device, 0, 0, len(payload))
    return struct.pack(f"{order}IIQQIIIIIHH", *fields) + payload


READ, WRITE, FLUSH, COMMAND, NOTIFY, DISCARD = 1, 2, 4, 1 << 9, 1 << 10, 1 << 13
QUEUE, ISSUE, COMPLETE = 1, 7, 8


def blktrace(order: str) -> bytes:
    return b"".join(
        [
            record(0, NOTIFY, payload=b"kworker\0\0\0\0\0", order=order),
            record(QUEUE, READ, at_ns=5, sector=64, length=4096, order=order),
            record(ISSUE, READ, at_ns=10, sector=64, length=4096, order=order),
            record(ISSUE, WRITE, at_ns=20, sector=8, length=512, order=order, payload=b"abc"),
            record(ISSUE, WRITE | DISCARD, at_ns=30, sector=1 << 33, length=1 << 20, order=order),
            record(ISSUE, FLUSH, at_ns=40, order=order),
            record(ISSUE, COMMAND, at_ns=50, length=36, order=order),
            record(COMPLETE, READ, at_ns=1010, sector=64, length=4096, order=order),
        ]
    )


def written(requests: Iterable[TraceRequest], devices: tuple[str, ...] = ()) -> tuple[bytes, Json]:
    """Requests in the compact form, and its header."""
    with tempfile.TemporaryFile() as out:
        header = write_compact(requests, out, {"name": "t", "format": "a test"}, Wanted("t", devices)).header
        out.seek(0)
        return out.read(), header


def compact(content: bytes) -> bytes:
    """A trace of another format in the compact form."""
    return written(open_trace(io.BufferedReader(io.BytesIO(content)), "t").requests())[0]
