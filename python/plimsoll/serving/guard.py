"""Guard of a mount: unmounts it when the process that serves it has died, however it died. A script of its own; imports nothing of ours.

Model: its standard input is a pipe whose other end only the server has open. When that closes, a mount that is still there, known by the
number of its device, is taken away.

    python3 guard.py /mnt/array 0:57 < pipe
"""

from __future__ import annotations

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


def main(directory: str, device: str) -> None:
    """Wait for the end of the server, then clear up behind it."""
    sys.stdin.buffer.read()
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as mounts:
        if not is_mounted(directory, device, mounts.read()):
            return
    for command in (["umount", "-l"], ["fusermount3", "-u", "-z"]):
        try:
            if not subprocess.run([*command, directory], capture_output=True, check=False).returncode:
                return
        except FileNotFoundError:
            continue


if __name__ == "__main__":
    main(*sys.argv[1:])
