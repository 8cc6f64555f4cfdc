"""Traces that streams replay: converted into the compact form when a point is planned, and kept in the cache of this user.

Model: a stream's ``trace`` may name a file of any trace format. What is measured replays a compact file under
``$XDG_CACHE_HOME/plimsoll/traces``, found again by the trace's path, size and time of change and by what was chosen of it. The files used
last are kept, `MOST_KEPT` of them; a file that is compact already stands for itself.
Limits: a trace that is changed within the resolution of the file's time, at the same length, is not converted again.

    compact_of(Choice("hm_0.csv", devices=("hm 0",)))      # "/home/me/.cache/plimsoll/traces/5f1c….trace"
    with_traces(workload, folder)                          # the workload, its traces compact
"""

from __future__ import annotations

import hashlib
import io
import json
import os
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, cast

from plimsoll.displayed import encoded
from plimsoll.errors import InputError
from plimsoll.stored import Definition, Inspection, Json, Stream

if TYPE_CHECKING:
    from plimsoll.formats.traces.compact import Written


#: Raised when conversion changes, so that older files are not taken for what would be written today.
VERSION = 1
MOST_KEPT = 16
_NS_PER_S = 1_000_000_000
_PLACE_BYTES = 1 << 20


@dataclass(frozen=True)
class Choice:
    """A trace, and what of it: devices in the order of their parts (none: all), the first so many requests or seconds."""

    path: str
    form: str | None = None
    counted: str | None = None
    devices: tuple[str, ...] = ()
    requests: int | None = None
    seconds: float | None = None

    @property
    def is_whole(self) -> bool:
        """Whether nothing is left out and nothing is said of the format."""
        return self == Choice(self.path)


def with_traces(workload: Definition, folder: str = "") -> Definition:
    """A canonical workload whose traces are compact; relative names count from ``folder``."""
    streams = [
        {**stream, "trace": compact_of(Choice(os.path.join(folder, stream["trace"])))} if stream.get("trace") else stream
        for stream in workload["stream"]
    ]
    return {**workload, "stream": cast("list[Stream]", streams)}


def header_of(path: str) -> Json:
    """What is known of a compact trace."""
    from plimsoll.formats.traces.compact import read_header

    with trace_file(path) as file:
        return read_header(file, path)


def trace_ops(path: str) -> frozenset[str]:
    """The operations that a compact trace has."""
    from plimsoll.formats.traces.compact import OPS

    return frozenset(op for op, count in zip(OPS, header_of(path)["ops"], strict=True) if count)


def compact_of(choice: Choice) -> str:
    """The path of the compact file of a trace; it is converted unless that was done before."""
    from plimsoll.formats.traces.compact import is_compact

    with trace_file(choice.path) as file:
        status = os.fstat(file.fileno())
        if choice.is_whole and is_compact(file.read(8)):
            return os.path.abspath(choice.path)
    path = os.path.join(cache_folder(), f"{_key(choice, status)}.trace")
    if os.path.exists(path):
        with suppress(OSError):
            os.utime(path)
        return path
    try:
        os.makedirs(cache_folder(), exist_ok=True)
    except OSError as problem:
        raise _unwritable(cache_folder(), problem, "set XDG_CACHE_HOME to") from None
    convert(choice, path)
    forget_oldest()
    return path


