"""The directory of a gang on one host, which only its user can enter: the names of what lies in it, and the processes that belong to it.

Model: every process of a gang has the name of the directory in its environment, by which it is found even when it has made itself
independent; where it has written its title over that, by the files that it has open.
Limits: Linux.

    nest = made_nest()                       # "/tmp/plimsoll-gang-x1"
    kill_marked(nest, but=set())
"""

from __future__ import annotations

import os
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress

MARK = "PLIMSOLL_GANG"
#: What a keeper is told, and where it says that something could not be started.
KEEPER, FAILED = "keeper.json", "failed.json"
#: How a gang is found again: in the directory of what its workers store.
NOTE = "gang.json"
#: Of each worker, in a directory of its own.
SOCKET, LEASE, ENDED, SPECIFICATION = "worker.sock", "lease", "ended.json", "worker.json"
_LOOK_S = 0.05
#: A path of a socket has 107 bytes; Ray makes its own below the directory.
_TEMPORARY_MAX = 20


def made_nest() -> str:
    """A directory that only its user can enter, with a short path."""
    usual = tempfile.gettempdir()
    return tempfile.mkdtemp(prefix="plimsoll-gang-", dir=usual if len(usual) <= _TEMPORARY_MAX else "/tmp")  # noqa: S108 — a private directory


def marked(nest: str) -> Iterator[int]:
    """The processes of a gang: by their environment, or, where a process has written its title over that, by the files it has open."""
    for entry in os.listdir("/proc"):
        if entry.isdecimal() and (_has_mark(entry, nest) or _has_open(entry, nest)):
            yield int(entry)


def _has_mark(process: str, nest: str) -> bool:
    with suppress(OSError), open(f"/proc/{process}/environ", "rb") as file:
        return f"{MARK}={nest}".encode() in file.read().split(b"\0")
    return False


def _has_open(process: str, nest: str) -> bool:
    with suppress(OSError):
        for number in os.listdir(f"/proc/{process}/fd"):
            with suppress(OSError):
                if os.readlink(f"/proc/{process}/fd/{number}").startswith(f"{nest}{os.sep}"):
                    return True
    return False


def kill_marked(nest: str, but: set[int]) -> None:
    """Kill what of a gang still runs, until nothing does; what has just been started by one of them, too."""
    for _ in range(20):
        left = [process for process in marked(nest) if process not in but]
        if not left:
            return
        for process in left:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(process, signal.SIGKILL)
        time.sleep(_LOOK_S)
