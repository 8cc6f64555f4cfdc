"""New files beside the one they are going to replace: never one that is there already, never one behind a link.

Model: the name is ``.NAME.part``. The file is made with O_EXCL and O_NOFOLLOW and locked until it is closed, so a leftover of a killed
process is known by its lock being free and is removed first. Whatever else has the name (a link, a directory, somebody else's file, one
that is being written) is left alone, and a name that nobody can foresee is taken instead.
Limits: on a file system without locks a leftover stays, and another name is taken.

    beside, file = fresh("/data/new.html")
    os.write(file, b"…")
    os.rename(beside, "/data/new.html")
    os.close(file)
"""

from __future__ import annotations

import errno
import fcntl
import os
import secrets
import stat
from contextlib import suppress

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
        beside = os.path.join(folder, f".{name}.{secrets.token_hex(8)}.part")
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
