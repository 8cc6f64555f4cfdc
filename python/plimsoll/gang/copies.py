"""Copies of what a worker stored: the worker's own files stay where they are, complete, whatever becomes of the copies.

Model: the relay names the files of a point with their sizes and reads them piece by piece; the copy of a point appears under its name when
all of it is there, and its run.json with it.

    fetch(call, "runs/2026-11-23T03-36-29_x/points/0001-oltp-db", "results/R/hosts/db1")
"""

from __future__ import annotations

import base64
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from plimsoll.errors import StoreError

#: Bytes of a piece.
PIECE = 1 << 20
_RUN = "run.json"


def fetch(call: Callable[..., Any], point: str, into: str) -> None:
    """Copy the point and the run.json of its run, whose path from the worker's folder is ``point``, to the directory of a run ``into``."""
    run = os.path.dirname(os.path.dirname(point))
    name = os.path.basename(point)
    beside = os.path.join(into, "points", f".{name}.part")
    final = os.path.join(into, "points", name)
    with _stored(into):
        os.makedirs(beside, exist_ok=True)
        for file, size in call("files", point):
            _copy(call, os.path.join(point, file), size, os.path.join(beside, file))
        _synced(beside)
        _replaced(beside, final)
        _synced(os.path.dirname(final))
        for file, size in call("files", run):
            if file == _RUN:
                _copy(call, os.path.join(run, file), size, os.path.join(into, f".{_RUN}.part"))
                os.replace(os.path.join(into, f".{_RUN}.part"), os.path.join(into, _RUN))
        _synced(into)


def fetch_files(call: Callable[..., Any], folder: str, into: str) -> bool:
    """Copy the files of a directory of the worker's to one that is here; false where the worker has none, or they cannot be read."""
    try:
        listed = call("files", folder)
        for file, size in listed:
            _copy(call, os.path.join(folder, file), size, os.path.join(into, file))
    except OSError:
        return False
    return True


def files_of(folder: str, path: str) -> list[tuple[str, int]]:
    """The files in a directory of the worker's, with their sizes in bytes."""
    with os.scandir(_within(folder, path)) as entries:
        return [(entry.name, entry.stat().st_size) for entry in entries if entry.is_file(follow_symlinks=False)]


def piece_of(folder: str, path: str, offset: int) -> str:
    """A piece of a file of the worker's, as base64."""
    with open(_within(folder, path), "rb") as file:
        file.seek(offset)
        return base64.b64encode(file.read(PIECE)).decode("ascii")


def _within(folder: str, path: str) -> str:
    found = os.path.realpath(os.path.join(folder, path))
    if os.path.commonpath([found, os.path.realpath(folder)]) != os.path.realpath(folder):
        raise StoreError(f"{path} is no file of this worker's.")
    return found


def _copy(call: Callable[..., Any], path: str, size: int, to: str) -> None:
    with open(to, "wb") as file:
        while file.tell() < size:
            piece = base64.b64decode(call("piece", path, file.tell()))
            if not piece:
                break
            file.write(piece)
        file.flush()
        os.fsync(file.fileno())


def _replaced(beside: str, final: str) -> None:
    """A copy that was there before, of a point that was then still going on, makes way."""
    if os.path.isdir(final):
        for name in os.listdir(final):
            os.unlink(os.path.join(final, name))
        os.rmdir(final)
    os.rename(beside, final)


def _synced(folder: str) -> None:
    file = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(file)
    finally:
        os.close(file)


@contextmanager
def _stored(into: str) -> Iterator[None]:
    try:
        yield
    except OSError as problem:
        raise StoreError(f"{into}: a copy of what a host measured cannot be kept ({(problem.strerror or str(problem)).lower()}).") from None
