"""Where an array can be mounted, and who unmounts it when the server can no longer do so.

directory = mountable("/mnt/array")     # the real path, or an `InputError` or `TargetError` in one sentence
"""

from __future__ import annotations

import os
import subprocess
import sys

from plimsoll.errors import InputError, TargetError

#: The file in the mounted directory; its name stands in `crates/serve/src/mount.rs`.
FILE = "array"
_DEVICE = "/dev/fuse"


def mountable(directory: str, *, device: str = _DEVICE) -> str:
    """The real path of an empty directory that an array can be mounted on."""
    if not os.path.exists(device):
        raise TargetError(f"--mount {directory}: {device} is missing, so nothing can be mounted here; serve with --socket instead.")
    if not os.access(device, os.R_OK | os.W_OK):
        raise TargetError(f"--mount {directory}: you may not open {device}; be root, or have root allow it (chmod a+rw {device}).")
    try:
        names = os.listdir(directory)
    except FileNotFoundError:
        raise InputError(f"--mount {directory}: there is no such directory; make it first.") from None
    except NotADirectoryError:
        raise InputError(f"--mount {directory}: this is no directory; name an empty one.") from None
    except OSError as problem:
        if _is_stale(problem):
            raise InputError(f"--mount {directory}: a dead mount lies there; take it away with 'umount -l {directory}' first.") from None
        raise TargetError(
            f"--mount {directory}: cannot be looked at ({str(problem.strerror).lower()}); name an empty one of yours."
        ) from None
    if names:
        raise InputError(f"--mount {directory}: the directory is not empty; name an empty one, since a mount hides what is in it.")
    return os.path.realpath(directory)


def guarded(directory: str, server: int) -> subprocess.Popen[bytes]:
    """A process that unmounts ``directory`` once the last holder of the pipe whose read end is ``server`` has ended."""
    number = os.stat(directory).st_dev
    script = os.path.join(os.path.dirname(__file__), "guard.py")
    command = [sys.executable, "-I", "-S", script, directory, f"{os.major(number)}:{os.minor(number)}"]
    quiet = subprocess.DEVNULL
    return subprocess.Popen(command, stdin=server, stdout=quiet, stderr=quiet, start_new_session=True)


def _is_stale(problem: OSError) -> bool:
    import errno

    return problem.errno == errno.ENOTCONN