def convert(choice: Choice, path: str) -> Json:
    """Write the compact form of a trace to ``path``, which appears whole; its header."""
    from plimsoll.formats.traces import open_trace
    from plimsoll.formats.traces.compact import Wanted, finish_source, write_compact
    from plimsoll.store.durable import fresh

    beside = ""
    try:
        beside, made = fresh(path)
        with open(made, "w+b") as out, _hashing(choice.path) as (file, digest):
            trace = open_trace(file, choice.path, choice.form, choice.counted)
            source = {"name": os.path.basename(choice.path), "format": trace.title}
            until_ns = None if choice.seconds is None else round(choice.seconds * _NS_PER_S)
            wanted = Wanted(choice.path, choice.devices, choice.requests, until_ns)
            written = write_compact(trace.requests(), out, source, wanted)
            _check_devices(choice, written)
            left_out = {"left_out": dict(trace.reading.left_out)}
            # A trace that was cut was not read to its end: no hash would name it.
            whole = choice.requests is None and choice.seconds is None
            while whole and file.read(1 << 20):
                pass
            taken = {"sha256": digest.hexdigest() if whole else "", "assumed": list(trace.reading.assumed)}
            header = finish_source(out, {**written.header, **left_out}, taken)
            out.flush()
            os.replace(beside, path)
        return header
    except OSError as problem:
        in_cache = os.path.dirname(path) == cache_folder()
        raise _unwritable(path, problem, "set XDG_CACHE_HOME to" if in_cache else "name a file in") from None
    finally:
        with suppress(OSError):
            os.unlink(beside)


def scratch_bytes(header: Json, mapping: str, inspection: Inspection) -> int | None:
    """The size of a scratch file to make that the trace fits; None where something is there or anything would do."""
    if mapping != "refuse" or inspection["exists"] or len(inspection["parts"]) != 1:
        return None
    ends = [-(-int(device["end_bytes"]) // _PLACE_BYTES) * _PLACE_BYTES for device in header["devices"]]
    return max(_PLACE_BYTES, sum(ends))


def cache_folder() -> str:
    """Where compact files are kept."""
    root = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(root, "plimsoll", "traces")


def _check_devices(choice: Choice, written: Written) -> None:
    for device in written.header["devices"]:
        if device["name"] in choice.devices and not device["requests"]:
            others = ", ".join(written.others)
            raise InputError(f"--device {device['name']}: {choice.path} has no request of it; it has those of {others or 'no other'}.")
    if not any(written.header["ops"]):
        raise InputError(f"{choice.path}: there is no request in it; give a trace with at least one.")


class _Hashing(io.RawIOBase):
    """A file whose bytes are hashed as they are read."""

    def __init__(self, file: io.BufferedReader) -> None:
        self._file = file
        self.digest = hashlib.sha256()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count = self._file.readinto(buffer)
        self.digest.update(memoryview(buffer)[:count])
        return int(count)


class _hashing:  # noqa: N801 (used like a function)
    """The trace at a path as something to read, and the hash of what was read of it."""

    def __init__(self, path: str) -> None:
        self._file = trace_file(path)

    def __enter__(self) -> tuple[io.BufferedReader, Any]:
        raw = _Hashing(self._file)
        return io.BufferedReader(raw, 1 << 20), raw.digest

    def __exit__(self, *_: object) -> None:
        self._file.close()


def trace_file(path: str) -> io.BufferedReader:
    """The trace at a path, as bytes. Raises `InputError` for what cannot be read."""
    try:
        return open(path, "rb")
    except IsADirectoryError:
        raise InputError(f"{path}: a directory; give the trace in it.") from None
    except OSError as problem:
        raise InputError(f"{path}: cannot be read ({str(problem.strerror).lower()}); give a trace.") from None


def _key(choice: Choice, status: os.stat_result) -> str:
    named = {**asdict(choice), "path": os.path.realpath(choice.path)}
    said = json.dumps([VERSION, named, status.st_size, status.st_mtime_ns], sort_keys=True)
    return hashlib.sha256(encoded(said)).hexdigest()[:32]


def forget_oldest() -> None:
    """Remove the files that were used longest ago; one that a run holds open lives on until it closes it."""
    with suppress(OSError):
        kept = [entry for entry in os.scandir(cache_folder()) if entry.name.endswith(".trace")]
        kept.sort(key=lambda entry: entry.stat().st_mtime_ns, reverse=True)
        for entry in kept[MOST_KEPT:]:
            os.unlink(entry.path)


def _unwritable(path: str, problem: OSError, remedy: str) -> InputError:
    reason = str(problem.strerror or problem).lower()
    return InputError(f"{path}: the converted trace cannot be written ({reason}); {remedy} a directory with room that you may write to.")
