"""Which hosts measure, as it was asked for: read once, when a run is planned.

Model: ``local:N`` are N workers on this machine, a trial; other words with commas between them are hosts that are reached over ssh, each
``[USER@]NAME[:PORT]``. A lab's file (`plimsoll.lab`) says more of each. How hosts share a target that several of them reach is
said beside them.

    lineup_of("local:3").names            # ("local1", "local2", "local3")
    lineup_of("db1,bench@db2").names      # ("db1", "db2")
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from plimsoll.displayed import quoted
from plimsoll.errors import InputError
from plimsoll.gang.cluster import Cluster
from plimsoll.gang.share import target_of
from plimsoll.gang.ssh import Seat

HOSTS_MAX = 64
#: In a target: what the lab's file names for the host.
TARGET = "{target}"
#: "cluster": the Ray cluster that runs already.
Carrier = Literal["ray", "ssh", "cluster"]
LauncherName = Literal["local", "ssh", "slurm", "kubernetes", "ray"]
_LOCAL = re.compile(r"local:(\d+)\Z")
_HOST = re.compile(r"(?:([A-Za-z0-9_][A-Za-z0-9_.-]*)@)?([A-Za-z0-9][A-Za-z0-9_.-]*)(?::(\d+))?\Z")
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,62}\Z")


@dataclass(frozen=True)
class Lineup:
    """The hosts by their names; ``same_machine`` says that a path is the same file on all of them.

    ``seats`` are where hosts that are elsewhere are reached; ``targets`` what a lab's file names for them; ``head`` the address of this
    machine that they reach, where ssh does not tell; ``identity`` is what makes it the same line-up for a run that is resumed.
    ``share`` is how they share a target that several of them reach (`plimsoll.gang.shared_target`), None where nobody says it.
    """

    text: str
    names: tuple[str, ...]
    same_machine: bool
    seats: tuple[Seat, ...] = ()
    launcher: LauncherName = "ssh"
    carrier: Carrier = "ray"
    targets: Mapping[str, str] = field(default_factory=dict)
    head: str | None = None
    identity: str = ""
    share: str | None = None
    #: The cluster whose nodes the hosts are, with launcher "ray"; without seats all its nodes are meant.
    cluster: Cluster | None = None
    #: How hosts that the file does not name are reached, and what they load.
    usual: Seat | None = None
    usual_target: str | None = None
    #: That of pods which a manifest makes.
    image: str | None = None

    def target_of(self, text: str, host: str) -> str:
        """The target of one host."""
        return target_of(text, host).replace(TARGET, self.targets.get(host, TARGET))


def lineup_of(text: str, share: str | None = None) -> Lineup:
    """The hosts that ``--hosts`` names, and what ``--share`` says; raises `InputError` where it names none."""
    text = text.strip()
    if (found := _LOCAL.match(text)) is None:
        return _remote(text, share)
    count = int(found.group(1))
    if not 1 <= count <= HOSTS_MAX:
        raise InputError(f"--hosts {text}: {count} workers cannot be; write local:1 to local:{HOSTS_MAX}.")
    return Lineup(text, tuple(f"local{number}" for number in range(1, count + 1)), same_machine=True, launcher="local", share=share)


def _remote(text: str, share: str | None) -> Lineup:
    seats = []
    for word in text.split(","):
        found = _HOST.match(word.strip())
        if found is None or word.strip() == "local":
            wrong = f"{quoted(word)} names no host that can be reached" if text else "no host is named"
            raise InputError(
                f"--hosts {text or quoted(text)}: {wrong}; write db1,db2,db3 for hosts over ssh, local:3 for three workers on this "
                "machine, or the path of a lab's file that ends in .toml."
            )
        user, name, port = found.groups()
        seats.append(Seat(name, user=user, port=int(port) if port else None))
    names = tuple(seat.name for seat in seats)
    check_names(names, f"--hosts {text}")
    return Lineup(text, names, same_machine=False, seats=tuple(seats), share=share)


def check_names(names: tuple[str, ...], where: str) -> None:
    """Raises `InputError` for too many, or for two that are one."""
    if len(names) > HOSTS_MAX:
        raise InputError(f"{where}: {len(names)} hosts are too many; name at most {HOSTS_MAX}.")
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"{where}: {name} is named twice; name each host once.")
