"""Which processes of this host take connections at an address: those of a server that somebody else started.

Model: whoever connects from an address to the same address is on the host itself. The kernel lists sockets that listen (/proc/net/tcp), and
the open files of a process say which sockets it has.
Limits: open files of other users' processes are seen by root alone. A server in a container of its own listens elsewhere.

    listeners("127.0.0.1", 143)             # [812, 830]
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import suppress

_LISTENS = "0A"
_CONNECT_S = 5.0


def listeners(host: str, port: int) -> list[int]:
    """The processes that listen at a port of this host; none where the address is another host's, or nobody lets us see."""
    if not _is_here(host, port):
        return []
    sockets = {f"socket:[{inode}]" for inode in _inodes(port)}
    return sorted(pid for pid in _pids() if sockets.intersection(_links(pid))) if sockets else []


def _is_here(host: str, port: int) -> bool:
    with suppress(OSError), socket.create_connection((host, port), timeout=_CONNECT_S) as found:
        return bool(found.getsockname()[0] == found.getpeername()[0])
    return False


def _inodes(port: int) -> Iterator[str]:
    """Format: proc(5), /proc/net/tcp: the local address is HEX:PORT, the fourth column the state, the tenth the inode."""
    for name in ("tcp", "tcp6"):
        with suppress(OSError), open(f"/proc/net/{name}", encoding="ascii") as file:
            for line in file.readlines()[1:]:
                words = line.split()
                if words[3] == _LISTENS and int(words[1].rpartition(":")[2], 16) == port:
                    yield words[9]


def _pids() -> Iterator[int]:
    yield from (int(name) for name in os.listdir("/proc") if name.isdigit())


def _links(pid: int) -> Iterator[str]:
    with suppress(OSError):
        for name in os.listdir(f"/proc/{pid}/fd"):
            with suppress(OSError):
                yield os.readlink(f"/proc/{pid}/fd/{name}")
