"""Endpoints of a served array: sockets for NBD, and the directory it is mounted on.

Sockets that NBD is served on, bound here so that what is wrong with them is said before anything is started.

bound = unix_socket("./array.sock")
bound = loopback_socket("127.0.0.1", 0)

Where an array can be mounted, and who unmounts it when the server can no longer do so.

directory = mountable("/mnt/array")     # the real path, or an `InputError` or `TargetError` in one sentence
"""

from __future__ import annotations

import errno
import ipaddress
import os
import socket
import stat
import subprocess
import sys
from contextlib import suppress

from plimsoll.displayed import quoted
from plimsoll.errors import InputError, TargetError

_BACKLOG = 128
#: sockaddr_un holds 108 bytes, the last of them zero.
_PATH_MAX = 107


def unix_socket(path: str) -> socket.socket:
    """A listening socket at a path that does not exist yet, or holds the socket of a server that was killed."""
    if len(os.fsencode(path)) > _PATH_MAX:
        raise InputError(f"--socket {path}: longer than the {_PATH_MAX} bytes that a socket's path can have; name a shorter one.")
    bound = socket.socket(socket.AF_UNIX)
    try:
        try:
            bound.bind(path)
        except OSError as problem:
            if problem.errno != errno.EADDRINUSE or not _is_abandoned(path):
                raise
            os.unlink(path)
            bound.bind(path)
    except OSError as problem:
        bound.close()
        raise _unbound(path, problem) from None
    bound.listen(_BACKLOG)
    return bound


def _is_abandoned(path: str) -> bool:
    """Whether a socket of this user is there to which nobody listens any more."""
    facts = os.lstat(path)
    if not stat.S_ISSOCK(facts.st_mode) or facts.st_uid != os.geteuid():
        return False
    with socket.socket(socket.AF_UNIX) as asking:
        asking.setblocking(False)
        return asking.connect_ex(path) == errno.ECONNREFUSED


def _unbound(path: str, problem: OSError) -> InputError | TargetError:
    if problem.errno == errno.EADDRINUSE:
        if stat.S_ISSOCK(os.lstat(path).st_mode):
            return InputError(f"--socket {path}: a socket of this name exists and is in use; end its server, or name another path.")
        return InputError(f"--socket {path}: a file of this name exists; name one that does not exist yet.")
    if isinstance(problem, FileNotFoundError):
        return InputError(f"--socket {path}: there is no directory {quoted(os.path.dirname(path) or '.')}; make it first.")
    return TargetError(f"--socket {path}: cannot be made ({str(problem.strerror).lower()}); name a path in a directory of yours.")


def loopback_socket(address: str, port: int) -> socket.socket:
    """A listening socket on this machine's loopback; port 0 takes a free one."""
    try:
        place = ipaddress.ip_address(address)
    except ValueError:
        raise InputError(f"--address {address}: not an IP address; write 127.0.0.1 or ::1.") from None
    if not place.is_loopback:
        raise InputError(
            f"--address {address}: not a loopback address; there are neither passwords nor encryption, so write 127.0.0.1 or ::1, and"
            " reach it from elsewhere through ssh."
        )
    bound = socket.socket(socket.AF_INET6 if place.version == 6 else socket.AF_INET)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((str(place), port))
    except OSError as problem:
        bound.close()
        if problem.errno == errno.EADDRINUSE:
            raise InputError(f"--port {port}: another program listens there; name another port, or 0 for a free one.") from None
        raise TargetError(
            f"--port {port}: cannot be used ({str(problem.strerror).lower()}); name another port, or 0 for a free one."
        ) from None
    bound.listen(_BACKLOG)
    return bound


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
    """A process that unmounts ``directory`` once the last holder of the pipe whose read end is ``server`` has ended. It begins before the
    mount is made, so that no instant is unguarded; `tell_guard` says which mount it is."""
    script = os.path.join(os.path.dirname(__file__), "guard.py")
    command = [sys.executable, "-I", "-S", script, directory]
    quiet = subprocess.DEVNULL
    return subprocess.Popen(command, stdin=server, stdout=quiet, stderr=quiet, start_new_session=True)


def tell_guard(directory: str, alive: int) -> None:
    """The mount is made: its guard learns its device through the other end of its pipe."""
    number = os.stat(directory).st_dev
    # Whoever ended the guard has no use for it.
    with suppress(BrokenPipeError):
        os.write(alive, f"{os.major(number)}:{os.minor(number)}".encode())


def _is_stale(problem: OSError) -> bool:
    import errno

    return problem.errno == errno.ENOTCONN
