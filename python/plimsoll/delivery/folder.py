"""Delivery to a directory: a stick, or a share of another machine; the runs lie there as in any store.

FolderDestination("/media/stick/results").take(sent)
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from plimsoll.delivery.dispatch import Delivered, Sent
from plimsoll.displayed import displayed
from plimsoll.errors import StoreError
from plimsoll.store.parcel import Announced, Limits, remove_leftovers, unpack

#: What leaves this store was no larger in it.
_UNLIMITED = Limits(bytes=1 << 62, files=1 << 62)


@dataclass(frozen=True)
class FolderDestination:
    """The store in the directory ``path``."""

    path: str

    @property
    def shown(self) -> str:
        """The directory."""
        return displayed(self.path)

    @property
    def remembers(self) -> bool:
        """The runs lie there."""
        return True

    def take(self, sent: Sent) -> Delivered:
        """Deliver it once; a directory that is full is not waited for, since nobody else makes room on a stick."""
        self._made()
        remove_leftovers(self.path)
        found = unpack(sent.parcel, self.path, Announced(sent.name, sent.digest), _UNLIMITED)
        return Delivered(found.name, found.known)

    def _made(self) -> None:
        """Make the directory where there is none; raises `StoreError` where nothing can be written."""
        try:
            os.makedirs(self.path, exist_ok=True)
            reason = "" if os.access(self.path, os.W_OK | os.X_OK) else "it may not be written"
        except OSError as problem:
            reason = str(problem.strerror).lower()
        if reason:
            raise StoreError(f"{self.shown}: nothing can be stored there ({reason}); name another directory, --to file:DIR.")
