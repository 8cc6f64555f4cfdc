"""A trace of any format: which it is, and its requests.

Model: the format is told by content, from the first bytes: the binary magic, the first line of an iolog, or the first line that is neither
blank nor a comment. Binary forms without a mark are told by fields that only they fill so. A name is never looked at. What gzip compressed
is unpacked on the way. `FORMATS` lists what is read.

    with open("hm_0.csv", "rb") as file:
        trace = open_trace(file, "hm_0.csv")
        for request in trace.requests(): ...
        print(trace.form, trace.reading.left_out)
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import BinaryIO, cast

from plimsoll.displayed import quoted
from plimsoll.errors import InputError
from plimsoll.formats.traces.compact import is_compact, read_compact
from plimsoll.formats.traces.gzip_file import GZIP, unpacked
from plimsoll.formats.traces.records import is_blktrace, is_oracle_general, is_vscsi
from plimsoll.formats.traces.request import Reading, TraceRequest
from plimsoll.formats.traces.text import is_alibaba, is_blkparse, is_cloudphysics, is_iolog, is_mqsim, is_msr

HEAD_BYTES = 4096
#: Actions of the block layer at which a request may be counted.
ACTIONS = ("issue", "queue", "complete")


@dataclass(frozen=True)
class Form:
    """A format: what people call it."""

    title: str
    #: Whether the place at which requests are counted can be chosen.
    has_actions: bool = False


FORMATS = {
    "iolog": Form("fio iolog"),
    "blktrace": Form("blktrace binary", has_actions=True),
    "blkparse": Form("blkparse text", has_actions=True),
    "msr": Form("MSR-Cambridge CSV"),
    "alibaba": Form("Alibaba CSV"),
    "mqsim": Form("MQSim text"),
    "cloudphysics": Form("CloudPhysics CSV"),
    "vscsi": Form("CloudPhysics vscsi"),
    "oracle-general": Form("libCacheSim oracleGeneral"),
    "compact": Form("compact trace"),
}
#: Tests of the first line that says something, in the order in which they are made.
_LINES: tuple[tuple[str, Callable[[str], bool]], ...] = (
    ("msr", is_msr),
    ("alibaba", is_alibaba),
    ("cloudphysics", is_cloudphysics),
    ("blkparse", is_blkparse),
    ("mqsim", is_mqsim),
)


#: How compressed files begin.
_PACKED = {
    b"\x1f\x8b": "gzip",
    b"\xfd7zXZ\0": "xz",
    b"BZh": "bzip2",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"PK\x03\x04": "zip",
    b"7z\xbc\xaf": "7z",
    b"\x04\x22\x4d\x18": "lz4",
}
#: What unpacks those that are not everywhere.
_HOW = {"zstd": " with zstd -d"}


@dataclass(frozen=True)
class Trace:
    """A trace about to be read."""

    form: str
    reading: Reading
    file: BinaryIO
    counted: str

    @property
    def title(self) -> str:
        """What people call the format."""
        return FORMATS[self.form].title

    def requests(self) -> Iterator[TraceRequest]:
        """Every request, once; what was left out and taken for granted stands in the reading when they have come to an end."""
        if self.form == "compact":
            return read_compact(self.file, self.reading)
        from plimsoll import _core

        return _core.TraceReader((self.form, self.counted), self.file, self.reading, TraceRequest)


def open_trace(file: BinaryIO, source: str, form: str | None = None, counted: str | None = None) -> Trace:
    """The trace in ``file``. ``form`` is one of `FORMATS`, recognised when it is None; ``counted`` is one of `ACTIONS`."""
    buffered = file if hasattr(file, "peek") else io.BufferedReader(cast(io.RawIOBase, file))
    gzipped = buffered.peek(len(GZIP)).startswith(GZIP)
    if gzipped:
        buffered = io.BufferedReader(unpacked(buffered, source), HEAD_BYTES)
    head = buffered.peek(HEAD_BYTES)[:HEAD_BYTES]
    if not head:
        raise InputError(f"{source}:1: the file is empty; give a trace with at least one request.")
    found = form or recognised(head)
    _check_unpacked(head, source, gzipped=gzipped)
    if found is None:
        raise InputError(f"{source}:1: its format is not recognised; name it with --format, one of {', '.join(FORMATS)}.")
    if counted is not None and not FORMATS[found].has_actions:
        raise InputError(f"{source}:1: a trace in the format {found} has one entry per request; leave --action {counted} out.")
    if counted is not None and counted not in ACTIONS:
        raise InputError(f"{source}:1: requests are not counted at {quoted(counted)}; write one of {', '.join(ACTIONS)}.")
    return Trace(found, Reading(source), buffered, counted or "issue")


def _check_unpacked(head: bytes, source: str, *, gzipped: bool) -> None:
    if gzipped and is_compact(head):
        raise InputError(f"{source}:1: a compact trace is not read out of a gzip file; unpack it first.")
    packed = next((name for mark, name in _PACKED.items() if head.startswith(mark)), None)
    if packed is not None:
        how = _HOW.get(packed, "")
        raise InputError(f"{source}:1: it is compressed ({packed}), and only what gzip compressed is read as it is; unpack it first{how}.")


def recognised(head: bytes) -> str | None:
    """The format that content begins like; None when it is none of `FORMATS`."""
    if is_blktrace(head):
        return "blktrace"
    if is_compact(head):
        return "compact"
    if is_vscsi(head):
        return "vscsi"
    if is_oracle_general(head):
        return "oracle-general"
    text = head.decode("utf-8", errors="replace").removeprefix("\ufeff")
    said = [line.strip() for line in text.splitlines() if line.strip() and not line.strip().startswith(("#", "//"))]
    if not said:
        return None
    if is_iolog(said[0]):
        return "iolog"
    return next((form for form, is_form in _LINES if is_form(said[0])), None)
