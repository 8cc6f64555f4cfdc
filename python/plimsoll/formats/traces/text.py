"""Text formats with a request per line that `crates/traces` reads: how each is told, and the reader of all of them.

What a line means is said there, in a file per format: fio's iolog, the CSV of MSR-Cambridge and of Alibaba, and MQSim's text.

    fio version 3 iolog
    128166372003061629,hm,0,Read,383496192,32768,413
    419,W,8792731648,16384,1577808144360767
    48513000 0 303567 7 0
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import BinaryIO

from plimsoll.formats.traces.request import Reading, TraceRequest

_MSR_COLUMNS, _ALIBABA_COLUMNS, _MQSIM_COLUMNS = 7, 5, 5


def is_iolog(head: str) -> bool:
    """Whether a text begins like an iolog."""
    return head.startswith("fio version ") and head.split("\n", 1)[0].rstrip().endswith("iolog")


def is_msr(line: str) -> bool:
    """Whether a line is one of an MSR-Cambridge trace."""
    words = line.split(",")
    return len(words) == _MSR_COLUMNS and (words[0].strip().lower() == "timestamp" or words[3].strip().lower() in ("read", "write"))


def is_alibaba(line: str) -> bool:
    """Whether a line is one of an Alibaba trace."""
    words = [word.strip() for word in line.split(",")]
    return len(words) == _ALIBABA_COLUMNS and (words[0].lower() == "device_id" or words[1].upper() in ("R", "W"))


def is_mqsim(line: str) -> bool:
    """Whether a line is one of an MQSim trace."""
    words = line.split()
    return len(words) == _MQSIM_COLUMNS and all(word.isascii() and word.isdigit() for word in words) and words[4] in ("0", "1")


def read_text(form: str) -> Callable[[BinaryIO, Reading], Iterator[TraceRequest]]:
    """The reader of a format: every request, and in the reading what was left out once it has come to an end."""

    def read(file: BinaryIO, reading: Reading) -> Iterator[TraceRequest]:
        from plimsoll import _core

        return _core.TraceReader(form, file, reading, TraceRequest)

    return read
