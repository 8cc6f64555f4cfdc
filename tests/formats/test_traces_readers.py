"""What each trace format's lines mean, in bytes and nanoseconds, and how a trace is recognised."""

from __future__ import annotations

import gzip
import io
import itertools
import shutil
import subprocess
from pathlib import Path

import pytest

from plimsoll.errors import InputError
from plimsoll.formats.traces import FORMATS, TraceRequest, open_trace, recognised
from support.patience import HANGS_S
from support.trace_samples import (
    ALIBABA,
    BLKPARSE,
    CLOUDPHYSICS,
    COMPLETE,
    IOLOG_2,
    IOLOG_3,
    ISSUE,
    MQSIM,
    MSR,
    ORACLE_GENERAL,
    READ,
    VSCSI,
    blktrace,
    compact,
    oracle_general,
    record,
    vscsi,
)


def read(content: bytes, form: str | None = None, counted: str | None = None) -> list[TraceRequest]:
    return list(open_trace(io.BytesIO(content), "trace", form, counted).requests())


def test_an_iolog_of_version_2_has_no_times() -> None:
    assert read(IOLOG_2) == [
        TraceRequest(None, "read", 4096, 8192, "/dev/sdb"),
        TraceRequest(None, "write", 0, 512, "/dev/sdb"),
        TraceRequest(None, "flush", 0, 0, "/dev/sdb"),
        TraceRequest(None, "trim", 1048576, 65536, "/dev/sdb"),
    ]


def test_an_iolog_of_version_3_has_times_in_microseconds_and_names_may_hold_spaces() -> None:
    assert read(IOLOG_3) == [
        TraceRequest(118_000, "read", 61440, 4096, "/tmp/a b"),
        TraceRequest(10_091_000, "write", 774144, 4096, "/tmp/a b"),
        TraceRequest(10_200_000, "flush", 0, 0, "/tmp/a b"),
    ]


def test_what_an_iolog_says_besides_is_counted() -> None:
    trace = open_trace(io.BytesIO(IOLOG_2), "log")
    list(trace.requests())
    assert trace.reading.left_out == {"lines that add, open or close files": 3, "pauses ('wait')": 1}


def test_blkparse_counts_issued_requests_in_sectors_and_takes_service_times_from_completions() -> None:
    assert read(BLKPARSE) == [
        TraceRequest(2000, "write", 223490 * 512, 4096, "8,0", 400_000),
        TraceRequest(3000, "read", 8192, 131072, "8,16"),
        TraceRequest(600_000, "trim", 4096 * 512, 1 << 20, "8,0"),
        TraceRequest(700_000, "flush", 0, 0, "8,0"),
    ]


@pytest.mark.parametrize(("counted", "times"), [("queue", [0]), ("complete", [402_000])])
def test_blkparse_counts_at_another_action_when_asked(counted: str, times: list[int]) -> None:
    assert [request.at_ns for request in read(BLKPARSE, counted=counted)] == times


@pytest.mark.parametrize("order", ["<", ">"])
def test_blktrace_is_read_in_both_byte_orders(order: str) -> None:
    found = read(blktrace(order))
    assert found == [
        TraceRequest(10, "read", 64 * 512, 4096, "8,16", 1000),
        TraceRequest(20, "write", 4096, 512, "8,16"),
        TraceRequest(30, "trim", (1 << 33) * 512, 1 << 20, "8,16"),
        TraceRequest(40, "flush", 0, 0, "8,16"),
    ]


def test_blktrace_counts_at_another_action_when_asked() -> None:
    assert [request.at_ns for request in read(blktrace("<"), counted="queue")] == [5]
    assert [request.at_ns for request in read(blktrace("<"), counted="complete")] == [1010]


def test_msr_times_are_ticks_of_100_ns_from_the_first_request() -> None:
    assert read(MSR) == [
        TraceRequest(0, "read", 383496192, 32768, "hm 0", 41_300),
        TraceRequest((128166372016382155 - 128166372003061629) * 100, "write", 2822144000, 4096, "hm 1"),
    ]


