"""What a reader of foreign files knows of targets: which one takes the place of those that the file names, and how long they are.

Model: one rule for every tool, in this order. A target that was typed takes the place of every target of the file, before anything is
looked at; the streams of the file then share it. A size that the file itself gives holds. What is not there (a device of another host, a
file without a size, the typed target) has the size that was given. What is there has the size that it has.
Limits: a path says by its form alone whether it is a device; nothing is looked at here.

    targets = KnownTargets(found, given=100 << 30, remedy="give --assume-size 100GiB, for example")
    targets("/dev/sdb")                      # 107374182400, although there is no such device
    KnownTargets(found, target="/dev/nvme0n1").named("/dev/sdb")        # "/dev/nvme0n1"
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

#: The size in bytes of what a path names; None where nothing is there.
Found = Callable[[str], int | None]

#: Files below /dev that are files.
_MEMORY = "/dev/shm/"  # noqa: S108
_WINDOWS = re.compile(r"[\\/]{2}[.?][\\/].*|[A-Za-z]:[\\/].*", re.DOTALL)
_WINDOWS_DEVICE = re.compile(r"[\\/]{2}[.?][\\/].*", re.DOTALL)
#: What is said of streams that were apart in the file.
SHARED = "takes the place of all of them, so their streams share it"
REMEDY = "give --size"


def is_device(path: str) -> bool:
    """Whether a path is that of a device, of this system or of Windows."""
    return (path.startswith("/dev/") and not path.startswith(_MEMORY)) or _WINDOWS_DEVICE.fullmatch(path) is not None


def is_of_windows(path: str) -> bool:
    """Whether a path means something under Windows only."""
    return _WINDOWS.fullmatch(path) is not None


def nothing_found(_path: str) -> int | None:
    """How long targets are, where nobody looks."""
    return None


@dataclass(frozen=True)
class KnownTargets:
    """``target`` is the typed one, or empty; ``given`` the size of what is not there; ``remedy`` what to do where a size is missing."""

    found: Found = nothing_found
    target: str = ""
    given: int | None = None
    remedy: str = REMEDY
    #: Whether the typed target keeps its size: a file that Plimsoll made is made anew where the file asks for another.
    fixed: bool = True
    #: Whether the given size replaces that of every file that is made, as that of a run does.
    overrides: bool = False

    @property
    def looks(self) -> bool:
        """Whether anybody looks at what is there."""
        return self.found is not nothing_found

    def named(self, path: str) -> str:
        """The target that a path of the file stands for."""
        return self.target or path

    def __call__(self, path: str) -> int | None:
        """The bytes of what is there, or would be there: a file that is not is made, and has none yet."""
        size = self.found(path)
        return self.given if size is None and (is_device(path) or path == self.target) else size

    def is_there(self, path: str) -> bool:
        """Whether the path exists here."""
        return self.found(path) is not None

    def at_length(self, path: str) -> int | None:
        """The bytes of a path that the file gives no size for."""
        size = self(path)
        return self.given if size is None else size


def known_targets(sizes: Found | None) -> KnownTargets:
    """What is known where only sizes can be looked up."""
    return sizes if isinstance(sizes, KnownTargets) else KnownTargets(sizes or nothing_found)
