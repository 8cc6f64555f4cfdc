"""Files that are whole or absent: write beside, flush to the medium, rename; and lines that are appended by one write.

Model: rename(2) replaces a name atomically; fsync of the file before and of its directory after makes that survive a power cut.
Limits: without ``durable`` only the process may die, not the machine.

    replace_file("result.json", b"{}")
    with LineFile("intervals.jsonl") as lines:
        lines.append("{}")
"""

from __future__ import annotations

import errno
import os
from contextlib import suppress

from plimsoll.displayed import encoded
from plimsoll.errors import StoreError
from plimsoll.store.beside import fresh


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
            sync_folder(os.path.dirname(path) or ".")
    except OSError as problem:
        with suppress(OSError):
            os.unlink(beside)
        raise store_error(path, problem) from None
    finally:
        os.close(file)


def sync_folder(folder: str) -> None:
    """Make the names in ``folder`` survive a power cut."""
    file = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
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