def test_alibaba_times_are_microseconds_from_the_first_request() -> None:
    assert read(ALIBABA) == [
        TraceRequest(0, "write", 8792731648, 16384, "419"),
        TraceRequest(46_000, "read", 59110326272, 360448, "725"),
    ]


def test_mqsim_has_nanoseconds_sectors_and_1_for_reads() -> None:
    assert read(MQSIM) == [
        TraceRequest(48_513_000, "write", 303567 * 512, 7 * 512, "0"),
        TraceRequest(48_514_000, "read", 4096, 8192, "3"),
    ]


def test_cloudphysics_has_seconds_bytes_blocks_and_scsi_codes() -> None:
    trace = open_trace(io.BytesIO(CLOUDPHYSICS), "w01.csv")
    assert list(trace.requests()) == [
        TraceRequest(0, "write", 42932745 * 512, 512, "vm"),
        TraceRequest(0, "read", 40409911 * 512, 6656, "vm"),
        TraceRequest(1_000_000_000, "flush", 0, 0, "vm"),
        TraceRequest(1_500_000_000, "trim", 1 << 20, 65536, "vm"),
        TraceRequest(3_000_000_000, "read", 6160447 * 512, 4096, "vm"),
    ]
    assert trace.reading.left_out == {"commands without sectors": 1}
    assert list(trace.reading.assumed) == ["its times are whole seconds, so the requests of a second are due together"]


def test_cloudphysics_times_that_would_be_thousands_of_years_are_microseconds() -> None:
    trace = open_trace(io.BytesIO(b"1,5633898611441,2a,512,42932745\n1,5633898611941,2a,512,42932746\n"), "w01.csv")
    assert [request.at_ns for request in trace.requests()] == [0, 500_000]
    assert list(trace.reading.assumed) == ["its times are microseconds"]


@pytest.mark.parametrize("version", [1, 2])
def test_vscsi_has_microseconds_bytes_and_blocks_in_both_versions(version: int) -> None:
    trace = open_trace(io.BytesIO(vscsi(version, *VSCSI)), "w01.vscsi")
    assert list(trace.requests()) == [
        TraceRequest(0, "write", 42932745 * 512, 512, "vm"),
        TraceRequest(250_000, "read", 40409911 * 512, 6656, "vm"),
        TraceRequest(1_000_000, "flush", 0, 0, "vm"),
    ]
    assert trace.reading.left_out == {"commands without sectors": 1}


def test_oracle_general_says_what_is_taken_for_granted() -> None:
    trace = open_trace(io.BytesIO(ORACLE_GENERAL), "w01.oracleGeneral.bin")
    assert list(trace.requests()) == [
        TraceRequest(0, "read", 42932745 * 512, 512, "vm"),
        TraceRequest(0, "read", 40409911 * 512, 6656, "vm"),
        TraceRequest(3_000_000_000, "read", 6160447 * 512, 4096, "vm"),
    ]
    assert len(trace.reading.assumed) == 3
    assert "every request is taken as a read, as the format does not say what was done" in trace.reading.assumed


@pytest.mark.parametrize("content", [CLOUDPHYSICS, vscsi(1, *VSCSI), vscsi(2, *VSCSI), ORACLE_GENERAL])
def test_traces_of_virtual_machines_are_read_out_of_gzip_files(content: bytes) -> None:
    assert read(gzip.compress(content)) == read(content)


def test_a_trace_that_zstd_compressed_says_how_to_unpack_it() -> None:
    with pytest.raises(InputError, match=r"it is compressed \(zstd\).*unpack it first with zstd -d\."):
        read(b"\x28\xb5\x2f\xfd" + bytes(40))


