"""Whether the file system that private servers write to has room: looked at while users work, so that a run on a full one ends at once.

Model: servers without room go on in ways of their own: Postfix refuses letters or puts them off, Dovecot cannot write its log and ends. So
room is looked at several times a second, and the run ends with one sentence when there is none; where something fails and little is left,
that is said beside it.
Limits: what other programs take and give back between two looks is not seen.

    watch = RoomWatch(Room("/mnt/array/mail", "/mnt/array/mail/mail"), control.stop)
    watch.begin(); watch.end()
    watch.sentence              # "/mnt/array/mail: its disk is full (312 KiB left); …", or None
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

from plimsoll.records import dataclass
from plimsoll.units import binary

_EVERY_S = 0.25
#: With less than this, no server writes a message any more.
_FULL_BYTES = 1 << 20
#: With less than this, room can be why something failed: Postfix wants 1.5 times the size of a message.
_LITTLE_BYTES = 16 << 20


@dataclass(frozen=True)
class Room:
    """The room in ``home``, where servers write; ``directory`` is its name for the user."""

    directory: str
    home: str

    @property
    def full(self) -> str | None:
        """The sentence for a file system that is full; None while it is not."""
        disk = os.statvfs(self.home)
        left_bytes = disk.f_bavail * disk.f_frsize
        if left_bytes < _FULL_BYTES:
            what = f"its disk is full ({binary(left_bytes)} left)"
        elif disk.f_files and not disk.f_favail:
            what = "its disk can hold no more files (no inodes are left)"
        else:
            return None
        return f"{self.directory}: {what} while users worked; take a larger one, or lower users, speed or duration."

    @property
    def beside(self) -> str:
        """What is said beside a failure: how little room is left; empty where there is enough."""
        disk = os.statvfs(self.home)
        left_bytes = disk.f_bavail * disk.f_frsize
        return f"; only {binary(left_bytes)} are left on the disk of {self.directory}" if left_bytes < _LITTLE_BYTES else ""


class RoomWatch:
    """Looks at a room in a thread of its own, and calls ``stop`` once when it is full. What is not known is never full."""

    def __init__(self, room: Room | None, stop: Callable[[], None]) -> None:
        #: Of a room that was full at some time.
        self.sentence: str | None = None
        self._room, self._stop = room, stop
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._work, name="plimsoll-room", daemon=True)

    def begin(self) -> None:
        """Users begin to work."""
        self._thread.start()

    def end(self) -> None:
        """They have ended."""
        self._over.set()
        if self._thread.is_alive():
            self._thread.join()

    def look(self) -> str | None:
        """The sentence of a room that is full, or was."""
        if self.sentence is None and self._room is not None:
            self.sentence = self._room.full
        return self.sentence

    @property
    def beside(self) -> str:
        """`Room.beside`."""
        return "" if self._room is None else self._room.beside

    def _work(self) -> None:
        while not self._over.wait(_EVERY_S):
            if self.look() is not None:
                self._stop()
                return
