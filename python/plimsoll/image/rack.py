"""Machines of a rack that measure together: which of them this is, how it reaches the others, and their names for ``plimsoll --hosts``.

Model: ``plimsoll.hosts`` names all of them in one order, the same on each; a machine finds itself by its addresses, and the first commands.
All have one key, the file ``rack`` beside plimsoll.conf. It is what each sshd answers with, and what alone is let in: who has not got it
can neither command a machine nor pass for one. Calls of the gang go through ssh, so nothing else listens.
Limits: who holds the key is root on all of the rack, so it belongs to the rack and to nothing else.

    rack = rack_of(settings.hosts, own_addresses, "/run/plimsoll/secret")
    rack.leads
    rack.lab(["/dev/disk/by-id/…", …])        # the text of a lab's file
    rack.over_ssh("10.0.0.12", "cat", rack.offer)
"""

from __future__ import annotations

import json
import os
import shlex
import socket
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass

from plimsoll.errors import InputError
from plimsoll.image.settings import SERIAL, Settings, serials

#: The file of the key on the stick, and its name in memory.
KEY = "rack"
#: Nothing is asked, nobody is accepted, no key but the rack's is tried.
_OPTIONS = (
    "BatchMode=yes", "StrictHostKeyChecking=yes", "GlobalKnownHostsFile=/dev/null", "IdentitiesOnly=yes", "UpdateHostKeys=no",
    "ConnectTimeout=10", "ServerAliveInterval=5", "ServerAliveCountMax=3", "LogLevel=ERROR",
)  # fmt: skip
_USER = "root"
NO_KEY = (
    f"plimsoll.hosts: there is no private key without passphrase in the file {KEY} beside plimsoll.conf; make one for all machines of the"
    f" rack: ssh-keygen -t ed25519 -N '' -f {KEY}."
)


@dataclass(frozen=True)
class Rack:
    """``hosts`` in their order, this machine the one at ``rank``; ``folder`` holds the key and what machines tell each other."""

    hosts: tuple[str, ...]
    rank: int
    folder: str
    share: str | None = None

    @property
    def leads(self) -> bool:
        """Whether this machine commands."""
        return self.rank == 0

    @property
    def leader(self) -> str:
        """The machine that commands."""
        return self.hosts[0]

    @property
    def others(self) -> tuple[str, ...]:
        """All but this machine."""
        return tuple(host for rank, host in enumerate(self.hosts) if rank != self.rank)

    @property
    def key(self) -> str:
        """The file of the private key."""
        return os.path.join(self.folder, KEY)

    @property
    def known_hosts(self) -> str:
        """The file of the one key that machines of the rack answer with."""
        return os.path.join(self.folder, f"{KEY}-known-hosts")

    @property
    def offer(self) -> str:
        """Where a machine says what it has to measure, or why nothing."""
        return os.path.join(self.folder, f"{KEY}-offer.json")

    @property
    def over(self) -> str:
        """The file that tells a machine that the measurement is over."""
        return os.path.join(self.folder, f"{KEY}-over")

    @property
    def targets(self) -> list[str]:
        """What follows ``--target`` in the command that measures on all of them."""
        words = ["{target}", "--hosts", os.path.join(self.folder, f"{KEY}.toml")]
        return [*words, *(["--share", self.share] if self.share is not None else [])]

    def own(self, target: str) -> str:
        """What ``plimsoll.target`` means on this machine: its own of several, or the one that all of them reach."""
        named = serials(target)
        return f"{SERIAL}{named[self.rank if len(named) > 1 else 0]}" if target.startswith(SERIAL) else target

    def lab(self, paths: Sequence[str]) -> str:
        """The file of the lab, of the path of each machine's disk."""
        common = {"carrier": "ssh", "user": _USER, "key": self.key, "known_hosts": self.known_hosts}
        lines = [f"{name} = {json.dumps(value)}" for name, value in common.items()]
        for host, path in zip(self.hosts, paths, strict=True):
            lines += ["", "[[host]]", f"name = {json.dumps(host)}", f"target = {json.dumps(path)}"]
        return "\n".join(lines) + "\n"

    def over_ssh(self, host: str, *command: str) -> list[str]:
        """The words that carry a command out on a machine of the rack."""
        return ["ssh", *self._trust(), "-l", _USER, "--", host, shlex.join(command)]

    def copied(self, folder: str, host: str, there: str) -> list[str]:
        """The words that copy a directory to a machine of the rack."""
        return ["scp", "-q", "-r", *self._trust(), "--", folder, f"{_USER}@{host}:{there}"]

    def _trust(self) -> list[str]:
        options = (*_OPTIONS, f"UserKnownHostsFile={self.known_hosts}")
        return ["-i", self.key, *(word for option in options for word in ("-o", option))]


def rack_of(settings: Settings, own: Collection[str], folder: str, resolve: Callable[[str], Collection[str]] | None = None) -> Rack:
    """The rack in which this machine has the addresses and names ``own``; raises `InputError` where it is none or two of those named."""
    resolve = resolve or addresses_of
    ranks = [rank for rank, host in enumerate(settings.hosts) if host in own or not set(resolve(host)).isdisjoint(own)]
    known = ", ".join(sorted(own)) or "no network address"
    if not ranks:
        raise InputError(f"plimsoll.hosts: this machine ({known}) is none of {', '.join(settings.hosts)}; it measures nothing.")
    if len(ranks) > 1:
        named = " and ".join(settings.hosts[rank] for rank in ranks)
        raise InputError(f"plimsoll.hosts: {named} are both this machine ({known}); name each machine once.")
    return Rack(settings.hosts, ranks[0], folder, settings.share)


def admitted(public: str) -> str:
    """The line by which sshd lets the rack's key in: to run commands, and for nothing else."""
    return f"restrict {public}\n"


def sshd(key: str, folder: str) -> str:
    """What sshd is told beside its usual: the key that it answers with, and that workers store in ``folder`` until it was collected."""
    return f"HostKey {key}\nSetEnv XDG_STATE_HOME={folder}/state\n"


def addresses_of(name: str) -> set[str]:
    """What a name stands for; nothing where nobody knows it."""
    with suppress(OSError):
        return {str(found[4][0]) for found in socket.getaddrinfo(name, None, proto=socket.IPPROTO_TCP)}
    return set()
