"""fio's iolog, versions 2 and 3: what ``write_iolog`` writes and ``read_iolog`` reads.

Model: the first line names the version. Version 2 has lines ``file action`` and ``file action offset length``; version 3 begins each with a
time. ``add``, ``open`` and ``close`` move nothing and are counted as left out; ``sync`` and ``datasync`` are flushes.
Units: bytes; the times of version 3 are microseconds since the log's start: fio 3.33 at 100 requests per second writes gaps of 10,000.
Limits: version 2 has no times. Its ``wait`` pauses are left out, because fio measures them from the pause before, not between requests.
A file name may hold spaces; fio's own reader would not take it.

    fio version 3 iolog
    118 /dev/sdb read 61440 4096
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO

from plimsoll.formats.traces.lines import lines
from plimsoll.formats.traces.request import Reading, TraceRequest, shortened

_HEADER = re.compile(r"fio version (\d{1,3}) iolog$")
_FILE_ACTIONS = frozenset({"add", "open", "close"})
_FLUSHES = frozenset({"sync", "datasync", "sync_file_range", "syncfs"})
_MOVES = frozenset({"read", "write", "trim"})
_NS_PER_US = 1000
_ACTIONS = "read, write, trim, sync, datasync, wait, add, open or close"


def is_iolog(head: str) -> bool:
    """Whether a text begins like an iolog."""
    return head.startswith("fio version ") and head.split("\n", 1)[0].rstrip().endswith("iolog")


def read_iolog(file: BinaryIO, reading: Reading) -> Iterator[TraceRequest]:
    """Every read, write, trim and flush."""
    rows = lines(file, reading)
    version = _version(next(rows, ""), reading)
    opened: set[str] = set()
    for line in rows:
        words = line.split()
        at_ns = None
        if version == 3:
            at_ns = reading.instant(reading.whole(words.pop(0), "the time", "20") * _NS_PER_US)
        request = _request(words, at_ns, reading, opened)
        if request is not None:
            yield request


def _version(header: str, reading: Reading) -> int:
    found = _HEADER.match(header)
    if found is None:
        raise reading.error("the first line does not name an iolog; it has to be 'fio version 2 iolog' or 'fio version 3 iolog'.")
    version = int(found[1])
    if version not in (2, 3):
        raise reading.error(f"version {version} of the iolog is not read; have fio 3 write it again, as version 2 or 3.")
    return version


def _request(words: list[str], at_ns: int | None, reading: Reading, opened: set[str]) -> TraceRequest | None:
    if len(words) >= 2 and words[-1] in _FILE_ACTIONS:
        _manage(" ".join(words[:-1]), words[-1], reading, opened)
        return None
    if len(words) < 4:
        raise reading.error(f"{shortened(' '.join(words))} is incomplete; write a line such as '/dev/sdb read 0 4096'.")
    name, action = " ".join(words[:-3]), words[-3]
    offset = reading.whole(words[-2], "the offset", "4096")
    length = reading.whole(words[-1], "the length", "4096")
    if action in _FLUSHES:
        return TraceRequest(at_ns, "flush", 0, 0, name)
    if action == "wait":
        if at_ns is not None:
            raise reading.error("version 3 of the iolog has no action 'wait'; its times say the same.")
        reading.left_out["pauses ('wait')"] += 1
        return None
    if action not in _MOVES:
        raise reading.error(f"the action {shortened(action)} is unknown; write {_ACTIONS}.")
    reading.extent(offset, length)
    return TraceRequest(at_ns, action, offset, length, name)


def _manage(name: str, action: str, reading: Reading, opened: set[str]) -> None:
    if action == "close" and name not in opened:
        raise reading.error(f"{shortened(name)} is closed and was never added; add it first, as in '{name[:40]} add'.")
    opened.add(name)
    reading.left_out["lines that add, open or close files"] += 1
