"""The file a copy goes to: made beside its source, proved by a marker, removed at the end.

Model: ``scratch.dat`` is copied to ``scratch.dat.copy``, which must not exist. A marker beside it names its inode, so that the copy that a
killed process left behind is known, and removed, when the next one begins; a lock on the copy tells one that is in use. Whatever else
has the name is left alone and refused, also when the copy is removed. A copy that cannot be removed keeps its marker, and is told of once
its target is put away.
Limits: the space is checked once, at the start; a file system that fills up meanwhile fails the copy.

    with destination("/data/scratch.dat", size_bytes, direct=False) as copy:
        os.pwrite(copy.file, block, 0)
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from plimsoll.errors import TargetError
from plimsoll.host.device import free_bytes
from plimsoll.records import dataclass
from plimsoll.units import significant

SCHEMA = "plimsoll.copy/1"
_GIB = 1 << 30


@dataclass(frozen=True)
class Destination:
    """The copy, open for writing."""

    path: str
    file: int


@contextmanager
def destination(source: str, size_bytes: int, *, direct: bool) -> Iterator[Destination]:
    """A new, empty file beside ``source`` with room for ``size_bytes``; gone on leaving. Raises `TargetError`."""
    path = f"{source}.copy"
    _remove_leftover(path)
    _check_space(path, size_bytes)
    file = _made(path, direct=direct)
    try:
        yield Destination(path, file)
    finally:
        # What cannot be removed now is tried once more by `remove_leftover`, which says why.
        with suppress(TargetError):
            _remove(path, os.fstat(file))
        os.close(file)


def remove_leftover(source: str) -> list[str]:
    """Remove the copy of ``source`` that was left behind; its path. Files of others and copies in use stay.

    Raises `TargetError` for a copy that cannot be removed.
    """
    path = f"{source}.copy"
    try:
        facts = os.lstat(path)
    except OSError:
        return []
    if not _is_ours(path, facts):
        return []
    with _locked(path) as locked:
        if locked:
            _remove(path, facts)
    return [path] if locked else []


def marker_of(path: str) -> str:
    """Where the marker of a copy is."""
    return f"{path}.plimsoll"


def _made(path: str, *, direct: bool) -> int:
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    try:
        file = os.open(path, flags, 0o600)
    except OSError as problem:
        raise TargetError(f"{path}: the copy cannot be made ({_reason(problem)}); copy where you may write.") from None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        _mark(path, os.fstat(file))
        if direct:
            # Set afterwards: a file system without direct I/O would leave an unmarked file behind if opening refused it.
            fcntl.fcntl(file, fcntl.F_SETFL, fcntl.fcntl(file, fcntl.F_GETFL) | os.O_DIRECT)
    except OSError as problem:
        with suppress(TargetError):
            _remove(path, os.fstat(file))
        os.close(file)
        hint = "; set direct=false" if direct else ""
        raise TargetError(f"{path}: the copy cannot be made ({_reason(problem)}){hint}.") from None
    return file


def _mark(path: str, facts: os.stat_result) -> None:
    # One that a killed process has left goes; a link goes, not what it leads to.
    with suppress(FileNotFoundError):
        os.unlink(marker_of(path))
    with open(marker_of(path), "x", encoding="utf-8") as file:
        json.dump({"schema": SCHEMA, "device": facts.st_dev, "inode": facts.st_ino}, file)
        file.write("\n")


def _remove_leftover(path: str) -> None:
    """Remove the copy that a killed process left; raises when the file is not one, or is in use."""
    try:
        facts = os.lstat(path)
    except OSError:
        return
    if not _is_ours(path, facts):
        raise TargetError(f"{path}: exists, and Plimsoll did not make it, so it is not overwritten; rename it, or copy another file.")
    with _locked(path) as locked:
        if not locked:
            raise TargetError(f"{path}: another Plimsoll is copying to it; wait for it, or copy another file.")
        # Still locked, so that nobody begins to copy to it.
        _remove(path, facts)


@contextmanager
def _locked(path: str) -> Iterator[bool]:
    """Whether nobody else copies to it; nobody begins to inside."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError as problem:
        raise TargetError(f"{path}: cannot be opened ({_reason(problem)}).") from None
    try:
        locked = True
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            locked = False
        yield locked
    finally:
        os.close(file)


def _is_ours(path: str, facts: os.stat_result) -> bool:
    try:
        with open(marker_of(path), encoding="utf-8") as file:
            marker = json.load(file)
    except (OSError, ValueError, RecursionError):
        return False
    return bool(marker == {"schema": SCHEMA, "device": facts.st_dev, "inode": facts.st_ino})


def _remove(path: str, facts: os.stat_result) -> None:
    """Remove the copy that these are the facts of, then its marker. Raises `TargetError` with the reason where the copy stays."""
    try:
        with suppress(FileNotFoundError):
            found = os.lstat(path)
            if (found.st_dev, found.st_ino) == (facts.st_dev, facts.st_ino):
                os.unlink(path)
        with suppress(FileNotFoundError):
            os.unlink(marker_of(path))
    except OSError as problem:
        why = f"it cannot be deleted ({_reason(problem)})"
        raise TargetError(f"{path} was made for this run and is left behind: {why}; delete it yourself.") from None


def _check_space(path: str, size_bytes: int) -> None:
    free = free_bytes(os.path.dirname(path))
    if free < size_bytes:
        raise TargetError(
            f"{path}: a copy of {significant(size_bytes / _GIB)} GiB does not fit into the {significant(free / _GIB)} GiB that are free; "
            "copy a smaller file (--size), or make room."
        )


def _reason(problem: OSError) -> str:
    return str(problem.strerror).lower()
