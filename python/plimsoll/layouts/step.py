"""What a plan consists of: steps with commands, and the volumes that one layer hands to the next.

Model: a step makes one thing and has all that is needed to find it again and to take it away: ``made`` says how that is done (see
`plimsoll.layouts.kinds`), ``facts`` holds names and the identity that the plan gave it, so they can be noted before the step begins.

    Step("file system", "make the file system xfs on /dev/sdb", "…", (Command(("mkfs.xfs", "/dev/sdb")),), {"device": "/dev/sdb", …})
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import field, replace
from typing import Any

from plimsoll.records import dataclass

Facts = Mapping[str, Any]


@dataclass(frozen=True)
class Command:
    """A program with its arguments."""

    words: tuple[str, ...]
    #: What it reads from its standard input.
    text: str = ""
    #: Whether its failure says nothing.
    tolerated: bool = False
    #: How long it is repeated while what it takes away is in use: what looks at new devices and files does so for a moment.
    patience_s: float = 0.0

    def __str__(self) -> str:
        shown = f"{shlex.join(self.words)}{' || true' if self.tolerated else ''}"
        return f"{shown} <<'END'\n{self.text.rstrip()}\nEND" if self.text else shown


@dataclass(frozen=True)
class Write:
    """A text written into a file: a setting of the kernel, or a mark of ours."""

    path: str
    text: str

    def __str__(self) -> str:
        return f"echo {shlex.quote(self.text)} > {shlex.quote(self.path)}"


@dataclass(frozen=True)
class Await:
    """A path that has to be there before the next command; the kernel and udev make it."""

    path: str

    def __str__(self) -> str:
        return f"# wait for {self.path}"


Action = Command | Write | Await


@dataclass(frozen=True)
class Step:
    """One thing that is made: what and why for people, how, and what finds it again."""

    made: str
    what: str
    why: str
    commands: tuple[Action, ...]
    facts: Facts = field(default_factory=dict)


@dataclass(frozen=True)
class Stripe:
    """How data are spread over the disks below: ``unit_bytes`` on each of ``width`` disks that hold data."""

    unit_bytes: int
    width: int

    @property
    def full_bytes(self) -> int:
        """A full stripe."""
        return self.unit_bytes * self.width


@dataclass(frozen=True)
class Volume:
    """A device that a layer takes or gives; ``size_bytes`` is None where only whoever makes it will know."""

    path: str
    name: str
    size_bytes: int | None = None
    stripe: Stripe | None = None

    def striped(self, stripe: Stripe | None) -> Volume:
        """The same with what is known of its stripes."""
        return replace(self, stripe=stripe)


@dataclass(frozen=True)
class Member:
    """A device that the layout is made of, as it was found. ``settings`` are its files in ``queue/`` of sysfs, by name."""

    path: str
    name: str
    size_bytes: int
    identity: tuple[str, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Named:
    """What the parts of a layout are called: ``name`` for people, ``id`` a UUID from which the identity of each part follows."""

    name: str
    id: str

    def uuid(self, part: str) -> str:
        """The UUID of a part, the same for each plan of this layout."""
        # Imported where it is needed: few commands make a layout.
        import uuid

        return str(uuid.uuid5(uuid.UUID(self.id), part))

    @property
    def ours(self) -> str:
        """The name of volume groups, arrays and mappings: it says whose they are."""
        return f"plimsoll-{self.name}"
