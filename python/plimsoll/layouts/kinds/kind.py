"""A kind of layer: its options, the steps that make it, and how each of the things it makes is taken away.

Model: ``lay`` is pure: options and the volumes below give steps and the volumes above. ``unmake`` has a function for each ``made`` of its
steps; it looks whether the thing is there and carries the identity in its facts, takes it away, and raises `Changed` when something else
is in its place. It may be called for what was never made, was half made, or is gone already.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any, Protocol

from plimsoll.errors import TargetError
from plimsoll.experiments.option import Option
from plimsoll.layouts.step import Action, Facts, Named, Step, Volume
from plimsoll.records import dataclass

Options = Mapping[str, Any]
Lay = Callable[[Options, Sequence[Volume], Named], "Laid"]


#: How long a thing that is in use is tried again.
BUSY_S = 10.0


class Changed(TargetError):
    """Something else is where the layout's part was: it is left alone."""


class Host(Protocol):
    """What a host lets a layout do."""

    def act(self, action: Action) -> str:
        """Carry out an action; what a command printed. Raises `TargetError` with what it said."""

    def ask(self, *words: str) -> str | None:
        """What a command that changes nothing printed; None when it failed, as for what is not there."""

    def texts(self, pattern: str) -> Mapping[str, str]:
        """What the files of the kernel hold whose paths fit a pattern of glob(7); of a choice in brackets what is chosen."""

    def exists(self, path: str) -> bool:
        """Whether there is something at ``path``."""

    def probe(self, device: str) -> Mapping[str, str]:
        """What blkid(8) sees on a device, past every cache, such as ``TYPE``, ``UUID``, ``PTUUID``; empty when nothing."""

    def signatures(self, device: str) -> list[tuple[str, int]]:
        """The known signatures on a device, each with its offset in bytes."""

    def read(self, device: str, offset: int, length: int) -> bytes:
        """Bytes of a device; fewer at its end."""

    def erase(self, device: str, offset: int) -> None:
        """Zero the signature at ``offset``."""

    def mounted_at(self, point: str) -> str | None:
        """The device that is mounted at ``point``."""

    def same_device(self, one: str, other: str) -> bool:
        """Whether two paths lead to one device."""

    def remove_directory(self, path: str) -> None:
        """Remove an empty directory; one that is not empty, or gone, is left as it is."""


@dataclass(frozen=True)
class Laid:
    """What a layer adds."""

    steps: tuple[Step, ...]
    volumes: tuple[Volume, ...]


@dataclass(frozen=True)
class Kind:
    """See the module. ``lay`` is None for what no layer is made of."""

    name: str
    meaning: str
    options: tuple[Option, ...]
    lay: Lay | None = None
    unmake: Mapping[str, Callable[[Host, Facts], None]] = field(default_factory=dict)


def wiped(host: Host, device: str, names: frozenset[str]) -> None:
    """Erase the signatures of a format on ``device``, copies included; others stay."""
    erased: set[tuple[str, int]] = set()
    while found := [one for one in host.signatures(device) if one[0] in names]:
        if found[0] in erased:
            raise Changed(f"{device}: the signature {found[0][0]} at byte {found[0][1]:,} cannot be erased.")
        erased.add(found[0])
        host.erase(device, found[0][1])


def unlike(device: str, seen: str, made: str) -> Changed:
    """The sentence about a device that holds something else by now."""
    return Changed(f"{device} holds {seen} by now, which is not the {made} that this layout made; it is left as it is.")
