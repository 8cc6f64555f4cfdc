"""Sockets that NBD is served on, bound here so that what is wrong with them is said before anything is started.

bound = unix_socket("./array.sock")
bound = loopback_socket("127.0.0.1", 0)
"""

from __future__ import annotations

import errno
import ipaddress
import os
import socket
import stat

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
        return InputError(f"--socket {path}: there is no directory {os.path.dirname(path) or '.'!r}; make it first.")
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