@pytest.mark.parametrize(
    ("content", "form", "part"),
    [
        (b"1,1,2a,512\n", "cloudphysics", "trace:1: the line has 4 columns instead of 5; write version,time,op,size,lbn"),
        (b"1,soon,2a,512,7\n", "cloudphysics", "the time 'soon' is not a number of seconds"),
        (b"1,1,write,512,7\n", "cloudphysics", "the operation 'write' is no SCSI code in hexadecimal"),
        (b"1,1,2a,-1,7\n", "cloudphysics", "the size '-1' is not a whole number"),
        (b"1,1,2a,512,99999999999999999999\n", "cloudphysics", "beyond any storage"),
        (vscsi(1, *VSCSI) + b"\0" * 7, "vscsi", "trace: record 5: it has 7 of 32 bytes; the file is cut off"),
        (vscsi(1, *VSCSI, *VSCSI * 8) + vscsi(2, *VSCSI)[2:34], "vscsi", "trace: record 37: it is of version"),
        (MSR, "vscsi", "trace: record 1: it is of neither version 1 nor version 2"),
        (ORACLE_GENERAL + b"\0", "oracle-general", "trace: record 4: it has 1 of 24 bytes"),
        (oracle_general((1, 1 << 63, 512, -1)), "oracle-general", "object 9223372036854775808 is no block of any storage"),
    ],
)
def test_what_is_wrong_with_a_trace_of_a_virtual_machine_is_one_sentence(content: bytes, form: str, part: str) -> None:
    with pytest.raises(InputError) as caught:
        read(content, form)
    assert part in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "form"),
    [
        (IOLOG_2, "iolog"),
        (IOLOG_3, "iolog"),
        (BLKPARSE, "blkparse"),
        (blktrace("<"), "blktrace"),
        (blktrace(">"), "blktrace"),
        (MSR, "msr"),
        (ALIBABA, "alibaba"),
        (ALIBABA.partition(b"\n")[2], "alibaba"),
        (MQSIM, "mqsim"),
        (CLOUDPHYSICS, "cloudphysics"),
        (CLOUDPHYSICS.partition(b"\n")[2], "cloudphysics"),
        (vscsi(1, *VSCSI), "vscsi"),
        (vscsi(2, *VSCSI), "vscsi"),
        (vscsi(1, *VSCSI[:1]), "vscsi"),
        (vscsi(2, *VSCSI[:1]), "vscsi"),
        (ORACLE_GENERAL, "oracle-general"),
        (ORACLE_GENERAL[:24], "oracle-general"),
        (gzip.compress(b"x", mtime=0), None),
        (bytes(4096), None),
        (bytes(range(256)) * 16, None),
        (compact(MSR), "compact"),
        (b"\xef\xbb\xbf\r\n" + MSR.replace(b"\n", b"\r\n"), "msr"),
        (b"hello\n", None),
    ],
)
def test_a_format_is_recognised_by_content(content: bytes, form: str | None) -> None:
    assert recognised(content) == form


@pytest.mark.parametrize("form", [form for form in FORMATS if form not in ("blktrace", "compact", "vscsi", "oracle-general")])
def test_blank_lines_comments_and_carriage_returns_change_nothing(form: str) -> None:
    content = {"iolog": IOLOG_3, "blkparse": BLKPARSE, "msr": MSR, "alibaba": ALIBABA, "mqsim": MQSIM, "cloudphysics": CLOUDPHYSICS}[form]
    spaced = b"# a comment\r\n\r\n" + content.replace(b"\n", b"\r\n\r\n// another\r\n")
    assert read(spaced) == read(content)


def test_a_request_whose_completion_never_comes_is_not_lost_and_keeps_its_place() -> None:
    issued = [record(ISSUE, READ, at_ns=at, sector=8 * at, length=4096) for at in range(4)]
    done = [record(COMPLETE, READ, at_ns=100 + at, sector=8 * at, length=4096) for at in (0, 2, 3)]
    found = read(b"".join(issued + done))
    assert [(request.at_ns, request.service_ns) for request in found] == [(0, 100), (1, None), (2, 100), (3, 100)]


