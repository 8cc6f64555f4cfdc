"""Guard of a server: starts it, and stops it when the run that wanted it has ended, however it ended. A script; imports nothing of ours.

Model: standard input is a pipe whose other end only the run has open. When that closes, the server is told to stop: ``SIGINT``, which for
PostgreSQL ends sessions and writes a checkpoint, after a while ``SIGQUIT``, at last ``SIGKILL``. A byte ``q`` before the end says that what
the server holds is not needed any more, and begins with ``SIGQUIT``. The server runs as ``uid:gid`` and gets ``SIGINT`` from the kernel
should this guard be killed itself. The directory of its sockets goes with the run.
Limits: Linux. What the server says goes to the guard's standard error, which the run has made a file.

    python3 -I -S guard.py 101:104 /tmp/sockets /usr/lib/postgresql/15/bin/postgres -D /mnt/array/pg/postgresql/data < pipe
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import sys
import time
from contextlib import suppress

#: How long each signal is given: a checkpoint of a slow target takes its time, and PostgreSQL that still recovers may not hear the first.
PATIENCE = ((signal.SIGINT, 60.0), (signal.SIGQUIT, 30.0), (signal.SIGKILL, 30.0))
_PR_SET_PDEATHSIG = 1


def started(user: str, command: list[str]) -> int:
    """The process of the server."""
    uid, gid = map(int, user.split(":"))
    guard = os.getpid()
    libc = ctypes.CDLL(None)
    child = os.fork()
    if child:
        return child
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    if uid != os.geteuid():
        os.setgroups([])
        os.setgid(gid)
        os.setuid(uid)
    # After the change of user, which clears it.
    libc.prctl(_PR_SET_PDEATHSIG, signal.SIGINT, 0, 0, 0)
    if os.getppid() != guard:
        os._exit(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    try:
        os.execv(command[0], command)  # noqa: S606 — no shell is wanted
    except OSError as problem:
        os.write(2, f"FATAL:  {command[0]}: {problem.strerror}\n".encode())
    os._exit(1)


def ended(server: int, until: float) -> int | None:
    """The exit status of the server; None when it still runs at that time."""
    while True:
        found, status = os.waitpid(server, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        left = until - time.monotonic()
        if left <= 0:
            return None
        time.sleep(min(left, 0.01))


def main(user: str, sockets: str, *command: str) -> int:
    """Run the server for as long as it is wanted; its exit status."""
    # A signal to the group of a terminal is not for the server.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    woken, waker = os.pipe()
    os.set_blocking(waker, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(waker)
    server = started(user, list(command))
    patience = list(PATIENCE)
    while True:
        ready = select.select([0, woken], [], [])[0]
        status = ended(server, 0.0)
        if status is not None:
            return status & 0xFF
        if woken in ready:
            os.read(woken, 64)
        if 0 in ready:
            said = os.read(0, 64)
            if not said:
                break
            patience = patience[1:]
    for number, seconds in patience:
        os.kill(server, number)
        status = ended(server, time.monotonic() + seconds)
        if status is not None:
            with suppress(OSError):
                os.rmdir(sockets)
            return status & 0xFF
    return 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
