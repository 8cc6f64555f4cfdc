"""Guard of a mount: unmounts it when the process that serves it has died, however it died. A script of its own; imports nothing of ours.

Model: its standard input is a pipe whose other end only the server has open, and through which the server says the number of the mount's
device as soon as it has one. When the pipe closes, a mount with that number that is still there is taken away. A server that died before it
could say it leaves a mount that answers nobody: that one is taken away, and no other.

    python3 guard.py /mnt/array < pipe
"""

from __future__ import annotations

import errno
import os
import re
import subprocess
import sys


def is_mounted(directory: str, device: str, mounts: str) -> bool:
    """Whether the lines of ``/proc/self/mountinfo`` have this device at this directory."""
    for line in mounts.splitlines():
        fields = line.split(" ")
        path = re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), fields[4])
        if fields[2] == device and path.encode("utf-8", "surrogateescape") == directory.encode("utf-8", "surrogateescape"):
            return True
    return False


def is_dead(directory: str) -> bool:
    """Whether nobody answers for what is mounted there."""
    try:
        os.listdir(directory)
    except OSError as problem:
        return problem.errno in (errno.ENOTCONN, errno.ECONNABORTED)
    return False


def main(directory: str) -> None:
    """Wait for the end of the server, then clear up behind it."""
    device = sys.stdin.buffer.read().decode("ascii", "replace").strip()
    if device:
        with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as mounts:
            if not is_mounted(directory, device, mounts.read()):
                return
    elif not is_dead(directory):
        return
    for command in (["umount", "-l"], ["fusermount3", "-u", "-z"]):
        try:
            if not subprocess.run([*command, directory], capture_output=True, check=False).returncode:
                return
        except FileNotFoundError:
            continue


if __name__ == "__main__":
    main(sys.argv[1])