def test_of_equal_requests_the_first_to_complete_is_the_first_issued() -> None:
    both = [record(ISSUE, READ, at_ns=at, length=512) for at in (1, 2)] + [record(COMPLETE, READ, at_ns=at, length=512) for at in (11, 22)]
    assert [request.service_ns for request in read(b"".join(both))] == [10, 20]


class _Endless(io.RawIOBase):
    """A trace without end, made as it is read."""

    def __init__(self, lines: itertools.count[int], form: str) -> None:
        self._lines, self._form, self._left, self.given = lines, form, b"", 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        while len(self._left) < len(buffer):
            self._left += (self._form % {"n": next(self._lines)}).encode()
        buffer[:] = self._left[: len(buffer)]
        self._left = self._left[len(buffer) :]
        self.given += len(buffer)
        return len(buffer)


@pytest.mark.parametrize("form", ["%(n)d 0 8 8 1\n", "419,R,0,4096,%(n)d\n", "%(n)d,hm,0,Read,0,512,1\n", "1,%(n)d,2a,512,8\n"])
def test_requests_come_while_the_trace_is_read(form: str) -> None:
    endless = _Endless(itertools.count(), form)
    trace = open_trace(io.BufferedReader(endless), "endless")
    assert len(list(itertools.islice(trace.requests(), 1000))) == 1000
    assert endless.given < 200_000


def test_a_trace_without_completions_waits_for_none_of_them_for_long() -> None:
    line = "8,0 0 %(n)d 0.%(n)09d 1 D R %(n)d + 8 [x]\n"
    trace = open_trace(io.BufferedReader(_Endless(itertools.count(), line)), "endless")
    # Three times as many as may wait (crates/traces/src/completions.rs).
    found = list(itertools.islice(trace.requests(), 3 * 16_384))
    assert [request.at_ns for request in found] == list(range(3 * 16_384))


def test_a_request_that_is_never_completed_does_not_hold_the_others_up_for_long() -> None:
    lost = record(ISSUE, READ, at_ns=1, sector=8, length=512)
    pairs = (record(kind, READ, at_ns=10 + at, sector=16 * at, length=4096) for at in range(20_000) for kind in (ISSUE, COMPLETE))
    found = open_trace(io.BufferedReader(io.BytesIO(lost + b"".join(pairs))), "trace").requests()
    assert next(found) == TraceRequest(1, "read", 4096, 512, "8,16")
    assert [request.service_ns for request in found] == [0] * 20_000


def test_an_action_is_refused_where_there_is_one_entry_per_request() -> None:
    with pytest.raises(InputError, match=r"trace:1: a trace in the format msr has one entry per request; leave --action queue out\."):
        open_trace(io.BytesIO(MSR), "trace", counted="queue")


@pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed; the iolog is read from samples only")
def test_what_fio_itself_writes_is_read_with_its_times(tmp_path: Path) -> None:
    options = ["--rw=randrw", "--bssplit=4k/60:8k/40", "--size=4m", "--rate_iops=500,500", "--number_ios=400", "--ioengine=psync"]
    subprocess.run(
        ["fio", "--name=x", f"--filename={tmp_path / 'x'}", f"--write_iolog={tmp_path / 'log'}", *options],
        check=True,
        cwd=tmp_path,
        capture_output=True,
        timeout=HANGS_S,
    )
    found = read((tmp_path / "log").read_bytes())
    assert len(found) >= 400
    assert {(request.op, request.length) for request in found} == {(op, size) for op in ("read", "write") for size in (4096, 8192)}
    last_ns = found[-1].at_ns
    # 400 requests at 1,000 per second: 0.4 s, were the unit milliseconds it would be minutes, were it nanoseconds half a millisecond.
    assert last_ns is not None and 0.2e9 < last_ns < 4e9
