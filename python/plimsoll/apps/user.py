"""The user that a private server runs as: not root, whose rights no server needs.

Model: as root, it is the first of some users that there is here; else ourselves.
Limits: whether that user reaches a directory is asked with test(1), so that access lists count, too.

    user = server_user(("postgres", "nobody"), "PostgreSQL's server")
    check_reachable("/mnt/array/pg", user)
    subprocess.run(command, **user.options)
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
from collections.abc import Sequence
from typing import TypedDict

from plimsoll.errors import TargetError
from plimsoll.records import dataclass


class AsUser(TypedDict, total=False):
    """What `subprocess` is told."""

    user: int
    group: int
    extra_groups: list[int]


@dataclass(frozen=True)
class User:
    """Who the server runs as; ``name`` is None for ourselves."""

    uid: int
    gid: int
    name: str | None = None

    @property
    def options(self) -> AsUser:
        """For `subprocess`."""
        return {} if self.name is None else {"user": self.uid, "group": self.gid, "extra_groups": []}


def server_user(names: Sequence[str], server: str) -> User:
    """Ourselves, or the first of ``names`` that there is where we are root. Raises `TargetError` where there is nobody."""
    if os.geteuid() != 0:
        return User(os.geteuid(), os.getegid())
    for name in names:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return User(entry.pw_uid, entry.pw_gid, name)
    raise TargetError(
        f"{server} does not run as root, and there is no user '{names[0]}' here; make one, for example useradd --system {names[0]}."
    )


def reaches(user: User, path: str) -> bool:
    """Whether the user may go through a directory."""
    if user.name is None:
        return os.access(path, os.X_OK)
    return not subprocess.run([shutil.which("test") or "/usr/bin/test", "-x", path], check=False, **user.options).returncode


def check_reachable(directory: str, user: User) -> None:
    """Raise `TargetError` where a directory is closed to the user that the server runs as."""
    ways = [directory]
    while ways[-1] != os.path.dirname(ways[-1]):
        ways.append(os.path.dirname(ways[-1]))
    closed = next((way for way in reversed(ways) if not reaches(user, way)), None) if user.name is not None else None
    if closed is not None:
        raise TargetError(
            f"{directory}: you are root, so the server runs as user '{user.name}', to whom {closed} is closed; name a directory that it"
            f" reaches, or open this one (chmod o+x {closed})."
        )
