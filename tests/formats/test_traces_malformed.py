"""Damaged traces: one sentence with the line, whatever is in the file."""

from __future__ import annotations

import gzip
import io

import pytest

from plimsoll.errors import InputError
from plimsoll.formats.traces import open_trace
from support.trace_samples import ALIBABA, IOLOG_3, MQSIM, MSR, compact, record

V2, V3 = b"fio version 2 iolog\n", b"fio version 3 iolog\n"
EVENT = b"8,0 3 1 0.000002000 697 D W 8 + 8 [x]\n"
READ_RECORD = record(7, 1, at_ns=1, sector=8, length=512)

MALFORMED = [
    (None, b"", "1: the file is empty"),
    (None, b"\n\n# nothing\n", "1: its format is not recognised; name it with --format, one of iolog"),
    (None, b"\x00\x01\x02\x03", "1: its format is not recognised"),
    (None, b"what,is,this\n", "1: its format is not recognised"),
    (None, b"\xfd7zXZ\0\0\x04", "1: it is compressed (xz), and only what gzip compressed is read as it is; unpack it first"),
    ("msr", b"BZh91AY&SY", "1: it is compressed (bzip2)"),
    (None, gzip.compress(MSR, mtime=0)[:-12], " the gzip file is damaged (it ends too early)"),
    (None, gzip.compress(compact(IOLOG_3), mtime=0), "1: a compact trace is not read out of a gzip file"),
    (None, b"fio version 4 iolog\n", "1: version 4 of the iolog is not read"),
    (None, b"fio version 1 iolog\n", "1: version 1 of the iolog is not read"),
    (None, b"fio version two iolog\n", "1: the first line does not name an iolog"),
    ("iolog", MSR, "1: the first line does not name an iolog; it has to be 'fio version 2 iolog'"),
    (None, V2 + b"/dev/sdb\n", "2: '/dev/sdb' is incomplete; write a line such as '/dev/sdb read 0 4096'"),
    (None, V2 + b"/dev/sdb read 0\n", "2: '/dev/sdb read 0' is incomplete"),
    (None, V2 + b"a add\na erase 0 4096\n", "3: the action 'erase' is unknown; write read, write, trim"),
    (None, V2 + b"a read -1 4096\n", "2: the offset '-1' is not a whole number from 0 on; write one, for example 4096"),
    (None, V2 + b"a read 0 4k\n", "2: the length '4k' is not a whole number"),
    (None, V2 + b"a read 0 0\n", "2: the request has a length of 0"),
    (None, V2 + b"a read 9223372036854775807 4096\n", "2: the request ends at byte 9223372036854779903, beyond any storage"),
    (None, V2 + b"a close\n", "2: 'a' is closed and was never added; add it first"),
    (None, V3 + b"soon a read 0 4096\n", "2: the time 'soon' is not a whole number"),
    (None, V3 + b"5 a wait 0 4096\n", "2: version 3 of the iolog has no action 'wait'"),
    (None, V3 + b"99999999999999999999 a read 0 4096\n", "2: the time is more than 292 years in nanoseconds"),
    (None, V3 + b"7\n", "2: '' is incomplete"),
    (None, MSR + b"1,hm,0,Read,0\n", "3: the line has 5 columns instead of 7; write Timestamp,Hostname"),
    (None, MSR + b"1,hm,0,Trim,0,512,1\n", "3: the type 'Trim' is neither Read nor Write"),
    (None, MSR + b"yesterday,hm,0,Read,0,512,1\n", "3: the timestamp 'yesterday' is not a whole number"),
    (None, MSR + b"1,hm,c,Read,0,512,1\n", "3: the disk number 'c' is not a whole number"),
    (None, MSR + b"1,hm,0,Read,0,0,1\n", "3: the request has a length of 0"),
    (None, MSR + b"1,hm,0,Read,0,512,-1\n", "3: the response time '-1' is not a whole number"),
    (None, MSR + "1,hm,0,Read,²,512,1\n".encode(), "3: the offset '²' is not a whole number"),
    (None, ALIBABA + b"1,X,0,512,1577808144360767\n", "4: the opcode 'X' is neither R nor W"),
    (None, ALIBABA + b"1,R,0,512\n", "4: the line has 4 columns instead of 5; write device_id,opcode"),
    (None, ALIBABA + b"vd1,R,0,512,1577808144360767\n", "4: the device 'vd1' is not a whole number"),
    (None, ALIBABA + b"1,R,0,512,1577808144.36\n", "4: the timestamp '1577808144.36' is not a whole number"),
    (None, MQSIM + b"1 0 0 8\n", "4: the line has 4 columns instead of 5; write time, device, sector, sectors and type"),
    (None, MQSIM + b"1 0 0 8 2\n", "4: the type '2' is neither 1 (read) nor 0 (write)"),
    (None, MQSIM + b"1.5 0 0 8 1\n", "4: the arrival time '1.5' is not a whole number"),
    (None, MQSIM + b"1 0 0 0 1\n", "4: the request has a length of 0"),
    (None, EVENT + b"8,0 3 2 0.1 697 D W 8 + 8 [x]\n", "2: the time '0.1' is not seconds with nine digits"),
    (None, EVENT + b"sda 3 2 0.000000001 697 D W 8 + 8 [x]\n", "2: 'sda 3 2 0.000000001 697 D W 8 + 8 [x]' is not an event"),
    (None, EVENT + b"8,0 3 2 0.000000001 697 Z W 8 + 8 [x]\n", "2: the action 'Z' is unknown"),
    (None, EVENT + b"8,0 3 2 0.000000001 697 D\n", "2: the event does not say what is done"),
    (None, EVENT + b"8,0 3 2 0.000000001 697 D W eight + 8 [x]\n", "2: the sector 'eight' is not a whole number"),
    (
        None,
        EVENT + b"8,0 3 2 0.000000001 697 D W 99999999999999999999 + 8 [x]\n",
        "2: the request ends at byte 51200000000000000003584, beyond any storage",
    ),
    (None, MSR + b"\xff\xfe\n", "3: the line is not text; give the trace as its tool wrote it"),
    (None, MSR + b"1,hm\x00,0,Read,0,512,1\n", "3: the line holds a zero byte"),
    (None, MSR + b"1" * 5000, "3: the line has 4096 bytes or more"),
    (None, READ_RECORD[:20], " record 1 at byte 0: it has 20 of 48 bytes; the file is cut off"),
    (None, READ_RECORD + b"rubbish!" * 6, " record 2 at byte 48: it does not begin with blktrace's magic number"),
    (None, READ_RECORD + record(7, 1, payload=b"abcdef")[:-2], " record 2 at byte 48: its payload has 4 of 6 bytes"),
    (None, READ_RECORD + record(7, 1, order=">"), " record 2 at byte 48: its byte order is not that of the records before"),
    (None, b"\x06" + READ_RECORD[1:], " record 1 at byte 0: it is of version 6; only version 7 is read"),
    (None, record(7, 1, sector=1 << 60, length=512), " record 1 at byte 0: its sector 1152921504606846976 is beyond any storage"),
    (None, record(7, 1, at_ns=1 << 63, length=512), " record 1 at byte 0: its time is more than 292 years"),
    ("blktrace", MSR, " record 1 at byte 0: it does not begin with blktrace's magic number"),
]


def drained(content: bytes, form: str | None = None) -> int:
    return sum(1 for _ in open_trace(io.BytesIO(content), "t", form).requests())


@pytest.mark.parametrize(("form", "content", "sentence"), MALFORMED)
def test_a_damaged_trace_gets_one_sentence_with_its_place(form: str | None, content: bytes, sentence: str) -> None:
    with pytest.raises(InputError) as refused:
        drained(content, form)
    said = str(refused.value)
    assert said.startswith(f"t:{sentence}")
    assert said.endswith(".") and "\n" not in said and len(said) < 260


def test_requests_before_the_damage_were_given() -> None:
    requests = open_trace(io.BytesIO(MSR + b"damage\n"), "t").requests()
    assert [next(requests).op, next(requests).op] == ["read", "write"]
    with pytest.raises(InputError, match=r"^t:3: "):
        next(requests)
