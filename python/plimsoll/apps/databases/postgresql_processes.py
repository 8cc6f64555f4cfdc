"""The processes of a PostgreSQL server that somebody else started, where it runs on this host: what they use is the load's.

Model: the server says which of its processes serves a connection and when that started. A process of this number that started then, as the
kernel of this host has it, and is called postgres, is that one; its parent is the server's first.
Limits: a server in a container of its own names other numbers, and is not found. What other users of the server have it do is the load's
as well: nothing tells it apart.

    first = first_process(connection)
    Family([first]).look()
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

from plimsoll.monitor.processes import TICKS_PER_S, process

if TYPE_CHECKING:
    import psycopg

_WHO = "SELECT pid, extract(epoch FROM backend_start)::float8 FROM pg_stat_activity WHERE pid = pg_backend_pid()"
#: By how much two clocks that tell the same instant may differ: the server's was read when it had started.
_APART_S = 3.0


def first_process(connection: psycopg.Connection[Any]) -> int | None:
    """The first process of the server behind a connection; None where it is not seen from here."""
    row = connection.execute(_WHO).fetchone()
    if row is None or row[1] is None:
        return None
    found = process(int(row[0]))
    if found is None or not _title(found.pid).startswith(b"postgres"):
        return None
    began_s = time.time() - time.clock_gettime(time.CLOCK_BOOTTIME) + found.started / TICKS_PER_S
    return found.parent if abs(began_s - float(row[1])) <= _APART_S else None


def _title(pid: int) -> bytes:
    """What a process calls itself; without the directory of its program."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return os.path.basename(file.read(256).split(b":")[0].split(b"\0")[0])
    except OSError:
        return b""
