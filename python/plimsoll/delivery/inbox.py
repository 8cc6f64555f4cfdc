"""Delivery to a directory on another machine, where parcels lie as files until ``plimsoll receive`` stores them.

Model: the file is called by the run and the digest of its contents, so that the same run is the same file. It is written under a hidden
name of this delivery's own, read back and compared by its SHA-256 (where the server lets nobody read, by its size), and only then gets its
name, in one step. What is there already is read back as well; where it is whole nothing is sent, and where it is not it is replaced.
Limits: a connection that breaks leaves the hidden file until the next try, which overwrites it.

    InboxDestination("ftps://nas7/inbox", open_box).take(sent)
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import IO, Protocol

from plimsoll.delivery.dispatch import Delivered, NotNow, Sent
from plimsoll.errors import PlimsollError
from plimsoll.store.parcel import ENDING

#: How the name of a file begins that is not whole yet.
COMING = ".coming-"


class Box(Protocol):
    """The directory, connected. Each raises `NotNow`, or `PlimsollError` where trying again would not help."""

    def sha256(self, name: str) -> str | None:
        """Of the file; None where there is none, or nobody may read it."""

    def size(self, name: str) -> int | None:
        """Of the file in bytes; None where it cannot be told."""

    def put(self, name: str, parcel: IO[bytes]) -> None:
        """Write the file, over what it held."""

    def rename(self, name: str, to: str) -> None:
        """Give the file its name, over what has that already."""

    def remove(self, name: str) -> None:
        """Remove the file if it is there and that is allowed."""


@dataclass(frozen=True)
class InboxDestination:
    """The directory that ``connected`` opens, as ``shown``."""

    shown: str
    connected: Callable[[], AbstractContextManager[Box]]

    @property
    def remembers(self) -> bool:
        """The files lie there."""
        return True

    def take(self, sent: Sent) -> Delivered:
        """Deliver it once."""
        whole = sent.sha256()
        name = f"{sent.name}-{sent.digest[:12]}{ENDING}"
        coming = f"{COMING}{sent.mark}-{name}"
        with self.connected() as box:
            if box.sha256(name) == whole:
                return Delivered(name, known=True)
            try:
                box.put(coming, sent.parcel)
                doubt = _compared(box, coming, whole, sent.size_bytes)
                box.rename(coming, name)
            except Exception:
                _removed(box, coming)
                raise
            return Delivered(name, known=False, doubt=doubt)


def _compared(box: Box, name: str, whole: str, size_bytes: int) -> str:
    """What could not be compared; raises `NotNow` where the file is not what was sent."""
    seen = box.sha256(name)
    if seen is None:
        size = box.size(name)
        if size is None:
            return "the server lets nobody look at it, so nothing was compared"
        seen, doubt = (whole if size == size_bytes else ""), "the server lets nobody read it, so only its size was compared"
    else:
        doubt = ""
    if seen != whole:
        raise NotNow("what it stored is not what was sent")
    return doubt


def _removed(box: Box, name: str) -> None:
    try:
        box.remove(name)
    except (NotNow, PlimsollError):
        # The connection is gone, and with it the way to clean up.
        return
