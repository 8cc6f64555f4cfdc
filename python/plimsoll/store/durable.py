"""Files that are whole or absent, and never written over somebody else's.

Whole files: write beside, flush to the medium, rename; and lines that are appended by one write.

Model: rename(2) replaces a name atomically; fsync of the file before and of its directory after makes that survive a power cut.
Limits: without ``durable`` only the process may die, not the machine.

    replace_file("result.json", b"{}")
    with LineFile("intervals.jsonl") as lines:
        lines.append("{}")

New files beside the one they are going to replace: never one that is there already, never one behind a link.

Model: the name is ``.NAME.part``. The file is made with O_EXCL and O_NOFOLLOW and locked until it is closed, so a leftover of a killed
process is known by its lock being free and is removed first. Whatever else has the name (a link, a directory, somebody else's file, one
that is being written) is left alone, and a name that nobody can foresee is taken instead.
Limits: on a file system without locks a leftover stays, and another name is taken.

    beside, file = fresh("/data/new.html")
    os.write(file, b"…")
    os.rename(beside, "/data/new.html")
    os.close(file)

Replaceable files at a path that a user names for output: nothing, or what Plimsoll wrote there before.

Model: a file that exists is replaced when it is empty, or begins as the new content does: in its first `BEGINNING_BYTES` bytes, digits
aside, so that versions and numbers may differ. Whatever else is there, a trace, a table of someone's, a device, is refused, and so is
every file that the command reads. To replace it all the same, remove it first.
Limits: a file that another tool wrote in the very form that is asked for, such as fio's logs, looks like ours.

    check_replaceable("r.csv", [b"run,point,workload"], said="--report")
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import stat
from collections.abc import Iterable, Sequence
from contextlib import suppress

from plimsoll.displayed import encoded
from plimsoll.errors import InputError, StoreError


def replace_file(path: str, content: bytes, *, durable: bool = True) -> None:
    """Make ``path`` hold ``content``, at once and completely; leaves no temporary file behind when it cannot.

    A link at ``path`` is replaced by the file; what it leads to stays as it is.
    """
    try:
        beside, file = fresh(path)
    except OSError as problem:
        raise store_error(path, problem) from None
    try:
        _write_all(file, content)
        if durable:
            os.fsync(file)
        os.rename(beside, path)
        if durable:
            sync(os.path.dirname(path) or ".")
    except OSError as problem:
        with suppress(OSError):
            os.unlink(beside)
        raise store_error(path, problem) from None
    finally:
        os.close(file)


def sync(path: str) -> None:
    """Make what is in a file, or the names in a folder, survive a power cut."""
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def store_error(path: str, problem: OSError) -> StoreError:
    """The sentence for a failed write to the store."""
    reason = (problem.strerror or str(problem)).lower()
    if problem.errno in (errno.ENOSPC, errno.EDQUOT):
        advice = "free some space or give another directory with --out; earlier results are intact"
    elif problem.errno == errno.EFBIG:
        advice = "this process may not write files so large; raise the limit ('ulimit -f unlimited'), and earlier results are intact"
    elif problem.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        advice = "give a directory you may write to with --out"
    else:
        advice = "give another directory with --out; earlier results are intact"
    return StoreError(f"{path}: cannot be written ({reason}); {advice}.")


class LineFile:
    """A file of lines that only grows; each line reaches the kernel by one write."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._length = 0
        try:
            self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
        except OSError as problem:
            raise store_error(path, problem) from None

    def append(self, line: str) -> None:
        """Append one line; a line that does not fit on the disk is taken back whole."""
        content = encoded(line) + b"\n"
        try:
            written = os.write(self._file, content)
            if written < len(content):
                # A short write to a regular file means that no more fits; the rest is told why: a full disk, a quota, a limit.
                _write_all(self._file, content[written:])
        except OSError as problem:
            with suppress(OSError):
                os.ftruncate(self._file, self._length)
            raise store_error(self._path, problem) from None
        self._length += len(content)

    def close(self, *, durable: bool = True) -> None:
        """Close the file, flushed to the medium if ``durable``. Closing twice does nothing."""
        if self._file < 0:
            return
        try:
            if durable:
                os.fsync(self._file)
        except OSError as problem:
            raise store_error(self._path, problem) from None
        finally:
            os.close(self._file)
            self._file = -1

    def __enter__(self) -> LineFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _write_all(file: int, content: bytes) -> None:
    view = memoryview(content)
    while view:
        written = os.write(file, view)
        if written == 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        view = view[written:]


