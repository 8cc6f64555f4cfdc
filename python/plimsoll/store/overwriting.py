"""What may be replaced at a path that a user names for output: nothing, or what Plimsoll wrote there before.

Model: a file that exists is replaced when it is empty, or begins as the new content does: in its first `BEGINNING_BYTES` bytes, digits
aside, so that versions and numbers may differ. Whatever else is there, a trace, a table of someone's, a device, is refused, and so is
every file that the command reads. To replace it all the same, remove it first.
Limits: a file that another tool wrote in the very form that is asked for, such as fio's logs, looks like ours.

    check_replaceable("r.csv", [b"run,point,workload"], said="--report")
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Sequence

from plimsoll.errors import InputError

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
