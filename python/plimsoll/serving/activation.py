"""Starts a program with open sockets as systemd would: they are descriptors 3 and up, and the environment says how many.

A script of its own, since descriptors have to be moved between fork and exec, where a program with threads must not run Python. Imports
nothing of ours.

    python3 activation.py 7,8 nbdkit --foreground ./_nbdkit.so request=serve.json
"""

from __future__ import annotations

import fcntl
import os
import sys

#: The first descriptor by the convention of sd_listen_fds(3).
_FIRST = 3
#: Above every number that is given out, so that no move overwrites what is still to be moved.
_ASIDE = 64


def activate(sockets: list[int], command: list[str]) -> None:
    """Become the command; never returns."""
    aside = [fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, _ASIDE) for number in sockets]
    for place, number in enumerate(aside, start=_FIRST):
        os.dup2(number, place, inheritable=True)
    os.environ["LISTEN_FDS"] = str(len(sockets))
    os.environ["LISTEN_PID"] = str(os.getpid())
    os.execvp(command[0], command)  # noqa: S606 - no shell is wanted


if __name__ == "__main__":
    activate([int(number) for number in sys.argv[1].split(",")], sys.argv[2:])