_TRIES = 16


def fresh(path: str) -> tuple[str, int]:
    """The path and the descriptor, open for reading and writing, of a new file beside ``path``. Raises `OSError`."""
    folder, name = os.path.split(path)
    beside = os.path.join(folder, f".{name}.part")
    for attempt in range(_TRIES):
        try:
            file = os.open(beside, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
        except FileExistsError:
            if attempt == 0 and _removed_leftover(beside):
                continue
        else:
            # Whoever took it for a leftover in this instant has removed it.
            if _lock(file) is not False and os.fstat(file).st_nlink == 1:
                return beside, file
            os.close(file)
        beside = os.path.join(folder, f".{name}.{os.urandom(8).hex()}.part")
    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), beside)


def fresh_folder(path: str) -> None:
    """Make the directory at ``path``, in place of an earlier one's leftover; a link there goes, not what it leads to. Raises `OSError`."""
    try:
        os.mkdir(path)
    except FileExistsError:
        if stat.S_ISDIR(os.lstat(path).st_mode):
            return
        os.unlink(path)
        os.mkdir(path)


def _removed_leftover(path: str) -> bool:
    """Remove the file if a killed process of this user has left it."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        facts = os.fstat(file)
        ours = stat.S_ISREG(facts.st_mode) and facts.st_nlink == 1 and facts.st_uid == os.geteuid()
        if not ours or _lock(file) is not True:
            return False
        # Still locked, so that it is nobody's new file.
        with suppress(OSError):
            os.unlink(path)
        return True
    finally:
        os.close(file)


def _lock(file: int) -> bool | None:
    """Whether the lock is ours now; None where the file system has none."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


#: Long enough for the mark that each form begins with.
BEGINNING_BYTES = 32
#: What the help of every command that writes says.
REPLACED = "A file there is replaced only if Plimsoll wrote it."


def check_replaceable(path: str, kinds: Sequence[bytes], *, said: str = "", inputs: Iterable[str] = (), streamed: bool = False) -> None:
    """Refuse a path that holds something else than ``kinds`` of output, each by the bytes it begins with.

    ``said`` is the option it was given with, ``inputs`` are files that the command reads. What is ``streamed`` may go to a pipe.
    """
    named = f"{said} {path}" if said else path
    try:
        status = os.stat(path)
    except OSError:
        # Nothing there: whether it can be made shows when it is made.
        return
    for source in inputs:
        if os.path.exists(source) and os.path.samefile(path, source):
            raise InputError(f"{named}: this is what the command reads; name another file.")
    if stat.S_ISDIR(status.st_mode):
        raise InputError(f"{named}: this is a directory; name a file in it.")
    if not stat.S_ISREG(status.st_mode):
        if streamed and not stat.S_ISBLK(status.st_mode):
            return
        raise InputError(f"{named}: this is a device or a pipe; name a file.")
    if status.st_size and not _beginning(_head(path, named)).startswith(tuple(_beginning(kind) for kind in kinds)):
        raise InputError(f"{named}: there is a file that Plimsoll did not write as this; remove it, or name another.")


def _head(path: str, named: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(4 * BEGINNING_BYTES)
    except OSError as problem:
        raise InputError(f"{named}: cannot be read ({str(problem.strerror).lower()}); name another file.") from None


def _beginning(content: bytes) -> bytes:
    return re.sub(rb"\d+", b"0", content[: 4 * BEGINNING_BYTES])[:BEGINNING_BYTES]
